// What the papers claim (experiments/PAPER/claims.json), the rules by which a result is judged
// (library.json), and why a claim does not come out (experiments/PAPER/causes.json). library.h reads all of
// them.
#ifndef WEFT_STUDY_JUDGE_CLAIMS_H
#define WEFT_STUDY_JUDGE_CLAIMS_H

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "study/plan/place.h"

namespace weft::study {

// Which rule judges a claim; experiments/VERDICTS.md has them.
enum class ClaimType {
  kRatio,
  kChange,
  kShare,
  kCount,
  kAmount,
  kMaximum,
  kMinimum,
  kBound,
  kRange,
  kOrder,
  kBest,
  kSeries
};

const char* name_of(ClaimType type);

struct Claim {
  std::string id, paper, place;
  ClaimType type = ClaimType::kRatio;
  ClaimType of = ClaimType::kRatio;  // maximum, minimum, series: the type of the single value
  std::string relation;              // bound: "below", "at most", "at least"
  std::string program;               // that the paper names; may be empty
  std::string as_printed, statement, note;

  // What is printed, by type.
  double number = 0;                                       // one value
  double low = 0, high = 0;                                // range
  std::vector<std::pair<std::string, std::string>> above;  // order: the first is above the second
  std::vector<std::string> best;                           // best: any of these
  std::map<std::string, double> series;                    // series
};

// The numbers in the rules.
struct Rules {
  double third = 0;         // of an effect or share
  double small_effect = 0;  // below it only the sign counts
  double least_effect = 0;  // below it there is no trend
  double share_points = 0, count = 0, count_trend = 0;
  double near_best = 0;
  double series = 0, series_rank = 0;
};

struct Claims {
  std::map<std::string, std::string> papers;
  Rules rules;
  std::vector<Claim> list;

  const Claim* find(const std::string& id) const;  // null: there is none
};

// The key `rules` of library.json. Throws InputError: where, what was found, what is allowed.
Rules read_rules(const Place& place);
// Adds the claims of a paper. No file: the paper has no claims. Throws InputError.
void read_claims(const std::string& file, const std::string& paper, Claims& claims);

struct Cause {
  std::string cause;    // "mechanism", "machine" or "program"
  std::string text;     // in words
  std::string counter;  // that shows it
  std::string run;      // the command in which the cause is removed, and the effect with it
};

// By the ID of the claim.
using Causes = std::map<std::string, Cause>;
// The causes of a paper. No file: there are none. Throws InputError, also for what is no claim of the paper.
Causes read_causes(const std::string& file, const std::string& paper, const Claims& claims);

}  // namespace weft::study

#endif
