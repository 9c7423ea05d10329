#include "sc_main/reproduce_campaign.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iomanip>
#include <iostream>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/input_file.h"
#include "common/output_files.h"
#include "sc_main/progress.h"
#include "sc_main/report.h"
#include "sc_main/run_queue.h"
#include "sc_main/session.h"
#include "weft/common/error.h"
#include "workloads/workload.h"

namespace weft::cli {

RunSeconds::RunSeconds(const std::string& folder) : file_(folder + "/runs/seconds.json") {
  std::error_code none;
  if (!std::filesystem::is_regular_file(file_, none)) return;
  const auto json = nlohmann::json::parse(read_regular_file(file_), nullptr, false);
  if (!json.is_object()) return;
  for (const auto& [key, value] : json.items()) {
    if (value.is_number()) known_[key] = value.get<double>();
  }
}

std::optional<double> RunSeconds::of(const std::string& key) const {
  const auto found = known_.find(key);
  if (found == known_.end()) return {};
  return found->second;
}

std::optional<double> RunSeconds::like(const std::string& beginning) const {
  double sum = 0, count = 0;
  for (auto one = known_.lower_bound(beginning); one != known_.end() && one->first.rfind(beginning, 0) == 0;
       ++one) {
    sum += one->second;
    ++count;
  }
  if (count == 0) return {};
  return sum / count;
}

void RunSeconds::set(const std::string& key, double seconds) {
  known_[key] = std::round(seconds * 1000) / 1000;
  if (!writable_) return;
  try {
    replace_file(file_, nlohmann::json(known_).dump(1) + "\n");
  } catch (const InputError&) {
    writable_ = false;  // only an estimate is lost
  }
}

Campaign::Campaign(const Experiment& experiment, const std::string& folder,
                   const std::vector<Sensitivity>& sensitivities, std::uint64_t seeds, Reuse reuse,
                   RunSeconds& seconds)
    : experiment_(experiment), folder_(folder + "/runs"), reuse_(reuse), seconds_(seconds) {
  add({});
  const auto needed = headline_variants();
  for (const Sensitivity& one : sensitivities) {
    for (const std::string& setting : one.settings) add({setting, &one, 0}, &needed);
  }
  for (std::uint64_t seed = 1; seed < seeds; ++seed)
    add({"seed " + std::to_string(seed), nullptr, seed}, &needed);
}

Campaign::Outlook Campaign::outlook(std::set<std::string>& counted) const {
  Outlook outlook;
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    if (!counted.insert(folders_[i]).second || runs_[i].finished(reuse_)) continue;
    ++outlook.open;
    const auto seconds = expected(i);
    outlook.seconds += seconds.value_or(0);
    outlook.unknown += seconds ? 0 : 1;
  }
  return outlook;
}

Campaign::Outlook Campaign::taken(std::set<std::string>& counted) const {
  Outlook taken;
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    if (!counted.insert(folders_[i]).second || !rows_[i].measures) continue;
    ++taken.open;
    taken.seconds += rows_[i].measures->cpu_seconds;
  }
  return taken;
}

void Campaign::run(std::uint64_t jobs) {
  make_folder(folder_);
  QueueProgress progress;
  // Those of which nothing is known last, as they stand in the experiment.
  progress.order = [&](std::vector<std::size_t>& open) {
    std::stable_sort(open.begin(), open.end(), [&](std::size_t a, std::size_t b) {
      return expected(a).value_or(INFINITY) < expected(b).value_or(INFINITY);
    });
  };
  progress.begins = [&](const std::vector<std::size_t>& open, unsigned parallel) { begins(open, parallel); };
  progress.ended = [&](std::size_t run, std::size_t done, std::size_t all) { ended(run, done, all); };
  complete(runs_, rows_, reuse_, jobs, progress);
  end_progress_line();
}

Results Campaign::results_of(std::size_t change) const {
  std::vector<RunResult> list;
  for (std::size_t i = 0; i < places_[change].size(); ++i) {
    const std::optional<std::size_t>& run = places_[change][i];
    if (run) {
      const std::string& kernel = experiment_.programs[i / experiment_.variants.size()].kernel;
      list.push_back(result_of(rows_[*run], folders_[*run], experiment_.measures, kernel));
    } else {
      RunResult none;
      none.row.result = "not needed";
      list.push_back(none);
    }
  }
  return {experiment_, std::move(list)};
}

