#include "study/judge/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
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

// Conditions as they are looked at. What is said and what holds stand side by side.
class Conditions {
 public:
  bool reproduced(bool holds, std::string text) { return add(Verdict::kReproduced, holds, std::move(text)); }
  bool trend(bool holds, std::string text) { return add(Verdict::kSameTrend, holds, std::move(text)); }
  std::vector<Condition> take() { return std::move(list_); }

 private:
  bool add(Verdict of, bool holds, std::string text) {
    list_.push_back({of, std::move(text), holds});
    return holds;
  }

  std::vector<Condition> list_;
};

std::string number(double value) {
  return fmt::format("{:.4g}", value);
}

std::string effect(double value) {
  return fmt::format("{:+.4g}", value);
}

Verdict judge_effect(double printed, double ours, const Rules& rules, Conditions& conditions) {
  const bool same_sign = (printed > 0 && ours > 0) || (printed < 0 && ours < 0);
  const bool small = std::abs(printed) < rules.small_effect - kRounding;
  if (small) {
    const bool holds = same_sign || std::abs(ours) < rules.small_effect - kRounding;
    return grade(conditions.reproduced(
                     holds, fmt::format("the printed effect {0} is under {2}; ours, {1}, has its sign or is "
                                        "under {2}",
                                        effect(printed), effect(ours), number(rules.small_effect))),
                 false);
  }
  const double allowed = rules.third * std::abs(printed);
  const bool near = conditions.reproduced(
      within(ours - printed, allowed),
      fmt::format("the effects {} and {} (printed) differ by {}; allowed: a third of the printed one, {}",
                  effect(ours), effect(printed), number(std::abs(ours - printed)), number(allowed)));
  const bool trend = conditions.trend(
      same_sign && std::abs(ours) >= rules.least_effect - kRounding,
      fmt::format("the effect {} has the sign of the printed one, {}, and at least the size {}", effect(ours),
                  effect(printed), number(rules.least_effect)));
  return grade(near, trend);
}

Verdict judge_share(double printed, double ours, const Rules& rules, Conditions& conditions) {
  const double smaller = std::min(printed, 1 - printed);
  const double allowed = std::max(rules.share_points, rules.third * smaller);
  const std::string differ =
      fmt::format("the shares {} and {} (printed) differ by {}; allowed: ", number(ours), number(printed),
                  number(std::abs(ours - printed)));
  const bool near = conditions.reproduced(
      within(ours - printed, allowed),
      differ + fmt::format("{}, the larger of {} and a third of {}, the smaller of share and complement",
                           number(allowed), number(rules.share_points), number(smaller)));
  const bool trend = conditions.trend(within(ours - printed, 2 * allowed),
                                      differ + fmt::format("twice as much, {}", number(2 * allowed)));
  return grade(near, trend);
}

Verdict judge_count(double printed, double ours, const Rules& rules, Conditions& conditions) {
  if (printed == 0)
    return grade(conditions.reproduced(ours == 0, fmt::format("{} is 0, as printed", number(ours))), false);
  const auto differ = [&](double part) {
    return fmt::format("{} and {} (printed) differ by {}; allowed: {} of the printed one, {}", number(ours),
                       number(printed), number(std::abs(ours - printed)), number(part),
                       number(part * std::abs(printed)));
  };
  const bool near =
      conditions.reproduced(within(ours - printed, rules.count * std::abs(printed)), differ(rules.count));
  const bool trend = conditions.trend(within(ours - printed, rules.count_trend * std::abs(printed)),
                                      differ(rules.count_trend));
  return grade(near, trend);
}

Verdict judge_single(ClaimType type, double printed, double ours, const Rules& rules,
                     Conditions& conditions) {
  switch (type) {
    case ClaimType::kRatio:
      return judge_effect(printed - 1, ours - 1, rules, conditions);
    case ClaimType::kChange:
      return judge_effect(printed, ours, rules, conditions);
    case ClaimType::kShare:
      return judge_share(printed, ours, rules, conditions);
    default:
      return judge_count(printed, ours, rules, conditions);
  }
}

Verdict judge_extreme(const Claim& claim, const Rules& rules, const Finding& finding,
                      Conditions& conditions) {
  const Verdict value = judge_single(claim.of, claim.number, finding.number, rules, conditions);
  if (claim.program.empty())
    return value == Verdict::kReproduced ? Verdict::kReproduced : grade(false, value == Verdict::kSameTrend);
  const bool program =
      conditions.reproduced(claim.program == finding.program,
                            fmt::format("{} has it, as {} in the paper", finding.program, claim.program));
  const bool trend =
      conditions.trend(value == Verdict::kReproduced || (program && value == Verdict::kSameTrend),
                       "the value alone is reproduced, or the program is the printed one and "
                       "the value has the same trend");
  return grade(program && value == Verdict::kReproduced, trend);
}

