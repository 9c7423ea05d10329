// Runs this program again, in processes of its own: SystemC elaborates once per process, and what a run
// allocates or breaks is its own. Several at a time, up to the cores.
#ifndef WEFT_STUDY_RUN_PROCESSES_H
#define WEFT_STUDY_RUN_PROCESSES_H

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "study/terminal/words.h"

namespace weft::study {

struct Job {
  Words arguments;       // after the program's name
  std::string messages;  // file that takes standard error
  std::string output;    // file that takes standard output; empty: it goes nowhere
  // What it may take at most, or it is killed: looked at ten times a second. 0: anything.
  double most_seconds = 0;       // from its start
  std::uint64_t most_bytes = 0;  // of memory that is in use (its resident set)
};

struct JobEnd {
  enum class Stopped : std::uint8_t { kNot, kTime, kMemory };  // by a limit
  int code = 0;  // of exit; 128 + the signal's number for one that was killed
  Stopped stopped = Stopped::kNot;
  double wall_seconds = 0, cpu_seconds = 0;
  std::uint64_t peak_bytes = 0;  // of its resident set
  std::string host;              // where it ran; empty: here
};

// How many jobs run at a time.
struct Parallel {
  unsigned most = 1;
  // One more while they take less than a tenth of a second each. Linux leaves a core idle for up to some
  // milliseconds after a process on it has ended, though others wait for another core: of so short ones that
  // is a twentieth of the time.
  bool spare = false;
};
// What --jobs asks for: at most so many; 0: as many as this process has cores, and a spare one.
Parallel parallel_of(std::uint64_t jobs);

// Runs the jobs in order. Calls `starts` with a job's number before it starts,
// and `ended` with its number and how it ended, when the job that follows it has started. After an interrupt
// (interrupt.h) no job starts, and those that run are killed and awaited: half a run is of no use, and what
// lies in its folder stays. None of them outlives this process, however that ends. Throws InputError if
// no process can be made.
void run_apart(const std::vector<Job>& jobs, Parallel parallel,
               const std::function<void(std::size_t)>& starts,
               const std::function<void(std::size_t, const JobEnd&)>& ended);

// What a run said first on standard error, without the program's name: of its `messages`. kNoMessage:
// nothing.
inline constexpr const char* kNoMessage = "no message";
std::string first_message(const std::string& file);

// In a child, before exec: it does not outlive its parent, whose process ID it was told. Of a parent that has
// gone already, the child goes too.
void die_with(pid_t parent);
// The same of what run_apart() has started, which it knows by the environment; first of all in main().
void die_with_parent();

}  // namespace weft::study

#endif
