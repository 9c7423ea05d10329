#include "sc_main/sweep/sweep_engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/output_files.h"
#include "sc_main/interrupt.h"
#include "sc_main/progress.h"
#include "sc_main/result_run.h"
#include "weft/common/error.h"

namespace weft::cli {

SweepEngine::SweepEngine(const Sweep& sweep, SweepStore& store, std::string folder, bool keep)
    : sweep_(sweep),
      store_(store),
      folder_(std::move(folder)),
      keep_(keep),
      done_(sweep.runs.size(), false),
      points_(sweep.runs.size(), 0),
      expected_(sweep.runs.size()) {
  for (std::size_t i = sweep.points.size(); i-- > 0;) points_[sweep.points[i].run] = i;
}

std::string SweepEngine::folder_of(std::size_t run) const {
  return folder_ + "/" + sweep_.runs[run].id;
}

std::vector<std::size_t> SweepEngine::open(const std::vector<std::size_t>& runs, bool retry,
                                           bool again) const {
  std::vector<std::size_t> list;
  for (const std::size_t i : runs) {
    if (done_[i]) continue;
    const auto state = again ? std::nullopt : store_.state_of(sweep_.runs[i].id);
    if (!state.has_value() || (retry && *state != "done")) list.push_back(i);
  }
  return list;
}

SweepResult SweepEngine::result_of(std::size_t run, const JobEnd& end) const {
  SweepResult result;
  result.end = end;
  result.reason = first_message(folder_of(run) + "/messages.txt");
  if (end.stopped == JobEnd::Stopped::kTime) {
    result.state = "time";
    result.reason = "more than " + nlohmann::json(sweep_.most_seconds).dump() + " s";
    return result;
  }
  if (end.stopped == JobEnd::Stopped::kMemory) {
    result.state = "memory";
    result.reason = "more than " + std::to_string(sweep_.most_bytes >> 20) + " MiB";
    return result;
  }
  if (end.code > static_cast<int>(ExitCode::kFault)) {
    result.state = "killed";
    result.reason = "by signal " + std::to_string(end.code - 128);
    return result;
  }
  static const char* const kStates[] = {"done", "wrong", "refused", "fault"};
  result.state = kStates[end.code];
  if (end.code == static_cast<int>(ExitCode::kBadInput)) return result;
  try {
    const auto runs = runs_of(folder_of(run));
    result.values = metrics_of(runs.at(0).results);
    const auto& bound = runs.at(0).results.at("bound_by");
    if (bound.is_object()) result.bound_by = bound.value("resource", "");
    if (end.code == 0) result.reason.clear();
  } catch (const InputError& error) {
    if (end.code == 0) result = {"fault", std::string("no results: ") + error.what(), end, "", {}};
  } catch (const nlohmann::json::exception& error) {
    if (end.code == 0) result = {"fault", std::string("no results: ") + error.what(), end, "", {}};
  }
  return result;
}

void SweepEngine::run(const std::vector<std::size_t>& open, std::size_t all, const std::string& what,
                      Parallel parallel, const SlurmOptions* slurm) {
  parallel_ = parallel.most;
  what_ = what;
  all_ = all;
  to_do_ = open.size();
  ended_ = unknown_ = 0;
  known_seconds_ = 0;
  std::vector<Job> jobs;
  // Slurm's may be read on another machine than the one that wrote them.
  const bool stay = keep_ || slurm != nullptr;
  for (const std::size_t i : open) {
    expected_[i] = store_.seconds_like(sweep_.runs[i]);
    known_seconds_ += expected_[i].value_or(0);
    unknown_ += expected_[i].has_value() ? 0 : 1;
    jobs.push_back({sweep_.runs[i].command(folder_of(i), stay), folder_of(i) + "/messages.txt",
                    sweep_.most_seconds, sweep_.most_bytes});
  }
  began_ = std::chrono::steady_clock::now();
  const auto starts = [&](std::size_t job) {
    const std::string folder = folder_of(open[job]);
    std::filesystem::remove_all(folder);  // of a run that was interrupted
    make_folder(folder);
  };
  const auto ended = [&](std::size_t job, const JobEnd& end) {
    const std::size_t i = open[job];
    if (!(interrupted() && end.code == 128 + SIGKILL && end.stopped == JobEnd::Stopped::kNot)) {
      const SweepResult result = result_of(i, end);
      store_.record(sweep_.runs[i], result);
      done_[i] = true;
      ++ended_;
      known_seconds_ -= expected_[i].value_or(0);
      unknown_ -= expected_[i].has_value() ? 0 : 1;
      say(i, result);
    }
    if (!keep_) std::filesystem::remove_all(folder_of(i));
  };
  if (slurm != nullptr) {
    run_by_slurm(jobs, *slurm, starts, ended);
  } else {
    run_apart(jobs, parallel, starts, ended);
  }
  end_progress_line();
}

void SweepEngine::say(std::size_t run, const SweepResult& result) const {
  const std::size_t done = all_ - to_do_ + ended_;
  std::string values;
  for (const std::string& value : sweep_.points[points_[run]].values)
    values.append(values.empty() ? "" : " ").append(value);
  const std::string text = fmt::format("{}{} of {} runs, {} %, about {} left; {}: {}{}{}", what_, done, all_,
                                       100 * done / all_, rounded_time(seconds_left()), values, result.state,
                                       result.reason.empty() ? "" : ": ", result.reason);
  if (has_progress_line() && result.state == "done") return show_progress_line(text);
  end_progress_line();
  std::cerr << text << "\n";
}

// By what is known of runs alike, and by the mean of those that ended for the others.
double SweepEngine::seconds_left() const {
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - began_;
  const double mean = passed.count() * parallel_ / static_cast<double>(ended_);
  return (known_seconds_ + mean * static_cast<double>(unknown_)) / parallel_;
}

}  // namespace weft::cli
