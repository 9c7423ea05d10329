// What a sweep runs: a machine, axes, and a run for each combination of their values; or the programs and
// variants of an experiment. The form of the files: experiments/README.md.
#ifndef WEFT_SC_MAIN_SWEEP_SWEEP_PLAN_H
#define WEFT_SC_MAIN_SWEEP_SWEEP_PLAN_H

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sc_main/cli.h"

namespace weft::cli {

// A program with a machine.
struct SweepRun {
  enum class Kind : std::uint8_t { kWorkload, kPtx, kCuda };
  Kind kind = Kind::kWorkload;
  std::string program;  // of the workloads; else a name for file and arguments
  std::string size;     // of a workload
  std::string file;     // with PTX, or a CUDA program
  Words arguments;      // behind it
  std::string config;
  Words overrides;                // "path=value", in the order in which they take effect
  std::string scheme;             // as it comes out of them
  std::uint64_t core_cycles = 0;  // at most; 0: any number
  std::string effective;          // JSON of the configuration
  std::string id;                 // names everything that results depend on, this build too: 32 digits

  // What `weft` is called with; results go to `folder`, and to the disk at once only if they are to stay.
  Words command(const std::string& folder, bool stay) const;
};

struct SweepPoint {
  std::vector<std::string> values;  // one for each axis
  std::size_t run = 0;
};

// A search by successive halving: the values of an axis, in their order, are rungs. All combinations of the
// axes that are searched run at the first one; those with the best metric go on to the next.
struct Halving {
  std::size_t rungs = 0;  // number of an axis
  std::string metric;
  bool most = false;                   // the best has most of it, not least
  std::size_t keep_one_in = 3;         // rounded up
  std::vector<std::size_t> mean_over;  // axes over which a candidate has one score; the others are searched
  bool cumulative = false;             // a score counts the rungs before, too
  std::string where;                   // in the file, for messages
};

struct Sweep {
  std::string name, title;
  std::vector<std::string> axes;
  // Numbers of the axes that a screening design varies together; empty: all combinations are there. The
  // points are in groups of `design.size()`, one row each; within a group the other axes have the same
  // values.
  std::vector<std::size_t> factors;
  std::vector<std::vector<bool>> design;
  std::optional<Halving> halving;
  std::vector<SweepPoint> points;  // of all combinations, with halving too
  std::vector<SweepRun> runs;      // each once, in the order of their first points
  // Of a run; 0: none.
  double most_seconds = 0;
  std::uint64_t most_bytes = 0;
};

// `name` is a file (with a slash, or ending in .json) or an experiment. Throws InputError with the place for
// what is no sweep, and for a configuration, a workload or a program that is not to be had.
Sweep read_sweep(const std::string& name);

}  // namespace weft::cli

#endif
