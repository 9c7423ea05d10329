// Many planned runs, done as far as they are not done yet: what `weft compare` and `weft reproduce` share.
#ifndef WEFT_SC_MAIN_RUN_QUEUE_H
#define WEFT_SC_MAIN_RUN_QUEUE_H

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "sc_main/comparison.h"
#include "sc_main/planned_run.h"

namespace weft::cli {

// What a command wants to know meanwhile. Each may be empty.
struct QueueProgress {
  // May put the runs that are to be done in another order, in which they start.
  std::function<void(std::vector<std::size_t>& open)> order;
  // Before the first run starts: which are to be done, and how many at a time.
  std::function<void(const std::vector<std::size_t>& open, unsigned parallel)> begins;
  std::function<void()> changed;  // a row is another one
  // A run has ended: its number, and how many of all are done.
  std::function<void(std::size_t run, std::size_t done, std::size_t all)> ended;
};

// Does the runs that have no results yet which count; `jobs` at a time, 0: as many as cores. `rows` gets a
// row per run.
void complete(std::vector<PlannedRun>& runs, std::vector<Row>& rows, Reuse reuse, std::uint64_t jobs,
              const QueueProgress& progress);

}  // namespace weft::cli

#endif
