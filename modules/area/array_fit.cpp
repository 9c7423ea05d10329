#include "area/array_fit.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "weft/common/error.h"

namespace weft::area {
namespace {

using storage::Kind;

// Columns of grid.csv.
enum Column {
  kKindName,
  kNode,
  kEntries,
  kBits,
  kWays,
  kTagBits,
  kReadWrite,
  kRead,
  kWrite,
  kBanks,
  kHalf,
  kDataArea,
  kDataTime,
  kDataReadEnergy,
  kDataWriteEnergy,
  kDataLeakage,
  kTagArea,
  kTagTime,
  kTagReadEnergy,
  kTagWriteEnergy,
  kTagLeakage,
  kArea,
  kTime,
  kColumns
};

class Line {
 public:
  Line(std::string where, const std::string& text) : where_(std::move(where)) {
    std::stringstream stream(text);
    for (std::string field; std::getline(stream, field, ',');) fields_.push_back(field);
    if (fields_.size() != kColumns) {
      throw InputError(where_, "found " + std::to_string(fields_.size()) +
                                   " columns; allowed: " + std::to_string(kColumns));
    }
  }
  const std::string& text(Column column) const { return fields_[column]; }
  double number(Column column) const {
    const std::string& text = fields_[column];
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    if (text.empty() || *end != '\0' || !std::isfinite(value) || value < 0) {
      throw InputError(where_ + ", column " + std::to_string(column + 1),
                       "found \"" + text + "\"; allowed: a number of at least 0");
    }
    return value;
  }
  Sample sample(Kind kind) const {
    Sample sample;
    sample.shape = {
        kind,          number(kEntries), number(kBits), std::max(1.0, number(kWays)), number(kReadWrite),
        number(kRead), number(kWrite),   number(kBanks)};
    sample.node_nm = number(kNode);
    if (text(kHalf) != "fit" && text(kHalf) != "test")
      throw InputError(where_, "found half \"" + text(kHalf) + "\"; allowed: fit and test");
    sample.fit = text(kHalf) == "fit";
    sample.area_mm2 = number(kArea);
    sample.access_ns = number(kTime);
    return sample;
  }
  void samples(std::vector<Sample>& into) const {
    const std::string& kind = text(kKindName);
    if (kind == "sram") {
      into.push_back(sample(Kind::kRam));
    } else if (kind == "crossbar") {
      into.push_back(sample(Kind::kCrossbar));
    } else if (kind == "cam") {
      into.push_back(tags(Kind::kCam));
    } else if (kind == "sets") {
      Sample data = sample(Kind::kRam);
      data.area_mm2 = number(kDataArea);
      data.access_ns = number(kDataTime);
      into.push_back(data);
      into.push_back(tags(Kind::kTags));
    } else {
      throw InputError(where_, "found kind \"" + kind + "\"; allowed: sram, sets, cam, crossbar");
    }
  }

 private:
  Sample tags(Kind kind) const {
    Sample tags = sample(kind);
    tags.shape.bits = number(kTagBits);
    tags.area_mm2 = number(kTagArea);
    tags.access_ns = number(kTagTime);
    return tags;
  }

  std::string where_;
  std::vector<std::string> fields_;
};

bool at_own_node(const Sample& sample) {
  return std::find(kNodes.begin(), kNodes.end(), sample.node_nm) != kNodes.end();
}

// Coefficients x >= 0 with the least sum of weight * (row . x - 1)^2: each row is divided by what it should
// sum up to, so errors are relative. One coefficient after the other takes its best value until none moves.
std::vector<double> non_negative_least_squares(const std::vector<Terms>& rows,
                                               const std::vector<double>& weights) {
  const std::size_t n = rows.front().size();
  std::vector<double> x(n, 0), target(n, 0);
  std::vector<Terms> products(n, Terms(n, 0));
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::size_t i = 0; i < n; ++i) {
      target[i] += weights[r] * rows[r][i];
      for (std::size_t j = 0; j < n; ++j) products[i][j] += weights[r] * rows[r][i] * rows[r][j];
    }
  }
  constexpr unsigned kMostRounds = 200'000;
  constexpr double kSmallStep = 1e-13;
  for (unsigned round = 0; round < kMostRounds; ++round) {
    double largest_step = 0;
    for (std::size_t i = 0; i < n; ++i) {
      if (products[i][i] <= 0) continue;
      double slope = target[i];
      for (std::size_t j = 0; j < n; ++j) slope -= products[i][j] * x[j];
      const double best = std::max(0.0, x[i] + slope / products[i][i]);
      largest_step = std::max(largest_step, std::abs(best - x[i]) * std::sqrt(products[i][i]));
      x[i] = best;
    }
    if (largest_step < kSmallStep) break;
  }
  return x;
}

// A few rounds in which samples that are far off weigh more, so that the largest error falls too.
std::vector<double> fit_rows(const std::vector<Terms>& rows) {
  if (rows.empty()) throw InputError("grid", "has no runs to fit for a kind of array");
  std::vector<double> weights(rows.size(), 1);
  std::vector<double> x;
  constexpr unsigned kRounds = 6;
  for (unsigned round = 0; round <= kRounds; ++round) {
    x = non_negative_least_squares(rows, weights);
    for (std::size_t r = 0; r < rows.size(); ++r) weights[r] *= 1 + 3 * std::abs(sum(rows[r], x) - 1);
  }
  return x;
}

