#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>

#include "sc_main/options.h"
#include "study/run/processes.h"
#include "study/session/session.h"
#include "study/terminal/progress.h"
#include "study/terminal/table.h"

namespace weft::cli {
namespace {

using nlohmann::ordered_json;

// The published comparison: each at its default size.
constexpr std::array<const char*, 4> kPrograms{"vector_add", "matrix_multiply", "bfs", "coulombic_potential"};

// Runs one program in this process.
ordered_json measure(const std::string& name, const std::string& size, const SessionOptions& options) {
  const auto workload = workloads::find(name);
  const auto values = workloads::values_of(*workload, size);
  Session session(with_settings(options, *workload, size));
  const workloads::Result result = workloads::run(*workload, session.device(), values, workload->code());
  end_progress_line();
  const runtime::Device& device = session.device();
  const Totals totals = session.device().gpu().totals();
  const functional::Counters& functional = device.functional_counters();
  const std::uint64_t threads = totals.thread_instructions + functional.thread_instructions;
  const double cpu = device.effort().cpu_seconds;
  ordered_json json;
  json["workload"] = name;
  json["mode"] = mode_of(options);
  json["verified"] = result.verified;
  json["thread_instructions"] = threads;
  json["warp_instructions"] = totals.warp_instructions + functional.warp_instructions;
  if (!options.functional) json["cycles"] = totals.cycles;
  json["cpu_seconds"] = cpu;
  json["thread_instructions_per_cpu_second"] = cpu > 0 ? static_cast<double>(threads) / cpu : 0.0;
  json["peak_memory_bytes"] = peak_memory_bytes();
  return json;
}

// Runs one program in a process of its own: SystemC elaborates once per process, and peak memory is the
// program's own.
ordered_json measure_apart(const std::string& name, const Words& words) {
  Words command{"weft", "bench"};
  command.insert(command.end(), words.begin(), words.end());
  command.insert(command.end(), {"--workload", name, "--json"});
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  int ends[2];
  if (pipe(ends) != 0) throw InputError("", std::string("cannot create a pipe: ") + std::strerror(errno));
  const pid_t parent = getpid(), child = fork();
  if (child < 0) throw InputError("", std::string("cannot create a process: ") + std::strerror(errno));
  if (child == 0) {
    die_with(parent);
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    execv("/proc/self/exe", arguments.data());
    _exit(static_cast<int>(ExitCode::kFault));
  }
  close(ends[1]);
  std::string output;
  std::array<char, 4096> buffer{};
  ssize_t got = 0;
  while ((got = read(ends[0], buffer.data(), buffer.size())) > 0 || (got < 0 && errno == EINTR)) {
    if (got > 0) output.append(buffer.data(), static_cast<std::size_t>(got));
  }
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  const ordered_json array = ordered_json::parse(output, nullptr, false);
  if (!WIFEXITED(status) || !array.is_array() || array.size() != 1) {
    // The child has said on standard error what went wrong; its code says what kind of thing.
    const std::string message = "bench: " + name + " did not finish";
    if (WIFEXITED(status) && WEXITSTATUS(status) == static_cast<int>(ExitCode::kBadInput)) {
      throw InputError("", message);
    }
    throw SimulatedFault(message);
  }
  return array.front();
}

void print(const ordered_json& results) {
  const Paint paint = Paint::of(STDOUT_FILENO);
  TextTable table({{"program", Align::kLeft, 20},
                   {"thread instructions"},
                   {"cycles", Align::kRight, 10},
                   {"CPU s", Align::kRight, 7},
                   {"M instr/s"},
                   {"MB", Align::kRight, 6},
                   {"", Align::kLeft}});
  for (const auto& result : results) {
    table.row({result["workload"].get<std::string>(), result["thread_instructions"].dump(),
               result.contains("cycles") ? result["cycles"].dump() : "-",
               fmt::format("{:.2f}", result["cpu_seconds"].get<double>()),
               fmt::format("{:.2f}", result["thread_instructions_per_cpu_second"].get<double>() / 1e6),
               fmt::format("{:.0f}", result["peak_memory_bytes"].get<double>() / 1e6),
               result["verified"].get<bool>() ? "" : paint.bad("WRONG RESULT")});
  }
  std::cout << table.text(0, paint);
}

}  // namespace

ExitCode bench(const Words& words) {
  bool as_json = false;
  std::string workload, size;
  SessionOptions session;
  Options options("options");
  options.flag("json", as_json, "print an array of objects")
      .text("workload", workload, "NAME", "run only this program, in this process")
      .text("size", size, "SIZE", "as for weft run, instead of the default")
      .text("config", session.config, "NAME", "name or JSON file")
      .flag("functional", session.functional, "without timing")
      .list("set", session.overrides, "PATH=VALUE", "override values");
  if (!parse(words, "weft bench [--json] [OPTIONS]", options)) return ExitCode::kDone;

  ordered_json results = ordered_json::array();
  if (!workload.empty()) {
    results.push_back(measure(workload, size, session));
  } else {
    Words passed;
    for (const std::string& word : words) {
      if (word != "--json") passed.push_back(word);
    }
    for (const char* name : kPrograms) results.push_back(measure_apart(name, passed));
  }
  if (as_json) {
    std::cout << results.dump(2) << "\n";
  } else {
    print(results);
  }
  for (const auto& result : results) {
    if (!result["verified"].get<bool>()) return ExitCode::kWrongResult;
  }
  return ExitCode::kDone;
}

}  // namespace weft::cli
