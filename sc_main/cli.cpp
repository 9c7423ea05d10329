#include "sc_main/cli.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/program_options/errors.hpp>
#include <csignal>
#include <iostream>
#include <system_error>

#include "study/run/processes.h"
#include "study/session/version.h"
#include "study/terminal/progress.h"
#include "study/terminal/table.h"

namespace weft::cli {
namespace {

constexpr std::array kCommands{
    Command{"run", "run a workload, or a kernel of a PTX file, and write statistics", run},
    Command{"compare", "run workloads under several schemes, side by side", compare},
    Command{"reproduce", "the papers' experiments, with a verdict on each of their claims", reproduce},
    Command{"sweep", "runs for all combinations of values, into a database that grows", sweep},
    Command{"demo", "breadth-first search on a 16-SM GPU, verified, with a breakdown of the cycles", demo},
    Command{"cuda", "run a CUDA program, unmodified, on the simulated GPU", cuda},
    Command{"report", "a page of results: bounds of runs, breakdown of cycles, divergence, memory, energy",
            report},
    Command{"annotate", "cycles, issues, lanes and memory of each line of a kernel, CUDA source and PTX",
            annotate},
    Command{"energy", "energy of finished runs, with other figures, and the sensitivity to each figure",
            energy},
    Command{"characterize",
            "characteristics of the kernels of a workload: instructions, divergence per branch, memory, "
            "occupancy",
            characterize},
    Command{"area", "size of the tables of a scheme and of the registers: bits, mm2, access time", area},
    Command{"list", "list configs, workloads, schemes, statistics or measures", list},
    Command{"check-config", "check a configuration file", check_config},
    Command{"schema", "print the JSON Schema of configurations", schema},
    Command{"ptx", "control-flow graph, reconvergence points and registers of the kernels of a PTX file",
            ptx},
    Command{"soc", "firmware on a host CPU that uses the GPU as a device", soc},
    Command{"measure", "latencies, throughputs and bandwidths of a machine, or of a real GPU", measure},
    Command{"bench", "speed of the simulator on four programs", bench},
};

// For those who make packages.
constexpr std::array kHiddenCommands{
    Command{"man", "the manual page, in roff", man},
    Command{"completion", "completion of the command line, for bash", completion},
};

void print_help(std::ostream& out) {
  out << "weft: a virtual platform of a SIMT GPU that runs PTX\n\n"
         "usage: weft COMMAND [OPTIONS]     (weft COMMAND --help for the options)\n\n";
  TextTable commands({{"", Align::kLeft}, {"", Align::kLeft}}, 1, 2);
  for (const Command& command : kCommands) commands.row({command.name, command.summary});
  out << commands.text()
      << "\nexit codes: 0 done and verified; 1 wrong result; 2 bad usage, configuration or input;\n"
         "            3 simulated fault, hang, interrupt or cycle limit\n";
}

ExitCode dispatch(const Words& words) {
  if (words.empty()) {
    print_help(std::cerr);
    return ExitCode::kBadInput;
  }
  if (words[0] == "--help" || words[0] == "-h" || words[0] == "help") {
    print_help(std::cout);
    return ExitCode::kDone;
  }
  if (words[0] == "--version") {
    std::cout << "weft " << version() << "\n";
    return ExitCode::kDone;
  }
  const Command* command = nullptr;
  const auto find_in = [&](const auto& candidates) {
    for (const Command& candidate : candidates) command = words[0] == candidate.name ? &candidate : command;
  };
  find_in(kCommands);
  find_in(kHiddenCommands);
  if (command == nullptr) {
    std::string known;
    for (const Command& candidate : kCommands)
      known += (known.empty() ? "" : ", ") + std::string(candidate.name);
    throw InputError("weft", "unknown command '" + words[0] + "'; known: " + known);
  }
  return command->run(Words(words.begin() + 1, words.end()));
}

ExitCode fail(ExitCode code, const std::string& message) {
  end_progress_line();
  std::cout.flush();
  std::cerr << Paint::of(STDERR_FILENO).bad("weft:") << " " << message << "\n";
  return code;
}

}  // namespace

std::vector<Command> commands() {
  return {kCommands.begin(), kCommands.end()};
}

int main(int argc, char** argv) {
  die_with_parent();
  // A limit on file sizes is an error of write(), to be reported like a full disk, not a reason to die.
  std::signal(SIGXFSZ, SIG_IGN);
  // So is a reader of standard output or of a pipe that goes (`| head`): the results in files are written
  // nevertheless.
  std::signal(SIGPIPE, SIG_IGN);
  // Without the standard streams, files would get their numbers, and in them what is said to people.
  for (int stream = STDIN_FILENO; stream <= STDERR_FILENO; ++stream) {
    if (fcntl(stream, F_GETFD) < 0 && open("/dev/null", O_RDONLY) < 0) break;
  }
  ExitCode code = ExitCode::kDone;
  try {
    code = dispatch(Words(argv + std::min(argc, 1), argv + argc));
    // A result that did not reach its reader is not a success.
    std::cout.flush();
    if (!std::cout) code = fail(ExitCode::kBadInput, "standard output cannot be written");
  } catch (const InputError& error) {
    code = fail(ExitCode::kBadInput, error.what());
  } catch (const boost::program_options::error& error) {
    code = fail(ExitCode::kBadInput, error.what());
  } catch (const SimulatedFault& fault) {
    code = fail(ExitCode::kFault, fault.what());
  } catch (const std::system_error& error) {  // of a file, a thread, a process
    code = fail(ExitCode::kBadInput, error.what());
  } catch (const std::exception& error) {
    code = fail(ExitCode::kFault, std::string("internal error: ") + error.what());
  }
  return static_cast<int>(code);
}

}  // namespace weft::cli
