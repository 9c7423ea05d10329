#include "study/page/spread.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <string>

#include "study/page/experiment_tables.h"
#include "workloads/workload.h"

namespace weft::study {
namespace {

constexpr int kSpreadDigits = 3;

struct Spread {
  double least = 0, mean = 0, most = 0, deviation = 0;  // of a sample: over n - 1
};

// Of two numbers or more.
Spread spread_of(const std::vector<double>& numbers) {
  const auto count = static_cast<double>(numbers.size());
  Spread spread;
  spread.least = *std::min_element(numbers.begin(), numbers.end());
  spread.most = *std::max_element(numbers.begin(), numbers.end());
  spread.mean = std::accumulate(numbers.begin(), numbers.end(), 0.0) / count;
  double squares = 0;
  for (const double one : numbers) squares += (one - spread.mean) * (one - spread.mean);
  spread.deviation = std::sqrt(squares / (count - 1));
  return spread;
}

// "reproduced 4, same trend 1"; in the order of the rules.
std::string verdicts_in_words(const std::vector<const ClaimResult*>& results) {
  std::map<Verdict, int> count;
  for (const ClaimResult* result : results) {
    if (result->verdict) ++count[*result->verdict];
  }
  std::string text;
  for (const auto& [verdict, times] : count)
    text.append(text.empty() ? "" : ", ").append(name_of(verdict)).append(" ").append(std::to_string(times));
  return text.empty() ? "-" : text;
}

std::string programs_without(const Experiment& experiment) {
  std::string text;
  for (const ExperimentProgram& program : experiment.programs) {
    if (program.is_own() || !workloads::has_seed(*workloads::find(program.workload)))
      text.append(text.empty() ? "" : ", ").append(program.abbr);
  }
  return text;
}

}  // namespace

Section spread_section(const Reported& reported) {
  Section section;
  section.title = "Spread over the inputs";
  const std::string without = programs_without(reported.experiment);
  section.paragraphs.push_back(
      "The headline with the inputs of the sizes and those that " + std::to_string(reported.seeds.size()) +
      " other seeds give" +
      (without.empty() ? "." : ". Inputs that are not generated stay the same: " + without + "."));
  section.table.headings = {"claim", "printed", "as the sizes have it", "least",
                            "mean",  "most",    "standard deviation",   "verdicts"};
  for (std::size_t i = 0; i < reported.experiment.headline.size(); ++i) {
    const auto own = std::find_if(
        reported.claims.begin(), reported.claims.end(),
        [&](const ClaimResult& claim) { return claim.claim->id == reported.experiment.headline[i]; });
    std::vector<double> numbers;
    // The verdict before what the paper does not print was looked at, as under the other seeds.
    ClaimResult plain = *own;
    plain.verdict = own->plain;
    std::vector<const ClaimResult*> results{&plain};
    for (const SeedResult& seed : reported.seeds) results.push_back(&seed.claims[i]);
    for (const ClaimResult* result : results) {
      if (result->finding) numbers.push_back(result->finding->number);
    }
    std::vector<std::string> row{"`" + own->claim->id + "`", printed(*own->claim),
                                 shown(*own->claim, own->finding)};
    if (numbers.size() == results.size()) {
      const Spread spread = spread_of(numbers);
      for (const double number : {spread.least, spread.mean, spread.most, spread.deviation})
        row.push_back(cell_of(number, kSpreadDigits));
    } else {
      row.insert(row.end(), 4, "-");  // a run is missing
    }
    row.push_back(verdicts_in_words(results));
    section.table.rows.push_back(std::move(row));
  }
  return section;
}

}  // namespace weft::study
