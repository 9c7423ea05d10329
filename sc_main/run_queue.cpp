#include "sc_main/run_queue.h"

#include <csignal>
#include <iostream>
#include <optional>

#include "sc_main/interrupt.h"
#include "sc_main/processes.h"

namespace weft::cli {

void complete(std::vector<PlannedRun>& runs, std::vector<Row>& rows, Reuse reuse, std::uint64_t jobs,
              const QueueProgress& progress) {
  std::vector<std::size_t> open;  // in the order in which they start
  rows.clear();
  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::optional<Row> row = runs[i].finished(reuse);
    rows.push_back(row ? *row : runs[i].unfinished("not finished"));
    if (!row) open.push_back(i);
  }
  if (progress.order) progress.order(open);
  std::vector<Job> to_do;
  for (const std::size_t i : open) to_do.push_back(runs[i].job());
  std::size_t done = runs.size() - open.size();
  if (done != 0) {
    std::cerr << "weft: " << done << " of " << runs.size() << " runs are there already, of this "
              << (reuse == Reuse::kOfThisBuild ? "build, " : "")
              << "configuration and program; --again repeats them\n";
  }
  const Parallel parallel = parallel_of(jobs);
  if (progress.begins) progress.begins(open, parallel.most);
  if (progress.changed) progress.changed();
  run_apart(
      to_do, parallel, [&](std::size_t job) { runs[open[job]].starts(); },
      [&](std::size_t job, const JobEnd& end) {
        const std::size_t i = open[job];
        const bool killed = interrupted() && end.code == 128 + SIGKILL;
        rows[i] = killed ? runs[i].unfinished("not finished: interrupted") : runs[i].ended(end.code);
        if (progress.changed) progress.changed();
        if (progress.ended) progress.ended(i, ++done, runs.size());
      });
  if (!interrupted()) return;
  for (Row& row : rows) {
    if (row.result == "not finished") row.result = "not run: interrupted";
  }
}

}  // namespace weft::cli
