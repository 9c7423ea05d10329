// `weft measure`: latencies, throughputs and bandwidths of a configuration, or of a real GPU by the same
// kernels.
#include <fmt/format.h>
#include <unistd.h>

#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>

#include "common/output_files.h"
#include "microbenchmarks/cuda_machine.h"
#include "microbenchmarks/results.h"
#include "microbenchmarks/weft_machine.h"
#include "sc_main/options.h"
#include "study/session/interrupt.h"
#include "study/terminal/progress.h"
#include "study/terminal/table.h"
#include "weft/runtime/device.h"

namespace weft::cli {
namespace {

using microbenchmarks::Measurement;
using microbenchmarks::Results;

struct MeasureRequest {
  std::string config, only, out, against;
  std::vector<std::string> overrides;
  bool gpu = false, list = false;
};

std::regex regex_of(const std::string& text) {
  try {
    return std::regex(text, std::regex::extended);
  } catch (const std::regex_error& error) {
    throw InputError("--only", "found '" + text + "'; allowed: a POSIX extended regular expression (" +
                                   error.what() + ")");
  }
}

std::vector<Measurement> chosen_measurements(const std::vector<Measurement>& all, const std::string& only) {
  if (only.empty()) return all;
  const std::regex pattern = regex_of(only);
  std::vector<Measurement> list;
  std::map<std::string, int> names;
  for (const Measurement& each : all) {
    names[each.name];
    if (std::regex_search(each.id(), pattern)) list.push_back(each);
  }
  if (!list.empty()) return list;
  std::string known;
  for (const auto& [name, unused] : names) known += (known.empty() ? "" : ", ") + name;
  throw InputError("--only", "found '" + only + "', which matches no measurement; allowed: a part of " +
                                 known + ", or of their parameters (weft measure --list)");
}

Results read_results(const std::string& path) {
  nlohmann::ordered_json json;
  try {
    json = nlohmann::ordered_json::parse(runtime::read_text(path));
  } catch (const nlohmann::ordered_json::parse_error& error) {
    throw InputError(path, error.what());
  }
  return microbenchmarks::from_json(json, path);
}

std::string shown(double value) {
  return fmt::format("{:.{}f}", value, value < 1 ? 4 : value < 1000 ? 2 : 0);
}

std::string parameters_text(const microbenchmarks::Result& result) {
  return result.parameters.empty() ? "" : result.id().substr(result.name.size() + 1);
}

void print_results(const Results& results, const std::optional<Results>& other, const std::string& file) {
  std::vector<TextColumn> columns{{"measurement", Align::kLeft}, {"of", Align::kLeft}, {results.machine}};
  std::map<std::string, double> there;
  if (other) {
    columns.push_back({other->machine});
    columns.push_back({"ratio"});
    for (const auto& each : other->measurements) there[each.id()] = each.value;
  }
  columns.push_back({"unit", Align::kLeft});
  TextTable table(columns, 2);
  std::size_t missing = 0;
  for (const auto& each : results.measurements) {
    std::vector<std::string> cells{each.name, parameters_text(each), shown(each.value)};
    if (other) {
      const auto found = there.find(each.id());
      missing += found == there.end() ? 1 : 0;
      cells.push_back(found == there.end() ? "-" : shown(found->second));
      cells.push_back(found == there.end() || found->second == 0 ? "-" : shown(each.value / found->second));
    }
    cells.push_back(each.unit);
    table.row(cells);
  }
  std::cout << table.text(0, Paint::of(STDOUT_FILENO));
  for (const auto& [id, why] : results.refused) std::cout << "refused: " << id << ": " << why << "\n";
  if (missing != 0)
    std::cout << missing << (missing == 1 ? " measurement is" : " measurements are") << " not in " << file
              << "\n";
}

std::unique_ptr<microbenchmarks::Machine> measured_machine(const MeasureRequest& request) {
  if (!request.gpu)
    return microbenchmarks::make_weft_machine(
        load_config(request.config.empty() ? "gtx480" : request.config, request.overrides), interrupted);
  try {
    return microbenchmarks::make_cuda_machine(microbenchmarks::open_library("libcuda.so.1"));
  } catch (const std::runtime_error& error) {
    throw InputError("--gpu", error.what());
  }
}

}  // namespace

ExitCode measure(const Words& words) {
  MeasureRequest request;
  Options options("options");
  options.text("config", request.config, "NAME", "machine: a name or a JSON file (gtx480)")
      .list("set", request.overrides, "PATH=VALUE", "override values")
      .flag("gpu", request.gpu, "measure this computer's NVIDIA GPU instead, through its driver")
      .text("only", request.only, "REGEX", "only measurements that match, by name or parameters")
      .flag("list", request.list, "list the measurements, and run none")
      .text("out", request.out, "FILE", "write the results as JSON")
      .text("against", request.against, "FILE", "show the results of this file beside")
      .plugins();
  if (!parse(words, "weft measure [--config NAME|FILE | --gpu] [--only REGEX] [--out FILE] [--against FILE]",
             options))
    return ExitCode::kDone;
  const char* const other_option = !request.config.empty()      ? "--config"
                                   : !request.overrides.empty() ? "--set"
                                                                : nullptr;
  if (request.gpu && other_option != nullptr)
    throw InputError("--gpu", std::string("found ") + other_option + " as well; allowed: one of the two");
  std::optional<Results> other;
  if (!request.against.empty()) other = read_results(request.against);
  if (!request.out.empty()) check_writable(request.out);
  catch_interrupts();
  const std::unique_ptr<microbenchmarks::Machine> machine = measured_machine(request);
  microbenchmarks::Bench bench(*machine);
  const std::vector<Measurement> list =
      chosen_measurements(microbenchmarks::all_measurements(bench.facts(), bench.sizes()), request.only);
  if (request.list) {
    for (const Measurement& each : list) std::cout << each.id() << " [" << each.unit << "]\n";
    return ExitCode::kDone;
  }
  const Results results = measure(bench, list, [&](std::size_t done, const Measurement& now) {
    show_progress_line(fmt::format("{} of {}: {}", done + 1, list.size(), now.id()));
  });
  end_progress_line();
  print_results(results, other, request.against);
  if (!request.out.empty()) replace_file(request.out, json_text(results));
  return ExitCode::kDone;
}

}  // namespace weft::cli
