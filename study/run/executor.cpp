#include "study/run/executor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <iostream>
#include <numeric>
#include <utility>

#include "study/run/slurm.h"
#include "study/run/verification.h"
#include "study/session/interrupt.h"
#include "study/terminal/progress.h"

namespace weft::study {
namespace {

std::vector<std::size_t> all_runs(const Plan& plan) {
  std::vector<std::size_t> runs(plan.runs.size());
  std::iota(runs.begin(), runs.end(), 0);
  return runs;
}

}  // namespace

Executor::Executor(const Plan& plan, RunStore& store, Engine engine, Repeat repeat, Lines lines)
    : plan_(plan),
      store_(store),
      engine_(std::move(engine)),
      repeat_(repeat),
      lines_(lines),
      ends_(plan.runs.size()),
      done_(plan.runs.size(), false),
      expected_(plan.runs.size()) {}

std::optional<double> Executor::expected(std::size_t run) const {
  if (const auto before = store_.seconds_of(plan_.runs[run])) return before;
  return plan_.runs[run].guess;
}

std::vector<std::size_t> Executor::open(const std::vector<std::size_t>& runs) {
  std::vector<std::size_t> list;
  for (const std::size_t i : runs) {
    if (done_[i]) continue;
    const auto end = repeat_ == Repeat::kAll ? std::nullopt : store_.end_of(plan_.runs[i]);
    ends_[i] = end.value_or(RunEnd());
    if (!end.has_value() || (repeat_ == Repeat::kFailed && !end->done())) list.push_back(i);
  }
  return list;
}

Outlook Executor::outlook_of(const std::vector<std::size_t>& open) const {
  Outlook outlook;
  for (const std::size_t i : open) {
    const auto seconds = expected(i);
    ++outlook.open;
    outlook.seconds += seconds.value_or(0);
    outlook.unknown += seconds ? 0 : 1;
  }
  return outlook;
}

Outlook Executor::outlook(std::set<std::string>& counted) {
  std::vector<std::size_t> fresh;
  for (std::size_t i = 0; i < plan_.runs.size(); ++i) {
    if (counted.insert(store_.folder_of(plan_.runs[i])).second) fresh.push_back(i);
  }
  return outlook_of(open(fresh));
}

Outlook Executor::taken(std::set<std::string>& counted) const {
  Outlook taken;
  for (std::size_t i = 0; i < plan_.runs.size(); ++i) {
    if (!counted.insert(store_.folder_of(plan_.runs[i])).second || ends_[i].cpu_seconds == 0) continue;
    ++taken.open;
    taken.seconds += ends_[i].cpu_seconds;
  }
  return taken;
}

void Executor::announce(const std::vector<std::size_t>& runs, const std::vector<std::size_t>& open,
                        const std::string& what) const {
  if (const std::size_t there = runs.size() - open.size(); there != 0) {
    std::cerr << fmt::format(
        "weft: {} of {} runs already have results of this {}; --again repeats these runs\n", there,
        runs.size(), store_.what_counts());
  }
  if (lines_ == Lines::kProgress) return;
  std::string text = fmt::format("weft: {}: {}{} of {} runs to do", plan_.name,
                                 what.empty() ? "" : what + ", ", open.size(), runs.size());
  if (!engine_.slurm || engine_.jobs != 0) text += fmt::format(", {} at a time", engine_.parallel().most);
  if (engine_.slurm) text += ", by Slurm";
  double there = 0;
  for (const std::size_t i : runs) there += ends_[i].cpu_seconds;
  if (there > 0) text += fmt::format("; finished runs took {:.0f} s of CPU", there);
  const Outlook left = outlook_of(open);
  if (left.unknown < left.open) {
    text += fmt::format("; {} of the remaining runs take about {:.0f} s of CPU", left.open - left.unknown,
                        left.seconds);
  }
  if (left.unknown > 0) text += fmt::format("; the time of {} is unknown", left.unknown);
  std::cerr << text << "\n";
}

void Executor::run() {
  run(all_runs(plan_), "");
}

void Executor::run(const std::vector<std::size_t>& runs, const std::string& what) {
  const std::vector<std::size_t> to_do = open(runs);
  announce(runs, to_do, what);
  do_open(to_do, runs.size() - to_do.size(), runs.size(), "");
}

void Executor::do_open(const std::vector<std::size_t>& open, std::size_t before, std::size_t all,
                       const std::string& what) {
  what_ = what;
  before_ = before;
  all_ = all;
  to_do_ = open.size();
  ended_ = unknown_ = 0;
  known_seconds_ = 0;
  for (const std::size_t i : open) {
    ends_[i] = {};
    expected_[i] = expected(i);
    known_seconds_ += expected_[i].value_or(0);
    unknown_ += expected_[i].has_value() ? 0 : 1;
  }
  // Those of which nothing is known come last, in the order of the plan.
  std::vector<std::size_t> order = open;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return expected_[a].value_or(INFINITY) < expected_[b].value_or(INFINITY);
  });
  std::vector<const Run*> runs;
  runs.reserve(order.size());
  for (const std::size_t i : order) runs.push_back(&plan_.runs[i]);
  changed();
  do_references(order);
  began_ = std::chrono::steady_clock::now();
  do_runs(
      runs, [&](std::size_t i) { store_.begins(*runs[i]); },
      [&](std::size_t i, const Job& job, const JobEnd& end) { ended(order[i], job, end); });
  end_progress_line();
  if (!interrupted()) return;
  for (const std::size_t i : open) {
    if (ends_[i].state == RunEnd::State::kNotFinished && ends_[i].reason.empty())
      ends_[i].state = RunEnd::State::kNotRun;
  }
}

