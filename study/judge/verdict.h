// How a result stands beside what a paper claims.
#ifndef WEFT_STUDY_JUDGE_VERDICT_H
#define WEFT_STUDY_JUDGE_VERDICT_H

#include <map>
#include <string>
#include <vector>

#include "study/judge/claims.h"

namespace weft::study {

enum class Verdict { kReproduced, kSameTrend, kNot, kDependsOnUnprinted };
const char* name_of(Verdict verdict);

// What came out: one number, for an extreme with its program; for an order, a best or a series, a number by
// name, with all names that the claim has.
struct Finding {
  double number = 0;
  std::string program;
  std::map<std::string, double> values;
};

// Spearman's: of the ranks, which equal values share. 0 if one of the two is all equal. Both have as many.
double rank_correlation(const std::vector<double>& a, const std::vector<double>& b);

// A condition of a rule with its numbers: "effects +0.119 and +0.1 (printed) differ by 0.019; ...".
struct Condition {
  Verdict of = Verdict::kReproduced;  // for which it is a condition
  std::string text;
  bool holds = false;
};
struct Ruling {
  Verdict verdict = Verdict::kNot;
  std::vector<Condition> conditions;  // that were looked at
};

// By the rules of the claim's type (experiments/VERDICTS.md). Throws std::out_of_range if a name is missing.
Ruling ruling(const Claim& claim, const Rules& rules, const Finding& finding);
Verdict judge(const Claim& claim, const Rules& rules, const Finding& finding);

}  // namespace weft::study

#endif
