#include "study/judge/verdict.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace weft::study {
namespace {

// Printed numbers are decimal and their binary images are not: at a border the benefit of the doubt.
constexpr double kRounding = 1e-9;

bool within(double difference, double allowed) {
  return std::abs(difference) <= allowed + kRounding;
}

Verdict grade(bool reproduced, bool trend) {
  return reproduced ? Verdict::kReproduced : trend ? Verdict::kSameTrend : Verdict::kNot;
}

Verdict judge_effect(double printed, double ours, const Rules& rules) {
  const bool same_sign = (printed > 0 && ours > 0) || (printed < 0 && ours < 0);
  const bool trend = same_sign && std::abs(ours) >= rules.least_effect - kRounding;
  const bool small = std::abs(printed) < rules.small_effect - kRounding;
  if (small) return grade(same_sign || std::abs(ours) < rules.small_effect - kRounding, false);
  return grade(within(ours - printed, rules.third * std::abs(printed)), trend);
}

Verdict judge_share(double printed, double ours, const Rules& rules) {
  const double smaller = std::min(printed, 1 - printed);
  const double allowed = std::max(rules.share_points, rules.third * smaller);
  return grade(within(ours - printed, allowed), within(ours - printed, 2 * allowed));
}

Verdict judge_count(double printed, double ours, const Rules& rules) {
  if (printed == 0) return grade(ours == 0, false);
  return grade(within(ours - printed, rules.count * std::abs(printed)),
               within(ours - printed, rules.count_trend * std::abs(printed)));
}

Verdict judge_single(ClaimType type, double printed, double ours, const Rules& rules) {
  switch (type) {
    case ClaimType::kRatio:
      return judge_effect(printed - 1, ours - 1, rules);
    case ClaimType::kChange:
      return judge_effect(printed, ours, rules);
    case ClaimType::kShare:
      return judge_share(printed, ours, rules);
    default:
      return judge_count(printed, ours, rules);
  }
}

Verdict judge_extreme(const Claim& claim, const Rules& rules, const Finding& finding) {
  const bool program = claim.program.empty() || claim.program == finding.program;
  const Verdict value = judge_single(claim.of, claim.number, finding.number, rules);
  if (value == Verdict::kReproduced) return program ? Verdict::kReproduced : Verdict::kSameTrend;
  return grade(false, program && value == Verdict::kSameTrend);
}

Verdict judge_bound(const Claim& claim, const Rules& rules, double ours) {
  const double slack = rules.third * std::abs(claim.number);
  if (claim.relation == "at least")
    return grade(ours >= claim.number - kRounding, ours >= claim.number - slack - kRounding);
  const bool holds = claim.relation == "below" ? ours < claim.number : ours <= claim.number + kRounding;
  return grade(holds, ours <= claim.number + slack + kRounding);
}

Verdict judge_range(const Claim& claim, const Rules& rules, double ours) {
  const double nearer = std::clamp(ours, claim.low, claim.high), effect = ours - 1;
  const bool inside = within(ours - nearer, rules.third * std::abs(nearer - 1));
  const bool same_side = (claim.low >= 1 && effect > 0) || (claim.high <= 1 && effect < 0);
  return grade(inside, same_side && std::abs(effect) >= rules.least_effect - kRounding);
}

Verdict judge_order(const Claim& claim, const Finding& finding) {
  std::size_t holds = 0;
  for (const auto& [above, below] : claim.above)
    holds += finding.values.at(above) > finding.values.at(below) ? 1 : 0;
  return grade(holds == claim.above.size(), 2 * holds > claim.above.size());
}

Verdict judge_best(const Claim& claim, const Rules& rules, const Finding& finding) {
  double best = -INFINITY, best_printed = -INFINITY;
  for (const auto& [name, value] : finding.values) best = std::max(best, value);
  for (const std::string& name : claim.best) best_printed = std::max(best_printed, finding.values.at(name));
  return grade(best_printed >= best, best_printed >= (1 - rules.near_best) * best - kRounding);
}

// Ranks from 1 on; equal values share the mean of theirs.
std::vector<double> ranks(const std::vector<double>& values) {
  std::vector<double> result;
  for (const double value : values) {
    double below = 0, equal = 0;
    for (const double other : values) {
      below += other < value ? 1 : 0;
      equal += other == value ? 1 : 0;
    }
    result.push_back(below + (equal + 1) / 2);
  }
  return result;
}

double correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const auto count = static_cast<double>(a.size());
  const double mean_a = std::accumulate(a.begin(), a.end(), 0.0) / count,
               mean_b = std::accumulate(b.begin(), b.end(), 0.0) / count;
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - mean_a) * (b[i] - mean_b);
    aa += (a[i] - mean_a) * (a[i] - mean_a);
    bb += (b[i] - mean_b) * (b[i] - mean_b);
  }
  return aa == 0 || bb == 0 ? 0 : ab / std::sqrt(aa * bb);
}

Verdict judge_series(const Claim& claim, const Rules& rules, const Finding& finding) {
  std::vector<double> printed, ours;
  double reproduced = 0;
  for (const auto& [name, value] : claim.series) {
    printed.push_back(value);
    ours.push_back(finding.values.at(name));
    reproduced += judge_single(claim.of, value, ours.back(), rules) == Verdict::kReproduced ? 1 : 0;
  }
  return grade(reproduced >= rules.series * static_cast<double>(printed.size()) - kRounding,
               rank_correlation(printed, ours) >= rules.series_rank - kRounding);
}

}  // namespace

double rank_correlation(const std::vector<double>& a, const std::vector<double>& b) {
  return correlation(ranks(a), ranks(b));
}

const char* name_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kReproduced:
      return "reproduced";
    case Verdict::kSameTrend:
      return "same trend";
    case Verdict::kNot:
      return "not";
    case Verdict::kDependsOnUnprinted:
      break;
  }
  return "depends on unprinted";
}

Verdict judge(const Claim& claim, const Rules& rules, const Finding& finding) {
  switch (claim.type) {
    case ClaimType::kMaximum:
    case ClaimType::kMinimum:
      return judge_extreme(claim, rules, finding);
    case ClaimType::kBound:
      return judge_bound(claim, rules, finding.number);
    case ClaimType::kRange:
      return judge_range(claim, rules, finding.number);
    case ClaimType::kOrder:
      return judge_order(claim, finding);
    case ClaimType::kBest:
      return judge_best(claim, rules, finding);
    case ClaimType::kSeries:
      return judge_series(claim, rules, finding);
    default:
      return judge_single(claim.type, claim.number, finding.number, rules);
  }
}

}  // namespace weft::study
