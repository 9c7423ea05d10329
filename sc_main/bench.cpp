#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>

#include "sc_main/bench_history.h"
#include "sc_main/options.h"
#include "study/run/processes.h"
#include "study/session/session.h"
#include "study/terminal/progress.h"
#include "study/terminal/table.h"

namespace weft::cli {
namespace {

using nlohmann::ordered_json;

// Each at its default size, with the PTX of workloads/nvcc.
constexpr std::array<const char*, 4> kPrograms{"vector_add", "matrix_multiply", "bfs", "coulombic_potential"};
// The figure that is compared. Other simulators count executed threads, too.
constexpr const char* kSpeed = "executed_thread_instructions_per_cpu_second";
constexpr Bounds kRepeatBounds{1, 1000, 1, "times"};

struct Request {
  SessionOptions session;
  std::string workload, size;
  std::uint64_t repeat = 1;
  bool as_json = false, here = false;
};

// Runs one program in this process.
ordered_json measure_speed(const std::string& name, const Request& request) {
  const auto workload = workloads::find(name);
  const auto values = workloads::values_of(*workload, request.size);
  const workloads::Code code = workloads::nvcc_code(name).value_or(workload->code());
  Session session(with_settings(request.session, *workload, request.size));
  const workloads::Result result = workloads::run(*workload, session.device(), values, code);
  end_progress_line();
  const runtime::Device& device = session.device();
  const Totals totals = session.device().gpu().totals();
  const functional::Counters& functional = device.functional_counters();
  const std::uint64_t threads = totals.thread_instructions + functional.thread_instructions;
  const std::uint64_t executed =
      totals.executed_thread_instructions + functional.executed_thread_instructions;
  const double cpu = device.effort().cpu_seconds;
  ordered_json json;
  json["workload"] = name;
  json["compiler"] = code.compiler;
  json["mode"] = mode_of(request.session);
  json["verified"] = result.verified;
  json["thread_instructions"] = threads;
  json["executed_thread_instructions"] = executed;
  json["warp_instructions"] = totals.warp_instructions + functional.warp_instructions;
  if (!request.session.functional) json["cycles"] = totals.cycles;
  json["cpu_seconds"] = cpu;
  json["thread_instructions_per_cpu_second"] = cpu > 0 ? static_cast<double>(threads) / cpu : 0.0;
  json[kSpeed] = cpu > 0 ? static_cast<double>(executed) / cpu : 0.0;
  json["peak_memory_bytes"] = peak_memory_bytes();
  return json;
}

Words command_of(const std::string& name, const Request& request) {
  Words command{"weft", "bench", "--workload", name, "--here", "--json", "--config", request.session.config};
  if (request.session.functional) command.emplace_back("--functional");
  if (!request.size.empty()) command.insert(command.end(), {"--size", request.size});
  for (const std::string& setting : request.session.overrides) {
    command.insert(command.end(), {"--set", setting});
  }
  return command;
}

// Runs one program in a process of its own: SystemC elaborates once per process, and peak memory is the
// program's own.
ordered_json measure_apart(const std::string& name, const Request& request) {
  Words command = command_of(name, request);
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

// The fastest of several measurements of one program, with how far they lie apart.
ordered_json best_of(const std::vector<ordered_json>& measured) {
  const auto seconds = [](const ordered_json& one) { return one["cpu_seconds"].get<double>(); };
  const auto [best, worst] = std::minmax_element(
      measured.begin(), measured.end(),
      [&](const ordered_json& a, const ordered_json& b) { return seconds(a) < seconds(b); });
  ordered_json result = *best;
  result["verified"] = std::all_of(measured.begin(), measured.end(),
                                   [](const ordered_json& one) { return one["verified"].get<bool>(); });
  result["repeats"] = measured.size();
  result["spread_percent"] = seconds(*best) > 0 ? (seconds(*worst) / seconds(*best) - 1) * 100 : 0.0;
  return result;
}

// The programs take turns, so that a machine that becomes slower or faster does so for all of them.
ordered_json measure_all(const Request& request) {
  Words names(kPrograms.begin(), kPrograms.end());
  if (!request.workload.empty()) names = {request.workload};
  std::vector<std::vector<ordered_json>> measured(names.size());
  for (std::uint64_t turn = 0; turn < request.repeat; ++turn) {
    for (std::size_t i = 0; i < names.size(); ++i) measured[i].push_back(measure_apart(names[i], request));
  }
  ordered_json results = ordered_json::array();
  for (const auto& of_program : measured) results.push_back(best_of(of_program));
  return results;
}

// Adds to each result how it compares with the last one of this machine, which it then replaces.
void compare_with_earlier(ordered_json& results, const Request& request) {
  BenchHistory history(BenchHistory::default_file());
  for (ordered_json& result : results) {
    const BenchHistory::Key key{result["workload"], result["mode"], request.session.config, request.size,
                                request.session.overrides};
    const double speed = result[kSpeed].get<double>();
    result["earlier"] = nullptr;
    if (const auto earlier = history.find(key)) {
      result["earlier"] = {{"date", earlier->date}, {"version", earlier->version}, {kSpeed, earlier->speed}};
      result["change_percent"] = (speed / earlier->speed - 1) * 100;
    }
    if (result["verified"].get<bool>() && speed > 0) history.keep(key, speed);
  }
  const std::string problem = history.save();
  if (!problem.empty())
    std::cerr << "weft: these figures are not kept for the next time: " << problem << "\n";
}

// "+3.1 % since 2026-11-27 17:40", in UTC.
std::string change_of(const ordered_json& result) {
  if (!result.contains("change_percent")) return "no earlier figure";
  const auto date = result["earlier"]["date"].get<std::string>();
  return fmt::format("{:+.1f} % since {} {}", result["change_percent"].get<double>(), date.substr(0, 10),
                     date.size() >= 16 ? date.substr(11, 5) : "");
}

void print(const ordered_json& results) {
  const Paint paint = Paint::of(STDOUT_FILENO);
  const bool compared = results.front().contains("earlier");
  const bool repeated = results.front().value("repeats", 1u) > 1;
  std::vector<TextColumn> columns{{"program", Align::kLeft, 20},  {"issued", Align::kRight, 8},
                                  {"executed", Align::kRight, 8}, {"cycles", Align::kRight, 8},
                                  {"CPU s", Align::kRight, 6},    {"M/s", Align::kRight, 7},
                                  {"MB", Align::kRight, 5}};
  if (repeated) columns.push_back({"spread"});
  if (compared) columns.push_back({"speed, date in UTC", Align::kLeft});
  columns.push_back({"", Align::kLeft});
  TextTable table(columns);
  for (const auto& result : results) {
    std::vector<std::string> cells{result["workload"].get<std::string>(),
                                   result["thread_instructions"].dump(),
                                   result["executed_thread_instructions"].dump(),
                                   result.contains("cycles") ? result["cycles"].dump() : "-",
                                   fmt::format("{:.2f}", result["cpu_seconds"].get<double>()),
                                   fmt::format("{:.2f}", result[kSpeed].get<double>() / 1e6),
                                   fmt::format("{:.0f}", result["peak_memory_bytes"].get<double>() / 1e6)};
    if (repeated) cells.push_back(fmt::format("{:.1f} %", result["spread_percent"].get<double>()));
    if (compared) cells.push_back(change_of(result));
    cells.push_back(result["verified"].get<bool>() ? "" : paint.bad("WRONG RESULT"));
    table.row(std::move(cells));
  }
  std::cout
      << table.text(0, paint)
      << "\nissued, executed: instructions times threads; those whose guard does not hold are issued and not "
         "executed\nM/s: million executed per CPU second\n";
}

// False: --help was asked for.
bool read(const Words& words, Request& request) {
  Options options("options");
  options.flag("json", request.as_json, "print an array of objects")
      .text("workload", request.workload, "NAME", "only this program; one without PTX of nvcc has its own")
      .text("size", request.size, "SIZE", "as for weft run, instead of the default")
      .text("config", request.session.config, "NAME", "name or JSON file")
      .flag("functional", request.session.functional, "without timing")
      .list("set", request.session.overrides, "PATH=VALUE", "override values")
      .number("repeat", request.repeat, kRepeatBounds, "measure in so many turns and show the fastest")
      .flag("here", request.here,
            "run --workload once in this process, for a profiler; compares with no earlier figure");
  if (!parse(words, "weft bench [--json] [OPTIONS]", options)) return false;
  if (!request.here) return true;
  if (request.workload.empty()) throw InputError("--here", "needs --workload NAME");
  if (request.repeat != 1)
    throw InputError("--here", "runs once; found --repeat " + std::to_string(request.repeat));
  return true;
}

}  // namespace

ExitCode bench(const Words& words) {
  Request request;
  if (!read(words, request)) return ExitCode::kDone;
  ordered_json results = ordered_json::array();
  if (request.here) {
    results.push_back(measure_speed(request.workload, request));
  } else {
    if (!request.workload.empty()) workloads::find(request.workload);
    results = measure_all(request);
    compare_with_earlier(results, request);
  }
  if (request.as_json) {
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
