// One simulation as the command line runs it: a checked configuration, a device, and the running of work on
// it with every way that can end recorded in an Outcome.
#ifndef WEFT_STUDY_SESSION_SESSION_H
#define WEFT_STUDY_SESSION_SESSION_H

#include <cstdint>
#include <cstdio>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "study/session/checkpoint.h"
#include "study/session/outcome.h"
#include "study/session/timeline.h"
#include "study/session/trace.h"
#include "study/session/transactions.h"
#include "study/terminal/words.h"
#include "weft/runtime/device.h"

namespace weft::study {

struct SessionOptions {
  std::string config = "gtx480";
  std::vector<std::string> overrides;      // "path=value"
  std::vector<std::string> size_settings;  // the same, of a workload's size: weaker
  std::string out;                         // folder for results; empty: none
  std::uint64_t max_cycles = 0, max_instructions = 0;
  runtime::DeviceLimits limits;
  bool no_sleep = false;
  bool monitors = false;
  bool no_sync = false;  // what is in `out` need not outlive a failure of the machine
  TraceOptions trace;
  TransactionOptions transactions;
  TimelineOptions timeline;
  std::uint64_t sample = 0;  // core cycles of an interval of samples.csv; 0: none
  bool functional = false;
  std::string fast_forward;         // launches, or the name of a kernel; empty: none
  std::vector<std::string> checks;  // "memory", "race", "warp", "scalar"
  std::uint64_t check_reports = 16;
  // Of --check scalar (scalar_reference.h): as in check::Options.
  std::FILE* records_writes = nullptr;
  std::FILE* compares_writes = nullptr;
  std::string checked_ptx;
  runtime::LaunchObserver* observer = nullptr;
  sm::InstructionProfile* profile = nullptr;
  std::optional<std::uint16_t> gdb;  // the port at which GDB is waited for
  std::string gdb_symbols;           // debugger::Options::symbols
  bool quiet = false;                // execute() prints no summary
  bool one_launch = false;           // all the work is: its blocks are known from the beginning
  // Of a workload: checkpoints in `out`, so many seconds apart; and goes on from one that is there.
  std::optional<std::uint64_t> checkpoint;
  bool resume = false;
  // Files that belong to the results besides those of every run; called when the work has ended.
  std::function<std::vector<TextFile>(const Outcome&, runtime::Device&)> more_results;
};

// "timed", "functional" or "fast-forward".
std::string mode_of(const SessionOptions& options);

// The options, with what the size asks of the configuration.
SessionOptions with_settings(SessionOptions options, const workloads::Workload& workload,
                             const std::string& size);
// The configuration that they ask for. Throws InputError.
GpuConfig config_of(const SessionOptions& options);
// A workload at a size, with its own code, before it has run. Throws InputError for an unknown size.
Outcome outcome_of(const workloads::Workload& workload, const std::string& size);

class Session {
 public:
  // Reads the configuration, makes the folder and builds the GPU. Throws InputError.
  explicit Session(const SessionOptions& options);
  ~Session();

  runtime::Device& device() { return device_; }

  // Calls `work`, which fills in what it learns. A fault, a hang, an interrupt or the cycle limit ends it and
  // is recorded; then results are written to the folder, the summary is printed, and the exit code returned.
  // InputError passes through.
  ExitCode execute(Outcome& outcome, const std::function<void(runtime::Device&, Outcome&)>& work);
  // The same for a workload, with the outcome's size and code.
  ExitCode execute(Outcome& outcome, workloads::Workload& workload);

 private:
  void prepare_checkpoints(const Outcome& outcome);
  void write_checkpoint(const std::string& state);
  void end_checkpoints(const Outcome& outcome);
  ExitCode finish(Outcome& outcome);

  SessionOptions options_;
  GpuConfig config_;
  std::optional<CheckpointFile> checkpoint_;  // with --checkpoint or --resume
  bool cannot_write_ = false;                 // the last one, and it has been said
  bool lacks_checkpoint_ = false;             // one could not be written
  const std::unique_ptr<TransactionTrace> transactions_;
  std::unique_ptr<FstPipe> fst_;                  // if the waveforms go through one
  std::unique_ptr<debugger::Debugger> debugger_;  // with SessionOptions::gdb
  runtime::Device device_;
};

}  // namespace weft::study

#endif
