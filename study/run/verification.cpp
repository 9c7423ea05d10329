#include "study/run/verification.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "common/digest.h"
#include "common/output_files.h"
#include "study/run/result_run.h"
#include "study/run/results_folder.h"
#include "study/session/interrupt.h"
#include "study/session/run_record.h"
#include "study/session/version.h"
#include "weft/common/error.h"

namespace weft::study {

using nlohmann::ordered_json;
using State = RunEnd::State;

namespace {

constexpr const char* kStandardOutput = "standard output";

// What a program came to.
struct Computed {
  int exit_code = 0;
  std::vector<Output> outputs;
};

// Calls `part` with the bytes of a file. False: it cannot be read.
template <class Part>
bool read_parts(const std::string& file, Part&& part) {
  std::ifstream in(file, std::ios::binary);
  std::vector<char> bytes(std::size_t{1} << 20);
  while (in) {
    in.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    part(bytes.data(), static_cast<std::size_t>(in.gcount()));
  }
  return in.eof();
}

std::vector<Output> outputs_of(const ordered_json& json) {
  std::vector<Output> list;
  if (!json.is_object() || !json.contains("outputs")) return list;
  for (const ordered_json& one : json.at("outputs")) {
    list.push_back({one.at("name").get<std::string>(), one.at("bytes").get<std::uint64_t>(),
                    one.at("xxh3").get<std::string>()});
  }
  return list;
}

ordered_json json_of(const Computed& computed) {
  ordered_json json{{"exit_code", computed.exit_code}, {"outputs", ordered_json::array()}};
  for (const Output& output : computed.outputs)
    json["outputs"].push_back({{"name", output.name}, {"bytes", output.bytes}, {"xxh3", output.xxh3}});
  return json;
}

// By the results of a run that ended well. Throws InputError.
Computed computed_by(const Run& run, const std::string& folder, const JobEnd& end) {
  Computed computed{end.code, {}};
  if (run.kind == Run::Kind::kCuda) {
    Digest digest;
    const auto add = [&](const char* bytes, std::size_t count) { digest.add(bytes, count); };
    if (!read_parts(output_file(run, folder), add))
      throw InputError(output_file(run, folder), "the output of the program cannot be read");
    computed.outputs.push_back({kStandardOutput, digest.bytes(), digest.text()});
  }
  for (Output& output : outputs_of(read_whole_json(folder + "/stats.json")))
    computed.outputs.push_back(std::move(output));
  return computed;
}

// The first byte in which two files differ, or the length of the shorter one.
std::uint64_t first_difference(const std::string& a, const std::string& b) {
  std::ifstream one(a, std::ios::binary), other(b, std::ios::binary);
  std::uint64_t at = 0;
  for (;; ++at) {
    const int left = one.get(), right = other.get();
    if (left != right || left == std::char_traits<char>::eof()) return at;
  }
}

// Empty: they are the same.
std::string difference(const Computed& mine, const Computed& other) {
  if (mine.exit_code != other.exit_code) {
    return "exit code " + std::to_string(mine.exit_code) + "; the functional run has " +
           std::to_string(other.exit_code);
  }
  const std::size_t both = std::min(mine.outputs.size(), other.outputs.size());
  for (std::size_t i = 0; i < both; ++i) {
    const Output &found = mine.outputs[i], &expected = other.outputs[i];
    if (found.name == expected.name && found.bytes == expected.bytes && found.xxh3 == expected.xxh3) continue;
    std::string differs = found.name + " differs from the functional run";
    if (found.bytes == expected.bytes) return differs;
    return differs + ": " + std::to_string(found.bytes) + " bytes, not " + std::to_string(expected.bytes);
  }
  if (mine.outputs.size() > both) return "the functional run has no " + mine.outputs[both].name;
  if (other.outputs.size() > both)
    return "the run has no " + other.outputs[both].name + ", but the functional run has";
  return "";
}

bool has_stopped(const ordered_json& stats) {
  return stats.is_object() && stats.value("interrupted", false);
}

// A CUDA program has exit codes of its own. Its results say whether it came to its end.
RunEnd end_of_cuda(const Run& run, const std::string& folder, const Job& job, const JobEnd& job_end) {
  const ordered_json stats = read_whole_json(folder + "/stats.json");
  const bool killed = has_stopped(stats) || (stats.is_null() && job_end.code > 128);
  if (killed || job_end.stopped != JobEnd::Stopped::kNot) {
    JobEnd end = job_end;
    end.code = std::max(end.code, 129);
    return end_of_job(job, end);
  }
  RunEnd end;
  end.cpu_seconds = job_end.cpu_seconds;
  const auto ended = [&](State state, ExitCode code, std::string reason) {
    end.state = state;
    end.code = static_cast<int>(code);
    end.reason = std::move(reason);
    return end;
  };
  const std::string said = first_message(job.messages), more = said == kNoMessage ? "" : ": " + said;
  if (stats.is_null()) {
    if (job_end.code == static_cast<int>(ExitCode::kBadInput))
      return ended(State::kRefused, ExitCode::kBadInput, said);
    std::string why = "the program did not use the device";
    if (job_end.code != 0) why += ", and its exit code is " + std::to_string(job_end.code);
    return ended(State::kNoResults, ExitCode::kFault, why + more);
  }
  if (const ordered_json& fault = stats.at("fault"); fault != 0)
    return ended(State::kFault, ExitCode::kFault, said);
  if (stats.at("devices").empty())
    return ended(State::kNoResults, ExitCode::kFault, "the program ran no kernel" + more);
  if (!run.functional) {
    try {
      runs_of(folder);
    } catch (const InputError& error) {
      return ended(State::kNoResults, ExitCode::kFault, error.what());
    }
  }
  return ended(State::kDone, ExitCode::kDone, "");
}

RunEnd end_of(const Run& run, const std::string& folder, const Job& job, const JobEnd& job_end) {
  if (run.kind == Run::Kind::kCuda) return end_of_cuda(run, folder, job, job_end);
  RunEnd end = end_of_job(job, job_end);
  if (!end.done() || !read_whole_json(folder + "/stats.json").is_null()) return end;
  end.state = State::kNoResults;
  end.reason = first_message(job.messages);
  end.code = static_cast<int>(ExitCode::kFault);
  return end;
}

void set_wrong(State state, ExitCode code, std::string reason, RunEnd& end) {
  end.state = state;
  end.code = static_cast<int>(code);
  end.reason = std::move(reason);
}

void compare(const Run& run, const std::string& folder, const std::string& reference,
             const Computed& computed, RunEnd& end) {
  const auto other = run.reference == nullptr ? std::nullopt : verdict_of(*run.reference, reference, false);
  if (!other.has_value() || !other->done()) {
    return set_wrong(State::kNoResults, ExitCode::kFault,
                     "no reference for results: functional run " + (other ? other->text() : "not finished"),
                     end);
  }
  const ordered_json json = read_whole_json(verdict_file(reference));
  const Computed expected{json.at("exit_code").get<int>(), outputs_of(json)};
  std::string wrong = difference(computed, expected);
  if (wrong.empty()) return;
  if (wrong.rfind(kStandardOutput, 0) == 0) {
    const auto byte = first_difference(output_file(run, folder), output_file(*run.reference, reference));
    wrong = std::string(kStandardOutput) + " differs from the functional run at byte " + std::to_string(byte);
  }
  set_wrong(State::kWrong, ExitCode::kWrongResult, std::move(wrong), end);
}

// Whether a run that ended so would end so again.
bool is_final(State state) {
  return state == State::kDone || state == State::kWrong || state == State::kFault;
}

}  // namespace

std::string verdict_file(const std::string& folder) {
  return folder + "/verification.json";
}

std::string output_file(const Run& run, const std::string& folder) {
  return run.kind == Run::Kind::kCuda ? folder + "/output.txt" : "";
}

void forget_results(const std::string& folder) {
  std::error_code none;
  for (const std::string& file : {verdict_file(folder), folder + "/stats.json"})
    std::filesystem::remove(file, none);
}

RunEnd verify(const Run& run, const std::string& folder, const std::string& reference, const Job& job,
              const JobEnd& job_end) {
  RunEnd end = end_of(run, folder, job, job_end);
  end.cpu_seconds = job_end.cpu_seconds;
  Computed computed;
  try {
    if (end.done()) {
      computed = computed_by(run, folder, job_end);
      if (!run.functional) compare(run, folder, reference, computed, end);
    }
  } catch (const std::exception& error) {  // InputError, or JSON's
    set_wrong(State::kNoResults, ExitCode::kFault, error.what(), end);
  }
  if (!is_final(end.state)) return end;
  ordered_json json{{"run", run.id},
                    {"spec", run.spec_id},
                    {"weft", version()},
                    {"build", build_identity()},
                    {"state", static_cast<int>(end.state) - static_cast<int>(State::kDone)},
                    {"reason", end.reason},
                    {"code", end.code},
                    {"cpu_seconds", end.cpu_seconds}};
  json.update(json_of(computed));
  try {
    replace_file(verdict_file(folder), text_of(json));
  } catch (const InputError& error) {
    set_wrong(State::kNoResults, ExitCode::kFault, error.what(), end);
  }
  return end;
}

RunEnd run_verified(const Run& run, const std::string& folder, const Words& options) {
  const ResultsFolder functional("", "functional");
  const auto end_in = [](const Run& one, const std::string& to, const std::string& reference,
                         const Words& more) {
    Words words = one.command(to, true);
    words.insert(words.begin() + 1, more.begin(), more.end());
    const Job job{words, to + "/messages.txt", output_file(one, to)};
    JobEnd job_end;
    forget_results(to);
    run_apart({job}, {}, [](std::size_t) {}, [&](std::size_t, const JobEnd& end) { job_end = end; });
    return verify(one, to, reference, job, job_end);
  };
  end_in(*run.reference, functional.path(), "", {});
  RunEnd end = end_in(run, folder, functional.path(), options);
  if (interrupted()) {
    end = {};
    end.reason = "interrupted";
  }
  return end;
}

std::string difference_from_functional_run(const Run& run, const std::vector<Output>& outputs) {
  const ResultsFolder folder("", "functional");
  const Job job{run.reference->command(folder.path(), false), folder.path() + "/messages.txt", ""};
  int code = 0;
  const auto ended = [&](std::size_t, const JobEnd& end) { code = end.code; };
  run_apart({job}, {}, [](std::size_t) {}, ended);
  if (code != 0) {
    throw InputError("",
                     "the functional run, the reference for results, failed: " + first_message(job.messages));
  }
  return difference({0, outputs}, {0, outputs_of(read_whole_json(folder.path() + "/stats.json"))});
}

std::optional<RunEnd> verdict_of(const Run& run, const std::string& folder, bool any_build) {
  const ordered_json json = read_whole_json(verdict_file(folder));
  try {
    const bool mine = any_build ? json.at("spec") == run.spec_id : json.at("run") == run.id;
    if (!mine) return {};
    RunEnd end;
    end.state = static_cast<State>(static_cast<int>(State::kDone) + json.at("state").get<int>());
    end.reason = json.at("reason").get<std::string>();
    end.code = json.at("code").get<int>();
    end.cpu_seconds = json.at("cpu_seconds").get<double>();
    return end;
  } catch (const ordered_json::exception&) {
    return {};  // not whole, or not Weft's
  }
}

}  // namespace weft::study
