#include "study/run/folder_store.h"

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/config_document.h"
#include "common/output_files.h"
#include "study/plan/identity.h"
#include "study/run/renames.h"
#include "study/run/result_run.h"
#include "study/run/verification.h"
#include "study/session/session.h"
#include "weft/common/error.h"

namespace weft::study {

using nlohmann::ordered_json;

namespace {

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

// Zeros: the file is not there.
struct stat status_of(const std::string& file) {
  struct stat status = {};
  if (stat(file.c_str(), &status) != 0) return {};
  return status;
}

// What names the same work whatever the build.
std::string key_of(const Run& run) {
  std::string key = run.kind_of_work();
  for (const std::string& text : run.overrides) key += " " + text;
  return key;
}

// The configuration with which a build with other keys ran, as this build has it. Throws InputError.
std::string effective_in(const std::string& folder) {
  const std::string file = folder + "/config.json";
  nlohmann::json document = config::read_file(file);
  rename_keys(document);
  return effective_config(load_config_document(document, file)).dump();
}

// Runs that were killed leave drafts of their results.
void remove_drafts_below(const std::string& folder) {
  std::error_code none;
  for (const auto& program : std::filesystem::directory_iterator(folder, none)) {
    std::error_code no_folder;
    for (const auto& run : std::filesystem::directory_iterator(program.path(), no_folder)) {
      if (run.is_directory(no_folder)) remove_drafts(run.path().string());
    }
  }
}

}  // namespace

FolderStore::FolderStore(std::string folder, Builds builds) : folder_(std::move(folder)), builds_(builds) {
  remove_drafts_below(folder_);
  const std::string file = folder_ + "/seconds.json";
  std::error_code none;
  if (!std::filesystem::is_regular_file(file, none)) return;
  const auto json = read_whole_json(file);
  if (!json.is_object()) return;
  for (const auto& [key, value] : json.items()) {
    if (value.is_number()) seconds_[key] = value.get<double>();
  }
}

std::string FolderStore::own_folder(const Run& run) const {
  return folder_ + "/" + (run.folder.empty() ? run.program + "/" + run.spec_id : run.folder);
}

std::string FolderStore::folder_of(const Run& run) const {
  std::string own = own_folder(run);
  if (builds_ != Builds::kAny || run.refused || !run.verifies_itself()) return own;
  const auto known = found_.find(own);
  if (known != found_.end()) return known->second;
  if (end_in(own, run, Builds::kThis)) return own;
  if (there_.count(run.program) == 0) {
    auto& found = there_[run.program];
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ + "/" + run.program, none)) {
      try {
        found.emplace(effective_in(entry.path().string()), entry.path().string());
      } catch (const InputError&) {
        continue;  // no results, or of no configuration that this build reads
      }
    }
  }
  // The order of a folder's entries is the file system's; names are not.
  std::set<std::string> candidates;
  const auto [first, last] = there_[run.program].equal_range(*run.effective);
  for (auto one = first; one != last; ++one) candidates.insert(one->second);
  for (const std::string& folder : candidates) {
    if (end_in(folder, run, Builds::kAny)) return found_[own] = folder;
  }
  return found_[own] = own;
}

bool FolderStore::is_of_any_build(const std::string& folder, const Run& run) const {
  ordered_json mine = ordered_json::parse(run.record), other = read_whole_json(folder + "/run.json");
  remove_build(mine);
  remove_build(other);
  if (mine != other) return false;
  try {
    return effective_in(folder) == *run.effective;
  } catch (const InputError&) {
    return false;  // no configuration that this build reads
  }
}

std::optional<RunEnd> FolderStore::program_end_in(const std::string& folder, const Run& run,
                                                  Builds builds) const {
  std::optional<RunEnd> end = verdict_of(run, folder, builds == Builds::kAny);
  if (!end.has_value() || run.functional || end->state == RunEnd::State::kFault) return end;
  try {
    ordered_json results = runs_of(folder).at(0).results;
    if (!results.contains("cpu_seconds")) results["cpu_seconds"] = end->cpu_seconds;  // of a CUDA program
    end->measures = std::make_shared<const Measures>(Measures::of(results));
    end->cpu_seconds = end->measures->cpu_seconds;
    return end;
  } catch (const ordered_json::exception&) {
    return {};  // not whole, or not Weft's
  } catch (const InputError&) {
    return {};  // the same
  }
}