std::vector<SettingResult> Campaign::settings(const Rules& rules, bool whole) const {
  std::vector<SettingResult> list;
  for (std::size_t i = 1; i < places_.size(); ++i) {
    if (changes_[i].of == nullptr) continue;
    Results of = results_of(i);
    auto claims = judge_headline(experiment_, of, rules, whole);
    list.push_back({changes_[i].of, changes_[i].name, std::move(of), std::move(claims), false});
  }
  return list;
}

std::vector<SeedResult> Campaign::seeds(const Rules& rules, bool whole) const {
  std::vector<SeedResult> list;
  for (std::size_t i = 1; i < places_.size(); ++i) {
    if (changes_[i].of != nullptr) continue;
    Results of = results_of(i);
    auto claims = judge_headline(experiment_, of, rules, whole);
    list.push_back({changes_[i].name, std::move(of), std::move(claims)});
  }
  return list;
}

std::pair<std::size_t, std::size_t> Campaign::verified() const {
  const auto good =
      std::count_if(rows_.begin(), rows_.end(), [](const Row& row) { return row.exit_code == 0; });
  return {static_cast<std::size_t>(good), rows_.size()};
}

int Campaign::worst() const {
  int code = 0;
  for (const Row& row : rows_) code = std::max(code, row.exit_code);
  return code;
}

std::vector<std::string> Campaign::headline_variants() const {
  std::vector<std::string> names;
  for (const ClaimPlan& plan : experiment_.claims) {
    const auto& ids = experiment_.headline;
    if (std::find(ids.begin(), ids.end(), plan.claim->id) != ids.end()) variants_of(*plan.value, names);
  }
  return names;
}

void Campaign::add(const Change& change, const std::vector<std::string>* needed) {
  changes_.push_back(change);
  auto& places = places_.emplace_back();
  for (const ExperimentProgram& program : experiment_.programs) {
    for (const ExperimentVariant& variant : experiment_.variants) {
      const bool wanted =
          needed == nullptr || std::find(needed->begin(), needed->end(), variant.name) != needed->end();
      places.push_back(wanted ? std::optional(plan(program, variant, change)) : std::nullopt);
    }
  }
}

std::size_t Campaign::plan(const ExperimentProgram& program, const ExperimentVariant& variant,
                           const Change& change) {
  const auto workload = workloads::find(program.workload);
  const bool seeded = change.seed != 0 && workloads::has_seed(*workload);
  const std::string size = program.size + (seeded ? ",seed=" + std::to_string(change.seed) : "");
  SessionOptions session;
  session.config = experiment_.config;
  session.overrides = experiment_.overrides;
  for (const auto* set : {&program.overrides, &variant.overrides})
    session.overrides.insert(session.overrides.end(), set->begin(), set->end());
  if (change.of != nullptr) session.overrides.push_back(change.name);
  std::string effective;
  try {
    effective = effective_config(config_of(with_settings(session, *workload, size))).dump();
  } catch (const InputError& error) {
    throw InputError(experiment_.file, "variant '" + variant.name + "'" +
                                           (change.name.empty() ? "" : " with " + change.name) + ": " +
                                           error.what());
  }
  session.out = folder_ + "/" + program.workload + "/" + fnv1a(size + effective);
  const auto same = std::find(own_folders_.begin(), own_folders_.end(), session.out);
  if (same != own_folders_.end()) return static_cast<std::size_t>(same - own_folders_.begin());
  works_.push_back(experiment_.config + " " + program.workload + " " + program.size);
  guesses_.push_back(guess(program));
  std::string key = works_.back();
  for (const std::string& text : session.overrides) key += " " + text;
  keys_.push_back(key);
  labels_.push_back((program.kernel.empty() ? program.abbr : program.workload) + " " + variant.label +
                    (change.name.empty() ? "" : " " + change.name));
  PlannedRun planned(program.workload, variant.name, size, session);
  own_folders_.push_back(session.out);
  folders_.push_back(made_before(planned, session.out, program.workload));
  planned.move_to(folders_.back());
  runs_.push_back(std::move(planned));
  return runs_.size() - 1;
}

