// The models of arrays against CACTI's runs: the coefficients are what the fit gives, and those runs that
// were held out of it are met.
#include "area/array_fit.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "folder.h"
#include "weft/common/error.h"

namespace weft::area {
namespace array_fit_test {

const std::vector<Sample>& grid() {
  static const std::vector<Sample> kGrid = read_grid(WEFT_CACTI_GRID);
  return kGrid;
}

void expect_same(const std::vector<double>& a, const std::vector<double>& b, const std::string& what) {
  ASSERT_EQ(a.size(), b.size()) << what;
  for (std::size_t i = 0; i < a.size(); ++i)
    EXPECT_NEAR(a[i], b[i], 1e-6 * std::abs(b[i]) + 1e-15) << what << ", coefficient " << i;
}

TEST(ArrayFit, CoefficientsAreWhatTheFitGives) {
  const ArrayModel fitted = fit(grid());
  const ArrayModel& kept = fitted_arrays();
  for (const Form form : kForms) {
    const std::string name = "form " + std::to_string(static_cast<unsigned>(form));
    expect_same(kept.of(form).area, fitted.of(form).area, name + " area");
    expect_same(kept.of(form).time, fitted.of(form).time, name + " time");
    for (std::size_t n = 0; n < kNodes.size(); ++n)
      EXPECT_NEAR(kept.of(form).time_scale[n], fitted.of(form).time_scale[n], 1e-6) << name;
  }
  expect_same(kept.bank_area, fitted.bank_area, "banks");
  for (std::size_t n = 0; n < kNodes.size(); ++n) EXPECT_NEAR(kept.switches[n], fitted.switches[n], 1e-6);
}

TEST(ArrayFit, NoCoefficientIsNegative) {
  for (const Form form : kForms) {
    EXPECT_THAT(fitted_arrays().of(form).area, testing::Each(testing::Ge(0)));
    EXPECT_THAT(fitted_arrays().of(form).time, testing::Each(testing::Ge(0)));
  }
  EXPECT_THAT(fitted_arrays().bank_area, testing::Each(testing::Ge(0)));
}

TEST(ArrayFit, GridHasEnoughRunsOnBothSides) {
  for (const Form form : kForms) {
    const auto of = [&](Half half) { return errors(fitted_arrays(), grid(), form, half, Of::kArea).samples; };
    EXPECT_GE(of(Half::kFitted), 40u);
    EXPECT_GE(of(Half::kHeldOut), 40u);
    EXPECT_GE(of(Half::kBetweenNodes), 20u);
  }
  EXPECT_GE(grid().size(), 200u);
}

// Every form by itself, at CACTI's own nodes and at 40 nm, which no fit has seen.
TEST(ArrayFit, AreasOfRunsThatWereHeldOut) {
  for (const Form form : kForms) {
    for (const Half half : {Half::kHeldOut, Half::kBetweenNodes}) {
      const Errors e = errors(fitted_arrays(), grid(), form, half, Of::kArea);
      EXPECT_LE(e.median, 0.10) << "form " << static_cast<unsigned>(form);
      EXPECT_LE(e.largest, 0.25) << "form " << static_cast<unsigned>(form);
    }
  }
}

TEST(ArrayFit, AccessTimesOfRunsThatWereHeldOut) {
  for (const Form form : kForms) {
    if (form == Form::kCrossbar) continue;
    for (const Half half : {Half::kHeldOut, Half::kBetweenNodes}) {
      const Errors e = errors(fitted_arrays(), grid(), form, half, Of::kTime);
      EXPECT_LE(e.median, 0.10) << "form " << static_cast<unsigned>(form);
      EXPECT_LE(e.largest, 0.36) << "form " << static_cast<unsigned>(form);
    }
  }
}

std::string message(const std::string& content) {
  const test::Folder folder;
  try {
    read_grid(folder.write("grid.csv", "header\n" + content));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(ArrayFit, MistakesInTheGrid) {
  using testing::HasSubstr;
  const std::string good = "sram,45,64,32,1,0,1,0,0,1,fit,1,1,1,1,1,0,0,0,0,0,1,1\n";
  EXPECT_EQ(message(good), "");
  EXPECT_THAT(message("sram,45\n"), HasSubstr("grid.csv:2: found 2 columns; allowed: 23"));
  EXPECT_THAT(message(good + "dram" + good.substr(4)),
              HasSubstr("grid.csv:3: found kind \"dram\"; allowed: sram, sets, cam, crossbar"));
  EXPECT_THAT(message("sram,4x5" + good.substr(7)), HasSubstr("column 2: found \"4x5\"; allowed: a number"));
  EXPECT_THAT(message("sram,45,64,32,1,0,1,0,0,1,some,1,1,1,1,1,0,0,0,0,0,1,1\n"),
              HasSubstr("found half \"some\"; allowed: fit and test"));
  EXPECT_THAT(message(""), HasSubstr("has no runs"));
  EXPECT_THROW(read_grid("no such file"), InputError);
}

}  // namespace array_fit_test
}  // namespace weft::area