Terms divided(Terms terms, double by) {
  for (double& term : terms) term /= by;
  return terms;
}

std::vector<double> fit_area(const std::vector<const Sample*>& samples) {
  std::vector<Terms> rows;
  for (const Sample* s : samples) {
    if (s->shape.banks == 1)
      rows.push_back(divided(area_terms(s->shape), s->area_mm2 / feature_mm2(s->node_nm)));
  }
  return fit_rows(rows);
}

std::vector<double> fit_banks(const std::vector<const Sample*>& samples, const KindModel& bank) {
  std::vector<Terms> rows;
  for (const Sample* s : samples) {
    if (s->shape.banks == 1) continue;
    rows.push_back(divided(bank_terms(s->shape, sum(area_terms(s->shape), bank.area)),
                           s->area_mm2 / feature_mm2(s->node_nm)));
  }
  return fit_rows(rows);
}

// In turns: the coefficients for given factors of the nodes, and the factors for given coefficients.
void fit_time(const std::vector<const Sample*>& samples, KindModel& model) {
  model.time_scale = {0.7, 1, 1.7, 2.5};
  constexpr unsigned kRounds = 20;
  for (unsigned round = 0; round < kRounds; ++round) {
    std::vector<Terms> rows;
    rows.reserve(samples.size());
    for (const Sample* s : samples)
      rows.push_back(divided(time_terms(s->shape), s->access_ns / time_factor(model, s->node_nm)));
    model.time = fit_rows(rows);
    ByNode total{};
    ByNode count{};
    for (const Sample* s : samples) {
      const auto n = std::find(kNodes.begin(), kNodes.end(), s->node_nm) - kNodes.begin();
      total[n] += s->access_ns / sum(time_terms(s->shape), model.time);
      count[n] += 1;
    }
    for (std::size_t n = 0; n < kNodes.size(); ++n) model.time_scale[n] = total[n] / count[n];
    const double unit = model.time_scale[1];
    for (double& scale : model.time_scale) scale /= unit;
    for (double& coefficient : model.time) coefficient *= unit;
  }
}

// Switches of the crossbars that are not as wide as their wires: a mean for each node.
void fit_crossbars(const std::vector<const Sample*>& samples, ArrayModel& model) {
  ByNode total{};
  ByNode count{};
  for (const Sample* s : samples) {
    const double area = s->area_mm2 / feature_mm2(s->node_nm);
    constexpr double kWires = 1.001;
    if (area < kWires * crossbar_wires(s->shape)) continue;
    const auto n = std::find(kNodes.begin(), kNodes.end(), s->node_nm) - kNodes.begin();
    total[n] += area / area_terms(s->shape).front();
    count[n] += 1;
  }
  for (std::size_t n = 0; n < kNodes.size(); ++n) model.switches[n] = total[n] / count[n];
  const double unit = model.switches[1];
  model.of(Form::kCrossbar).area = {unit};
  for (double& node : model.switches) node /= unit;
}

}  // namespace

std::vector<Sample> read_grid(const std::string& file) {
  std::ifstream in(file);
  if (!in) throw InputError(file, "cannot be read");
  std::vector<Sample> samples;
  std::string text;
  for (unsigned line = 1; std::getline(in, text); ++line) {
    if (line > 1) Line(file + ":" + std::to_string(line), text).samples(samples);
  }
  if (samples.empty()) throw InputError(file, "has no runs");
  return samples;
}

ArrayModel fit(const std::vector<Sample>& samples) {
  ArrayModel model;
  for (const Form form : kForms) {
    std::vector<const Sample*> of_form;
    for (const Sample& s : samples) {
      if (s.fit && form_of(s.shape) == form && at_own_node(s)) of_form.push_back(&s);
    }
    if (form == Form::kCrossbar) {
      fit_crossbars(of_form, model);
      continue;
    }
    KindModel& fitted = model.of(form);
    fitted.area = fit_area(of_form);
    if (form == Form::kRam) model.bank_area = fit_banks(of_form, fitted);
    fit_time(of_form, fitted);
  }
  return model;
}

Errors errors(const ArrayModel& model, const std::vector<Sample>& samples, Form form, Half half, Of what) {
  std::vector<double> off;
  for (const Sample& s : samples) {
    const Half of = !at_own_node(s) ? Half::kBetweenNodes : s.fit ? Half::kFitted : Half::kHeldOut;
    if (form_of(s.shape) != form || of != half) continue;
    const double found = what == Of::kArea ? area_mm2(model, s.shape, s.node_nm) / s.area_mm2
                                           : access_ns(model, s.shape, s.node_nm) / s.access_ns;
    off.push_back(std::abs(found - 1));
  }
  if (off.empty()) return {};
  std::sort(off.begin(), off.end());
  return {off.size(), off[off.size() / 2], off[off.size() * 9 / 10], off.back()};
}

}  // namespace weft::area