std::string Campaign::made_before(const PlannedRun& planned, const std::string& own,
                                  const std::string& workload) {
  if (reuse_ != Reuse::kOfAnyBuild || planned.finished()) return own;
  if (there_.count(workload) == 0) {
    auto& found = there_[workload];
    std::error_code none;
    for (const auto& entry : std::filesystem::directory_iterator(folder_ + "/" + workload, none)) {
      try {
        found.emplace(effective_config(load_config((entry.path() / "config.json").string())).dump(),
                      entry.path().string());
      } catch (const InputError&) {
        continue;  // no results, or of no configuration that this build reads
      }
    }
  }
  // The order of a folder's entries is the file system's; names are not.
  std::set<std::string> candidates;
  const auto [first, last] = there_[workload].equal_range(planned.effective());
  for (auto one = first; one != last; ++one) candidates.insert(one->second);
  for (const std::string& folder : candidates) {
    PlannedRun other = planned;
    other.move_to(folder);
    if (other.finished(reuse_)) return folder;
  }
  return own;
}

std::map<std::string, std::size_t> Campaign::other_builds() const {
  std::map<std::string, std::size_t> count;
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    if (rows_[i].measures && !runs_[i].is_of_this_build()) ++count[runs_[i].build()];
  }
  return count;
}

std::optional<double> Campaign::guess(const ExperimentProgram& program) const {
  double sum = 0;
  for (const ExperimentProgram& one : experiment_.programs) {
    if (one.workload != program.workload || one.size != program.size) continue;
    if (!one.seconds) return {};
    sum += *one.seconds;
  }
  return sum;
}

std::optional<double> Campaign::expected(std::size_t run) const {
  if (const auto before = seconds_.of(keys_[run])) return before;
  if (const auto alike = seconds_.like(works_[run] + " ")) return alike;
  return guesses_[run];
}

void Campaign::begins(const std::vector<std::size_t>& open, unsigned parallel) {
  parallel_ = parallel;
  open_ = open;
  double there = 0, known = 0;
  std::size_t unknown = 0;
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    const Row& row = rows_[i];
    const bool to_do = std::find(open.begin(), open.end(), i) != open.end();
    if (!to_do && row.measures) there += row.measures->cpu_seconds;
    if (!to_do) continue;
    const auto seconds = expected(i);
    known += seconds.value_or(0);
    unknown += seconds ? 0 : 1;
  }
  std::cerr << std::fixed << std::setprecision(0) << "weft: " << experiment_.name << ": " << open.size()
            << " of " << runs_.size() << " runs to do, " << parallel << " at a time";
  if (there > 0) std::cerr << "; those that are there took " << there << " s of CPU";
  if (unknown < open.size()) {
    std::cerr << "; " << open.size() - unknown << " of those to do take about " << known << " s of CPU";
  }
  if (unknown > 0) std::cerr << "; of " << unknown << " nothing is known yet";
  std::cerr << "\n";
  began_ = std::chrono::steady_clock::now();
}

void Campaign::ended(std::size_t run, std::size_t done, std::size_t all) {
  if (rows_[run].measures) seconds_.set(keys_[run], rows_[run].measures->cpu_seconds);
  open_.erase(std::remove(open_.begin(), open_.end(), run), open_.end());
  ++ended_;
  const double left = seconds_left();
  const bool good = rows_[run].exit_code == 0;
  const std::string result = labels_[run] + ": " + rows_[run].result;
  if (has_progress_line() && good) {
    show_progress_line(fmt::format("{} of {} runs done, {} %, about {} left; {}", done, all, 100 * done / all,
                                   rounded_time(left), result));
    return;
  }
  end_progress_line();
  std::cerr << fmt::format("{} of {} runs done, about {:.0f} s left; {}\n", done, all, left, result);
}

// By what is known of the runs that are left, and by the mean of those that ended for the others.
double Campaign::seconds_left() const {
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - began_;
  const double mean = passed.count() * parallel_ / static_cast<double>(ended_);
  double left = 0;
  for (const std::size_t run : open_) left += expected(run).value_or(mean);
  return left / parallel_;
}

}  // namespace weft::cli
