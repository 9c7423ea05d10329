// Runs this program again, in processes of its own: SystemC elaborates once per process, and what a run
// allocates or breaks is its own. Several at a time, up to the cores.
#ifndef WEFT_SC_MAIN_PROCESSES_H
#define WEFT_SC_MAIN_PROCESSES_H

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "sc_main/cli.h"

namespace weft::cli {

struct Job {
  Words arguments;       // after the program's name
  std::string messages;  // file that takes standard error; standard output goes nowhere
};

inline constexpr int kNotStarted = -1;

// Runs the jobs in order, at most `parallel` at a time, and returns their exit codes: 128 + the signal's
// number for one that was killed, kNotStarted for those that an interrupt (interrupt.h) came before; those
// that run then are interrupted too and awaited. Calls `ended` with the number of jobs that have ended after
// each. Throws std::runtime_error if no process can be made.
std::vector<int> run_apart(const std::vector<Job>& jobs, unsigned parallel,
                           const std::function<void(std::size_t)>& ended);

// Cores that this process may use.
unsigned usable_cores();

}  // namespace weft::cli

#endif