void Executor::do_references(const std::vector<std::size_t>& open) {
  std::vector<const Run*> runs;
  for (const std::size_t i : open) {
    const Run* const reference = plan_.runs[i].reference.get();
    if (reference == nullptr || !references_.insert(reference->id).second) continue;
    const auto end = repeat_ == Repeat::kAll ? std::nullopt : store_.end_of(*reference);
    if (!end.has_value() || (repeat_ == Repeat::kFailed && !end->done())) runs.push_back(reference);
  }
  if (runs.empty()) return;
  if (lines_ == Lines::kAll) {
    std::cerr << fmt::format("weft: {}: {} functional run{} first, as reference for results\n", plan_.name,
                             runs.size(), runs.size() == 1 ? "" : "s");
  }
  do_runs(
      runs, [&](std::size_t i) { store_.begins(*runs[i]); },
      [&](std::size_t i, const Job& job, const JobEnd& end) { store_.take(*runs[i], job, end); });
}

void Executor::do_runs(const std::vector<const Run*>& runs, const Starts& starts, const Ends& ends) const {
  // Slurm's may be read on another machine than the one that wrote them.
  const bool stay = store_.keeps_folders() || engine_.slurm;
  std::vector<Job> jobs;
  jobs.reserve(runs.size());
  for (const Run* run : runs) {
    const std::string folder = store_.folder_of(*run);
    jobs.push_back({run->command(folder, stay), folder + "/messages.txt", output_file(*run, folder),
                    plan_.most_seconds, plan_.most_bytes});
  }
  const auto job_ends = [&](std::size_t i, const JobEnd& end) { ends(i, jobs[i], end); };
  if (engine_.slurm) {
    if (interrupted()) return;  // while references were done
    const SlurmOptions options{store_.folder(), plan_.name, static_cast<unsigned>(engine_.jobs),
                               engine_.submission, repeat_ == Repeat::kAll};
    if (!jobs.empty()) run_by_slurm(jobs, options, starts, job_ends);
  } else {
    run_apart(jobs, engine_.parallel(), starts, job_ends);
  }
}

void Executor::ended(std::size_t run, const Job& job, const JobEnd& end) {
  if (interrupted() && end.code == 128 + SIGKILL && end.stopped == JobEnd::Stopped::kNot) {
    ends_[run].reason = "interrupted";
    store_.abandon(plan_.runs[run]);
    return changed();
  }
  ends_[run] = store_.take(plan_.runs[run], job, end);
  done_[run] = true;
  ++ended_;
  known_seconds_ -= expected_[run].value_or(0);
  unknown_ -= expected_[run].has_value() ? 0 : 1;
  changed();
  say(run);
}

void Executor::say(std::size_t run) const {
  const std::size_t done = before_ + ended_;
  std::string text = fmt::format("{}{} of {} runs done, {} %", what_, done, all_, 100 * done / all_);
  if (ended_ != to_do_) text += fmt::format(", about {} left", rounded_time(seconds_left()));
  if (lines_ == Lines::kProgress) return show_progress_line(text);
  text += fmt::format("; {}: {}", plan_.runs[run].label, ends_[run].text());
  if (has_progress_line() && ends_[run].done()) return show_progress_line(text);
  end_progress_line();
  std::cerr << text << "\n";
}

// By what is known of the runs that are left, and by the mean of those that ended for the others.
double Executor::seconds_left() const {
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - began_;
  const double parallel = engine_.parallel().most;
  const double mean = passed.count() * parallel / static_cast<double>(ended_);
  return (known_seconds_ + mean * static_cast<double>(unknown_)) / parallel;
}

std::size_t Executor::verified() const {
  return static_cast<std::size_t>(
      std::count_if(ends_.begin(), ends_.end(), [](const RunEnd& end) { return end.done(); }));
}

int Executor::worst() const {
  int code = 0;
  for (const RunEnd& end : ends_) code = std::max(code, end.code);
  return code;
}

}  // namespace weft::study
