// What a study runs: machines x programs x variants x seeds, each combination a point, and the runs that the
// points need. `weft compare`, `weft reproduce`, `weft sweep` and its searches each make one Plan; executor.h
// does its runs.
//
//   Plan plan;
//   plan.axes = {"workload", "scheme"};
//   PlanBuilder builder(plan);
//   builder.add({"bfs", "harp"}, run, "where an error is reported");
#ifndef WEFT_STUDY_PLAN_PLAN_H
#define WEFT_STUDY_PLAN_PLAN_H

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "study/terminal/words.h"

namespace weft::study {

// A program on a machine.
struct Run {
  enum class Kind : std::uint8_t { kWorkload, kPtx, kCuda };
  Kind kind = Kind::kWorkload;
  std::string program;  // a workload's name; else a name for the file and its arguments
  std::string size;     // of a workload
  std::string file;     // with PTX, or a CUDA program
  Words arguments;      // behind the file
  std::string key;      // that names `file`, for messages: "/programs/0/cuda"; empty: an option does
  std::string config;
  Words overrides;                // "path=value", in the order in which they take effect
  std::uint64_t core_cycles = 0;  // limit; 0: none
  std::string label;              // for messages: "BFS harp"
  std::string folder;             // for its results, in a store of folders; empty: named by `spec_id`
  // CPU seconds, as whoever made the plan estimates them. An executor uses it until a store knows better.
  std::optional<double> guess;

  // PlanBuilder fills in the rest.
  std::string scheme;                            // the effective one
  std::shared_ptr<const std::string> effective;  // configuration, JSON; runs share it
  // What runs, and with which options: all that results depend on but the machine and the build of Weft,
  // JSON.
  std::string work;
  std::string record;   // the run.json of its results, JSON (run_record.h); empty: not a workload, or refused
  std::string spec_id;  // 32 digits: everything that results depend on, without the build of Weft
  std::string id;       // 32 digits: spec_id and the build
  bool refused = false;  // `weft run` will say why; it has no ids
  // Without timing: the run of a program of one's own with which others are compared.
  bool functional = false;
  // The run with which the results of this one are compared; null: a workload, which verifies its results
  // itself, or a functional run. Runs of a program on one machine share it, whatever their schemes.
  std::shared_ptr<const Run> reference;

  bool verifies_itself() const { return kind == Kind::kWorkload; }

  // The arguments of `weft`. Results go to `to`; `stay`: they must survive a failure of the machine.
  Words command(const std::string& to, bool stay) const;
  // Machine, program and size without its seed: runs that take about the same time.
  std::string kind_of_work() const;
  std::string size_without_seed() const;
};

struct Point {
  std::vector<std::string> values;  // one for each axis
  std::size_t run = 0;
};

// A search by successive halving (halving.h): the values of an axis, in their order, are rungs. All
// combinations of the axes that are searched run at the first one; those with the best metric go on.
struct Halving {
  std::size_t rungs = 0;  // number of an axis
  std::string metric;
  bool most = false;                   // the best has most of it, not least
  std::size_t keep_one_in = 3;         // rounded up
  std::vector<std::size_t> mean_over;  // axes over which a candidate has one score; the others are searched
  bool cumulative = false;             // a score counts the rungs before, too
  std::string where;                   // in the file, for messages
};

struct Plan {
  std::string name, title;
  std::vector<std::string> axes;
  // Numbers of the axes that a screening design varies together; empty: all combinations are there. The
  // points are in groups of `design.size()`, one row each; within a group the other axes have the same
  // values.
  std::vector<std::size_t> factors;
  std::vector<std::vector<bool>> design;
  std::optional<Halving> halving;
  std::vector<Point> points;  // of all combinations, with halving too
  std::vector<Run> runs;      // each once, in the order of their first points
  // Limits of a run; 0: none.
  double most_seconds = 0;
  std::uint64_t most_bytes = 0;
};

// Adds points to a plan. A run that several points need is there once.
class PlanBuilder {
 public:
  // What happens to a run whose configuration, workload or size is refused.
  enum class Refused : std::uint8_t {
    kThrow,
    kKeep,  // it is planned, fails, and its row says why
  };
  explicit PlanBuilder(Plan& plan, Refused refused = Refused::kThrow);
  ~PlanBuilder();
  PlanBuilder(const PlanBuilder&) = delete;
  PlanBuilder& operator=(const PlanBuilder&) = delete;

  // Returns the number of the run. `where` is for errors. Throws InputError.
  std::size_t add(std::vector<std::string> values, Run run, const std::string& where);

 private:
  class Identifier;

  // Finds the run with which the results of `run` are compared.
  void set_reference(Run& run);

  Plan& plan_;
  const Refused refused_;
  const std::unique_ptr<Identifier> identifier_;
  std::unordered_map<std::string, std::size_t> numbers_;                    // by folder, or by id
  std::unordered_map<std::string, std::shared_ptr<const Run>> references_;  // by id
};

}  // namespace weft::study

#endif
