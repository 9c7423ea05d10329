#include <algorithm>
#include <iostream>
#include <memory>

#include "common/output_files.h"
#include "sc_main/options.h"
#include "sc_main/own_program.h"
#include "sc_main/raw_kernel.h"
#include "study/run/scalar_reference.h"
#include "study/session/session.h"
#include "workloads/host.h"

namespace weft::cli {
namespace {

constexpr std::uint64_t kNoCheckpoints = UINT64_MAX;  // --checkpoint is not given

struct RunOptions {
  SessionOptions session;
  std::string workload, size;
  KernelOptions kernel;
  std::vector<std::string> dumps;
};

void check_gdb(bool given, const SessionOptions& session) {
  if (!given) {
    if (!session.gdb_symbols.empty()) throw InputError("--gdb-symbols", "needs --gdb PORT");
    return;
  }
  const auto& checks = session.checks;
  if (std::find(checks.begin(), checks.end(), "scalar") != checks.end())
    throw InputError("--gdb", "is not allowed with --check scalar, which runs the kernels twice");
}

// --dump INDEX=FILE
struct Dump {
  std::size_t argument = 0;
  std::string file;
};

std::vector<Dump> parse_dumps(const std::vector<std::string>& texts,
                              const std::vector<RawArgument>& arguments) {
  std::vector<Dump> dumps;
  for (const std::string& text : texts) {
    const auto equals = text.find('=');
    if (equals == std::string::npos || equals + 1 == text.size()) {
      throw InputError("--dump", "found '" + text + "'; allowed: INDEX=FILE");
    }
    const std::uint64_t index = read_unsigned("--dump, INDEX", text.substr(0, equals),
                                              {0, arguments.empty() ? 0 : arguments.size() - 1});
    if (index >= arguments.size() || !arguments[index].buffer.has_value()) {
      throw InputError("--dump", "argument " + std::to_string(index) + " is not a buffer (ptr:)");
    }
    // Before the simulation, not after it: what shows now should not cost a run.
    check_writable(text.substr(equals + 1));
    dumps.push_back({index, text.substr(equals + 1)});
  }
  return dumps;
}

// What cannot be written is told and does not cost the other results. False: it is not where it was asked
// for.
bool write_dump(const Dump& dump, const std::string& content) {
  std::string problem;
  try {
    problem = save_file(dump.file, content);
  } catch (const InputError& error) {
    problem = error.what();
  }
  if (!problem.empty()) std::cerr << "weft: --dump " << dump.argument << ": " << problem << "\n";
  return problem.empty();
}

ExitCode run_workload(const RunOptions& options) {
  const auto workload = workloads::find(options.workload);
  Outcome outcome = outcome_of(*workload, options.size);
  const auto& ptx = options.kernel.ptx;
  const std::string& kernel = options.kernel.kernel;
  if (!ptx.empty()) outcome.code = workloads::code_of_file(ptx[0], kernel);
  if (!kernel.empty()) outcome.code.kernel = kernel;

  const SessionOptions session = with_settings(options.session, *workload, options.size);
  const auto run = [&](const SessionOptions& chosen) { return Session(chosen).execute(outcome, *workload); };
  const ScalarReference reference(session, outcome.code.ptx, run);
  return run(reference.compared(session));
}

ExitCode run_kernel(const RunOptions& options) {
  const std::vector<Dump> dumps = parse_dumps(options.dumps, options.kernel.raw_arguments());
  const RawKernel kernel(options.kernel);
  Outcome outcome = kernel.outcome();

  bool dumped = true;
  const auto work = [&](runtime::Device& device, Outcome& result, bool outputs_too) {
    const std::vector<runtime::Address> buffers = kernel.run(device, result);
    if (!outputs_too) return;
    if (!options.session.out.empty()) kernel.keep_outputs(buffers, device, result);
    for (const Dump& dump : dumps) {
      std::string content(kernel.arguments()[dump.argument].buffer->bytes, '\0');
      device.copy_from(content.data(), buffers[dump.argument], content.size());
      dumped = write_dump(dump, content) && dumped;
    }
  };
  const auto run = [&](const SessionOptions& chosen) {
    return Session(chosen).execute(outcome, [&](runtime::Device& device, Outcome& result) {
      work(device, result, chosen.records_writes == nullptr);
    });
  };
  const ScalarReference reference(options.session, outcome.code.ptx, run);
  const ExitCode code = run(reference.compared(options.session));
  return code == ExitCode::kDone && !dumped ? ExitCode::kBadInput : code;
}

}  // namespace

ExitCode run(const Words& words) {
  RunOptions options;
  Options all("a workload");
  all.text("workload", options.workload, "NAME", "name (weft list workloads)")
      .text("size", options.size, "SIZE",
            "small, default, large, a paper's (weft list workloads), or options: n=1000,degree=4, or "
            "large,seed=7");
  Options raw = kernel_options(options.kernel, "; with --workload: instead of the workload's own PTX");
  raw.list("dump", options.dumps, "INDEX=FILE",
           "write the buffer of argument INDEX (from 0) to a file, device or pipe after the run");
  Options long_runs("a long run of a workload");
  std::uint64_t seconds = kNoCheckpoints;
  long_runs
      .number("checkpoint", seconds, {0, 1'000'000, 1, "seconds"},
              "write a checkpoint into --out at the end of a launch if the last checkpoint is this old; 0: "
              "after every launch")
      .flag("resume", options.session.resume,
            "continue from the checkpoint in --out, with the results of an uninterrupted run");
  Options debugging("debugging");
  std::uint64_t port = kNoGdb;
  add_gdb_options(debugging, port, options.session.gdb_symbols);
  all.add(raw).add(long_runs).add(debugging).add(session_options(options.session));
  if (!parse(words,
             "weft run --workload NAME [--size SIZE] [OPTIONS]\n"
             "       weft run --ptx FILE ... --grid x,y,z --block x,y,z [--kernel NAME] [--arg ARG ...] "
             "[OPTIONS]",
             all)) {
    return ExitCode::kDone;
  }

  const KernelOptions& kernel = options.kernel;
  if (seconds != kNoCheckpoints) options.session.checkpoint = seconds;
  check_gdb(port != kNoGdb, options.session);
  if (port != kNoGdb) options.session.gdb = static_cast<std::uint16_t>(port);
  if (!options.workload.empty()) {
    if (!kernel.grid.empty() || !kernel.block.empty() || !kernel.arguments.empty() ||
        !options.dumps.empty() || kernel.shared != 0) {
      throw InputError("weft run",
                       "--grid, --block, --shared, --arg and --dump are not allowed with --workload");
    }
    if (kernel.ptx.size() > 1)
      throw InputError("weft run", "found several --ptx; allowed with --workload: one");
    return run_workload(options);
  }
  if (kernel.ptx.empty()) throw InputError("weft run", "needs --workload NAME or --ptx FILE");
  if (options.session.resume || options.session.checkpoint.has_value()) {
    throw InputError(options.session.resume ? "--resume" : "--checkpoint",
                     "needs --workload: a run with --ptx has a single launch");
  }
  if (kernel.grid.empty() || kernel.block.empty())
    throw InputError("weft run", "--ptx needs --grid and --block");
  if (!options.size.empty()) throw InputError("weft run", "--size is allowed with --workload only");
  options.session.one_launch = true;
  return run_kernel(options);
}

}  // namespace weft::cli