std::optional<RunEnd> FolderStore::end_in(const std::string& folder, const Run& run, Builds builds) const {
  if (!run.verifies_itself()) return program_end_in(folder, run, builds);
  const ordered_json record = read_whole_json(folder + "/run.json");
  if (!record.is_object() || run.record.empty()) return {};
  if (record.dump() != run.record && (builds == Builds::kThis || !is_of_any_build(folder, run))) return {};
  ordered_json statistics = read_whole_json(folder + "/stats.json");
  RunEnd end;
  try {
    rename_results(statistics);
    if (!statistics.at("fault").is_null()) {
      end.state = RunEnd::State::kFault;
      end.reason = first_line(statistics.at("fault").get<std::string>());
      return end;
    }
    end.measures = std::make_shared<const Measures>(Measures::of(statistics));
    end.cpu_seconds = end.measures->cpu_seconds;
    const bool right = statistics.at("verified").get<bool>();
    end.code = static_cast<int>(right ? ExitCode::kDone : ExitCode::kWrongResult);
    end.state = right ? RunEnd::State::kDone : RunEnd::State::kWrong;
    if (!right) end.reason = statistics.at("message").get<std::string>();
    return end;
  } catch (const ordered_json::exception&) {
    return {};  // not whole, or not Weft's
  } catch (const InputError&) {
    return {};  // the same
  }
}

std::optional<RunEnd> FolderStore::end_of(const Run& run) const {
  if (run.refused) return {};
  return end_in(folder_of(run), run, builds_);
}

std::string FolderStore::build_of(const Run& run) const {
  const std::string folder = folder_of(run);
  const ordered_json record =
      read_whole_json(run.verifies_itself() ? folder + "/run.json" : verdict_file(folder));
  if (!record.is_object() || !record.contains("weft") || !record.contains("build")) return "unknown";
  return record.at("weft").get<std::string>() + " " + record.at("build").get<std::string>();
}

std::string FolderStore::what_counts() const {
  return builds_ == Builds::kAny ? "configuration and program" : "build, configuration and program";
}

std::optional<double> FolderStore::seconds_of(const Run& run) const {
  const auto same = seconds_.find(key_of(run));
  if (same != seconds_.end()) return same->second;
  const std::string beginning = run.kind_of_work();
  double sum = 0, count = 0;
  for (auto one = seconds_.lower_bound(beginning);
       one != seconds_.end() && one->first.rfind(beginning, 0) == 0; ++one) {
    if (one->first.size() != beginning.size() && one->first[beginning.size()] != ' ') continue;
    sum += one->second;
    ++count;
  }
  if (count == 0) return {};
  return sum / count;
}

void FolderStore::remember(const Run& run, double seconds) {
  seconds_[key_of(run)] = std::round(seconds * 1000) / 1000;
  if (!seconds_writable_) return;
  try {
    replace_file(folder_ + "/seconds.json", nlohmann::json(seconds_).dump(1) + "\n");
  } catch (const InputError&) {
    seconds_writable_ = false;  // only an estimate is lost
  }
}

void FolderStore::begins(const Run& run) {
  const std::string folder = folder_of(run);
  make_folder(folder);
  if (!run.verifies_itself()) return forget_results(folder);
  before_[folder] = status_of(folder + "/stats.json");
}

RunEnd FolderStore::take(const Run& run, const Job& job, const JobEnd& job_end) {
  const std::string folder = folder_of(run);
  if (!run.verifies_itself()) {
    RunEnd end = verify(run, folder, run.reference == nullptr ? "" : folder_of(*run.reference), job, job_end);
    const std::optional<RunEnd> result = program_end_in(folder, run, Builds::kThis);
    if (result && result->measures) remember(run, result->cpu_seconds);
    return result.value_or(end);
  }
  RunEnd end = end_of_job(job, job_end);
  if (end.state == RunEnd::State::kRefused || end.state > RunEnd::State::kNoResults) return end;
  // A run that replaces stats.json makes another file. One that is older than the run is not its result.
  const struct stat now = status_of(folder + "/stats.json"), before = before_[folder];
  before_.erase(folder);
  if (now.st_ino != before.st_ino || now.st_dev != before.st_dev) {
    if (std::optional<RunEnd> result = end_in(folder, run, Builds::kThis)) {
      if (result->measures) remember(run, result->cpu_seconds);
      return *result;
    }
  }
  if (end.state != RunEnd::State::kFault) {
    end.state = RunEnd::State::kNoResults;
    end.reason = first_message(job.messages);
  }
  end.code = static_cast<int>(ExitCode::kFault);
  return end;
}

}  // namespace weft::study
