// Prints the coefficients of the arrays' models, fitted to a grid of CACTI runs, as array_coefficients.cpp,
// and to the error stream how well they fit.
//
//   fit_arrays cacti/grid.csv > array_coefficients.cpp
#include <array>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "area/array_fit.h"

namespace {

using weft::area::ArrayModel;
using weft::area::Sample;

constexpr std::array<const char*, weft::area::kForms.size()> kNames = {"kRam", "kSets", "kTags", "kCam",
                                                                       "kCrossbar"};
const char* name_of(weft::area::Form form) {
  return kNames[static_cast<std::size_t>(form)];
}

template <class Values>
void print(const std::string& name, const Values& values) {
  std::printf("    %s = {", name.c_str());
  const char* separator = "";
  for (const double value : values) {
    std::printf("%s%.12g", separator, value);
    separator = ", ";
  }
  std::printf("};\n");
}

void print(const ArrayModel& model) {
  std::printf(
      "// Made by fit_arrays of cacti/grid.csv; a test repeats it.\n"
      "#include \"area/array_model.h\"\n\n"
      "namespace weft::area {\n\n"
      "const ArrayModel& fitted_arrays() {\n"
      "  static const ArrayModel kModel = [] {\n"
      "    ArrayModel model;\n");
  for (const auto form : weft::area::kForms) {
    const std::string name = std::string("model.of(Form::") + name_of(form) + ")";
    const auto& fitted = model.of(form);
    print(name + ".area", fitted.area);
    if (fitted.time.empty()) continue;
    print(name + ".time", fitted.time);
    print(name + ".time_scale", fitted.time_scale);
  }
  print("model.bank_area", model.bank_area);
  print("model.switches", model.switches);
  std::printf(
      "    return model;\n"
      "  }();\n"
      "  return kModel;\n"
      "}\n\n"
      "}  // namespace weft::area\n");
}

void print_errors(const ArrayModel& model, const std::vector<Sample>& samples) {
  using weft::area::Form;
  using weft::area::Half;
  using weft::area::Of;
  constexpr std::array<const char*, 3> kHalves = {"fitted", "held out", "40 nm"};
  for (const Of what : {Of::kArea, Of::kTime}) {
    for (const Form form : weft::area::kForms) {
      if (what == Of::kTime && form == Form::kCrossbar) continue;
      for (const Half half : {Half::kFitted, Half::kHeldOut, Half::kBetweenNodes}) {
        const auto e = weft::area::errors(model, samples, form, half, what);
        std::fprintf(stderr,
                     "%-11s %-9s %-8s %4zu arrays: median %4.1f %%, 90 %% below %4.1f %%, largest %4.1f %%\n",
                     what == Of::kArea ? "area" : "access time", name_of(form),
                     kHalves[static_cast<std::size_t>(half)], e.samples, 100 * e.median, 100 * e.ninth_decile,
                     100 * e.largest);
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 2) {
      std::cerr << "usage: fit_arrays GRID.csv > array_coefficients.cpp\n";
      return 2;
    }
    const std::vector<Sample> samples = weft::area::read_grid(argv[1]);
    const ArrayModel model = weft::area::fit(samples);
    print(model);
    print_errors(model, samples);
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 2;
  }
}
