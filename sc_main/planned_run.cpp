#include "sc_main/planned_run.h"

#include <algorithm>
#include <utility>

#include "common/input_file.h"
#include "common/output_files.h"
#include "sc_main/run_record.h"
#include "weft/warp_formation/plugins.h"

namespace weft::cli {

using nlohmann::ordered_json;

namespace {

// Empty if it cannot be read. No pipe or device, which could be waited for without end.
std::string content(const std::string& file) {
  try {
    return read_regular_file(file);
  } catch (const InputError&) {
    return "";
  }
}

ordered_json document(const std::string& file) {
  return ordered_json::parse(content(file), nullptr, false);
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

}  // namespace

PlannedRun::PlannedRun(std::string workload, std::string scheme, std::string size, SessionOptions session)
    : workload_(std::move(workload)),
      scheme_(std::move(scheme)),
      size_(std::move(size)),
      session_(std::move(session)) {
  make_folder(session_.out);
  remove_drafts(session_.out);
  try {
    const auto of = workloads::find(workload_);
    const SessionOptions all = with_settings(session_, *of, size_);
    const GpuConfig config = config_of(all);
    record_ = run_record(outcome_of(*of, size_), config, all, true);
    effective_ = effective_config(config).dump();
  } catch (const InputError&) {
    record_ = nullptr;  // the run will say why
  }
}

Row PlannedRun::unfinished(const std::string& why) const {
  return {workload_, scheme_, static_cast<int>(ExitCode::kFault), why, {}};
}

bool PlannedRun::is_of_any_build(const ordered_json& record) const {
  ordered_json mine = record_, other = record;
  for (const char* key : {"weft", "build", "config_fnv1a"}) {
    mine.erase(key);
    other.erase(key);
  }
  if (mine != other) return false;
  try {
    return effective_config(load_config(session_.out + "/config.json")).dump() == effective_;
  } catch (const InputError&) {
    return false;  // no configuration that this build reads
  }
}

bool PlannedRun::is_of_this_build() const {
  const ordered_json record = document(session_.out + "/run.json");
  return record.is_object() && record == record_;
}

std::optional<Row> PlannedRun::finished(Reuse reuse) const {
  if (reuse == Reuse::kNone) return {};
  // What is no JSON is not unequal to anything, for this library.
  const ordered_json record = document(session_.out + "/run.json");
  if (!record.is_object() || !record_.is_object()) return {};
  if (record != record_ && (reuse == Reuse::kOfThisBuild || !is_of_any_build(record))) return {};
  const ordered_json statistics = document(session_.out + "/stats.json");
  Row row = unfinished("");
  try {
    if (!statistics.at("fault").is_null()) {
      row.result = "fault: " + first_line(statistics.at("fault").get<std::string>());
      return row;
    }
    row.measures = Measures::of(statistics);
    const bool right = statistics.at("verified").get<bool>();
    row.exit_code = static_cast<int>(right ? ExitCode::kDone : ExitCode::kWrongResult);
    row.result = right ? "verified" : "wrong result: " + statistics.at("message").get<std::string>();
    return row;
  } catch (const ordered_json::exception&) {
    return {};  // not whole, or not Weft's
  } catch (const InputError&) {
    return {};  // the same
  }
}

std::string PlannedRun::build() const {
  const ordered_json record = document(session_.out + "/run.json");
  if (!record.is_object() || !record.contains("weft") || !record.contains("build")) return "";
  return record.at("weft").get<std::string>() + " " + record.at("build").get<std::string>();
}

Job PlannedRun::job() const {
  Job job{
      {"run", "--config", session_.config, "--workload", workload_, "--size", size_, "--out", session_.out},
      session_.out + "/messages.txt"};
  if (session_.max_cycles != 0)
    job.arguments.insert(job.arguments.end(), {"--max-cycles", std::to_string(session_.max_cycles)});
  for (const Plugin& plugin : plugins()) job.arguments.insert(job.arguments.end(), {"--plugin", plugin.file});
  if (session_.overrides.empty()) return job;
  job.arguments.emplace_back("--set");
  job.arguments.insert(job.arguments.end(), session_.overrides.begin(), session_.overrides.end());
  return job;
}

struct stat PlannedRun::results() const {
  struct stat status = {};
  if (stat((session_.out + "/stats.json").c_str(), &status) != 0) return {};
  return status;
}

void PlannedRun::starts() {
  before_ = results();
}

Row PlannedRun::ended(int exit_code) const {
  if (exit_code > static_cast<int>(ExitCode::kFault))
    return unfinished("killed by signal " + std::to_string(exit_code - 128));
  Row row = unfinished("");
  row.exit_code = exit_code;
  const std::string said = first_message(session_.out + "/messages.txt");
  if (exit_code == static_cast<int>(ExitCode::kBadInput)) {
    row.result = "refused: " + said;
    return row;
  }
  // A file that takes another's place was made while that was still there: it has another number.
  const struct stat now = results();
  const bool written = now.st_ino != before_.st_ino || now.st_dev != before_.st_dev;
  if (written) {
    if (std::optional<Row> result = finished()) return *result;
  }
  row.exit_code = std::max(exit_code, static_cast<int>(ExitCode::kFault));
  row.result = exit_code == static_cast<int>(ExitCode::kFault) ? "fault: " + said : "no results: " + said;
  return row;
}

}  // namespace weft::cli
