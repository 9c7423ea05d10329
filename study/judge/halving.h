// Successive halving [Jamieson & Talwalkar, AISTATS 2016; the inner loop of Hyperband, Li et al., JMLR 18,
// 2018]: all candidates run with a small budget, those with the best score with a larger one, and so on.
//
// A rung takes ceil(n / keep_one_in) of the n candidates that came into it to the next, fewer if not as many
// have a score. The score is the geometric mean of the metric over a candidate's points in the rung; of equal
// ones the candidate that comes first in the plan is the better one. A candidate of which a run failed, or
// lacks the metric, has none. All follows from the store, so that a search goes on where it ended.
#ifndef WEFT_STUDY_JUDGE_HALVING_H
#define WEFT_STUDY_JUDGE_HALVING_H

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "study/judge/scores.h"
#include "study/plan/candidates.h"
#include "study/plan/plan.h"
#include "study/run/sqlite_store.h"

namespace weft::study {

class SuccessiveHalving {
 public:
  // Of a plan with `halving`, which must outlive it.
  explicit SuccessiveHalving(const Plan& plan);

  // How a candidate did in a rung.
  struct Standing {
    std::size_t candidate = 0;
    std::optional<double> log_mean;  // of the metric; nothing: it has no score
    double ratio = 0;                // of its geometric mean to that of the best
    std::string reason;              // why it has no score
    bool goes_on = false;            // to the next rung; of the last one, it won
  };
  struct Rung {
    std::vector<std::size_t> entered;  // candidates, in their order
    // The best first; those without a score at the end. Empty: runs are missing.
    std::vector<Standing> standings;
    bool judged() const { return !standings.empty(); }
    std::vector<std::size_t> going_on() const;  // in the order of candidates
  };

  std::size_t rungs() const { return values_.size(); }
  const std::string& value(std::size_t rung) const { return values_[rung]; }
  const std::vector<std::size_t>& axes() const { return axes_; }  // that are searched
  const std::vector<Candidate>& candidates() const { return candidates_; }

  // Upper bounds, for a rung: of candidates, and of runs.
  std::size_t most_candidates(std::size_t rung) const;
  std::size_t most_runs(std::size_t rung) const;

  // What candidates are tried at in a rung: points, and their runs, each once.
  std::vector<std::size_t> points(std::size_t rung, const std::vector<std::size_t>& entered) const;
  std::vector<std::size_t> runs(std::size_t rung, const std::vector<std::size_t>& entered) const;

  // The rungs as far as the store decides them: the last one lacks runs, or is the last one of all, or left
  // no candidate. Throws InputError for a metric that no run has.
  std::vector<Rung> played(const SqliteStore& store) const;
  // Throws InputError if this run was done and has no such metric.
  void check_metric(const SqliteStore& store, std::size_t run) const;

 private:
  Rung judged(const SqliteStore& store, std::size_t rung, std::vector<std::size_t> entered) const;
  [[noreturn]] void refuse_metric() const;

  const Plan& plan_;
  const Halving& halving_;
  std::vector<std::string> values_;  // of the axis of rungs
  std::vector<std::size_t> axes_;
  std::vector<Candidate> candidates_;
  // By candidate, by rung: points.
  std::vector<std::vector<std::vector<std::size_t>>> points_;
};

// The rungs, the candidates by how far they came (`most` of them), the best one, and what share of the runs
// of all combinations it took.
std::string ranking(const Plan& plan, const SuccessiveHalving& search, const SqliteStore& store,
                    std::size_t most);
// What each rung runs: the points where that is decided, how many at most where not.
std::string halving_plan(const Plan& plan, const SuccessiveHalving& search, const SqliteStore& store);
// A line for a point, as --plan prints it.
std::string plan_line(const Plan& plan, const SqliteStore& store, std::size_t point);

}  // namespace weft::study

#endif
