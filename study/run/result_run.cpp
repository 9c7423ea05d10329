#include "study/run/result_run.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "common/input_file.h"
#include "study/run/renames.h"
#include "weft/common/error.h"

namespace weft::study {

using nlohmann::ordered_json;
namespace fs = std::filesystem;

namespace {

constexpr const char* kAllowed = "allowed: a folder that weft run, compare or cuda has written (--out)";

bool is_file(const fs::path& path) {
  std::error_code none;
  return fs::exists(path, none) && !fs::is_directory(path, none);
}

// A program of the user's own does not know what is right. The command that ran it does (verification.h).
void take_verdict(const std::string& file, ordered_json& results) {
  if (!is_file(file)) return;
  const ordered_json verdict = read_json(file);
  if (!verdict.is_object() || !verdict.contains("state") || !verdict["state"].is_number()) return;
  const bool right = verdict["state"] == 0;
  results["verified"] = right;
  results["message"] = right ? "equal to the functional run" : verdict.value("reason", "");
}

ResultRun read_result_run(const std::string& folder) {
  ResultRun run{folder, read_json(folder + "/stats.json"), {}};
  const std::string file = run.file("stats.json");
  ordered_json& results = run.results;
  if (!results.is_object()) throw InputError(file, std::string("found no object; ") + kAllowed);
  take_last_device(results);
  if (!results.contains("statistics") || !results["statistics"].is_object()) {
    throw InputError(file, results.value("mode", "") == "functional"
                               ? "found a run without timing, which has no cycles; allowed: runs with timing"
                               : std::string("found no statistics; ") + kAllowed);
  }
  rename_results(results);
  take_verdict(run.file("verification.json"), results);
  run.config = read_json(run.file("config.json"));
  if (!run.config.is_object())
    throw InputError(run.file("config.json"), std::string("found no object; ") + kAllowed);
  return run;
}

}  // namespace

std::optional<std::string> ResultRun::text(const std::string& name) const {
  if (!is_file(file(name))) return std::nullopt;
  return read_regular_file(file(name));
}

ordered_json read_json(const std::string& file) {
  try {
    return ordered_json::parse(read_regular_file(file));
  } catch (const ordered_json::parse_error& error) {
    throw InputError(file, "found invalid JSON: " + std::string(error.what()) +
                               "; allowed: a file as weft has written it");
  }
}

ordered_json read_whole_json(const std::string& file) {
  try {
    return ordered_json::parse(read_regular_file(file));
  } catch (const InputError&) {
    return nullptr;
  } catch (const ordered_json::parse_error&) {
    return nullptr;
  }
}

void take_last_device(ordered_json& results) {
  if (!results.contains("devices") || !results["devices"].is_array() || results["devices"].empty()) return;
  const ordered_json device = results["devices"].back();
  if (device.is_object()) results.update(device);
}

std::vector<ResultRun> runs_of(const std::string& folder) {
  std::error_code none;
  if (!fs::is_directory(folder, none)) throw InputError(folder, std::string("found no folder; ") + kAllowed);
  std::vector<ResultRun> runs;
  if (is_file(fs::path(folder) / "stats.json")) {
    runs.push_back(read_result_run(folder));
    return runs;
  }
  if (!is_file(fs::path(folder) / "comparison.json"))
    throw InputError(folder, std::string("found neither stats.json nor comparison.json; ") + kAllowed);
  const fs::path below = fs::path(folder) / "runs";
  std::vector<std::string> folders;
  if (fs::is_directory(below, none)) {
    for (const fs::directory_entry& workload : fs::directory_iterator(below)) {
      if (!workload.is_directory()) continue;
      for (const fs::directory_entry& scheme : fs::directory_iterator(workload)) {
        if (is_file(scheme.path() / "stats.json")) folders.push_back(scheme.path().string());
      }
    }
  }
  // As the comparison lists them.
  const ordered_json comparison = read_json((fs::path(folder) / "comparison.json").string());
  const auto rank = [&](const std::string& path) {
    const fs::path run(path);
    std::size_t number = 0;
    if (!comparison.is_object() || !comparison.contains("runs")) return number;
    for (const ordered_json& row : comparison["runs"]) {
      if (row.is_object() && row.value("workload", "") == run.parent_path().filename() &&
          row.value("scheme", "") == run.filename())
        break;
      ++number;
    }
    return number;
  };
  std::sort(folders.begin(), folders.end());
  std::stable_sort(folders.begin(), folders.end(),
                   [&](const auto& a, const auto& b) { return rank(a) < rank(b); });
  for (const std::string& path : folders) runs.push_back(read_result_run(path));
  if (runs.empty())
    throw InputError(folder, "found a comparison without a finished run; allowed: a comparison with results");
  return runs;
}

}  // namespace weft::study