Verdict judge_bound(const Claim& claim, const Rules& rules, double ours, Conditions& conditions) {
  const double slack = rules.third * std::abs(claim.number);
  const auto text = [&](double bound) {
    return fmt::format("{} is {} {}", number(ours), claim.relation, number(bound));
  };
  const std::string missed = ", so that the bound is missed by no more than a third of it";
  if (claim.relation == "at least") {
    const bool holds = conditions.reproduced(ours >= claim.number - kRounding, text(claim.number));
    return grade(holds, conditions.trend(ours >= claim.number - slack - kRounding,
                                         text(claim.number - slack) + missed));
  }
  const bool holds = conditions.reproduced(
      claim.relation == "below" ? ours < claim.number : ours <= claim.number + kRounding, text(claim.number));
  return grade(
      holds,
      conditions.trend(ours <= claim.number + slack + kRounding,
                       fmt::format("{} is at most {}", number(ours), number(claim.number + slack)) + missed));
}

Verdict judge_range(const Claim& claim, const Rules& rules, double ours, Conditions& conditions) {
  const double nearer = std::clamp(ours, claim.low, claim.high), own = ours - 1;
  const double allowed = rules.third * std::abs(nearer - 1);
  const bool inside = conditions.reproduced(
      within(ours - nearer, allowed),
      fmt::format("{} is inside {} to {}, or differs from the nearer end by {}; allowed: a third of the "
                  "effect of that end, {}",
                  number(ours), number(claim.low), number(claim.high), number(std::abs(ours - nearer)),
                  number(allowed)));
  const bool same_side = (claim.low >= 1 && own > 0) || (claim.high <= 1 && own < 0);
  const bool trend =
      conditions.trend(same_side && std::abs(own) >= rules.least_effect - kRounding,
                       fmt::format("the effect {} is on the side of the range, and at least {}", effect(own),
                                   number(rules.least_effect)));
  return grade(inside, trend);
}

Verdict judge_order(const Claim& claim, const Finding& finding, Conditions& conditions) {
  std::size_t holds = 0;
  for (const auto& [above, below] : claim.above) {
    const double first = finding.values.at(above), second = finding.values.at(below);
    const bool above_it = conditions.reproduced(
        first > second, fmt::format("{} {} > {} {}", above, number(first), below, number(second)));
    holds += above_it ? 1 : 0;
  }
  const bool most = conditions.trend(
      2 * holds > claim.above.size(),
      fmt::format("{} of {} relations hold; needed: more than half", holds, claim.above.size()));
  return grade(holds == claim.above.size(), most);
}

Verdict judge_best(const Claim& claim, const Rules& rules, const Finding& finding, Conditions& conditions) {
  double best = -INFINITY, best_printed = -INFINITY;
  for (const auto& [name, value] : finding.values) best = std::max(best, value);
  for (const std::string& name : claim.best) best_printed = std::max(best_printed, finding.values.at(name));
  const std::string both = fmt::format("the best of the printed ones has {}, the best of all {}",
                                       number(best_printed), number(best));
  const bool reproduced = conditions.reproduced(best_printed >= best, both);
  return grade(reproduced,
               conditions.trend(best_printed >= (1 - rules.near_best) * best - kRounding,
                                both + fmt::format("; needed: {} of that, {}", number(1 - rules.near_best),
                                                   number((1 - rules.near_best) * best))));
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

Verdict judge_series(const Claim& claim, const Rules& rules, const Finding& finding, Conditions& conditions) {
  std::vector<double> printed, ours;
  double reproduced = 0;
  for (const auto& [name, value] : claim.series) {
    printed.push_back(value);
    ours.push_back(finding.values.at(name));
    Conditions of_entry;
    const Verdict verdict = judge_single(claim.of, value, ours.back(), rules, of_entry);
    reproduced += verdict == Verdict::kReproduced ? 1 : 0;
  }
  const auto entries = static_cast<double>(printed.size());
  const double correlated = rank_correlation(printed, ours);
  const bool most = conditions.reproduced(
      reproduced >= rules.series * entries - kRounding,
      fmt::format("{} of {} entries are reproduced by the rule of '{}'; needed: {} of them",
                  number(reproduced), number(entries), name_of(claim.of), number(rules.series)));
  const bool trend =
      conditions.trend(correlated >= rules.series_rank - kRounding,
                       fmt::format("the rank correlation with the printed series is {}; needed: {}",
                                   number(correlated), number(rules.series_rank)));
  return grade(most, trend);
}

Verdict judge_by(const Claim& claim, const Rules& rules, const Finding& finding, Conditions& conditions) {
  switch (claim.type) {
    case ClaimType::kMaximum:
    case ClaimType::kMinimum:
      return judge_extreme(claim, rules, finding, conditions);
    case ClaimType::kBound:
      return judge_bound(claim, rules, finding.number, conditions);
    case ClaimType::kRange:
      return judge_range(claim, rules, finding.number, conditions);
    case ClaimType::kOrder:
      return judge_order(claim, finding, conditions);
    case ClaimType::kBest:
      return judge_best(claim, rules, finding, conditions);
    case ClaimType::kSeries:
      return judge_series(claim, rules, finding, conditions);
    default:
      return judge_single(claim.type, claim.number, finding.number, rules, conditions);
  }
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

Ruling ruling(const Claim& claim, const Rules& rules, const Finding& finding) {
  Conditions conditions;
  const Verdict verdict = judge_by(claim, rules, finding, conditions);
  return {verdict, conditions.take()};
}

Verdict judge(const Claim& claim, const Rules& rules, const Finding& finding) {
  return ruling(claim, rules, finding).verdict;
}

}  // namespace weft::study
