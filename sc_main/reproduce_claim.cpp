#include "sc_main/reproduce_claim.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <set>
#include <utility>

#include "common/suggestion.h"
#include "study/judge/claim_runs.h"
#include "study/judge/experiment_plan.h"
#include "study/judge/groups.h"
#include "study/judge/other_prices.h"
#include "study/judge/results_data.h"
#include "study/page/area_printed.h"
#include "study/page/claim_page.h"
#include "study/run/results_folder.h"
#include "study/session/interrupt.h"
#include "study/terminal/table.h"

namespace weft::cli {
namespace {

// A word as a shell reads it.
std::string quoted(const std::string& word) {
  if (!word.empty() && word.find_first_of(" '\"\\$`*?&|;<>(){}[]~#!\t\n") == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

std::string command_of(const Run& run, const std::string& folder) {
  std::string text = "weft";
  for (const std::string& word : run.command(folder, true)) text += " " + quoted(word);
  return text;
}

// A row per run: which program under which variant, how it ended, where its results are, what repeats it.
void add_runs(const Plan& plan, const Executor& executor, const FolderStore& store,
              const std::vector<std::size_t>& runs, ShownClaim& shown) {
  shown.runs.headings = {"program", "variant", "state", "folder", "command"};
  const bool changes = plan.axes.size() > 2;
  if (changes) shown.runs.headings.insert(shown.runs.headings.begin() + 2, "setting");
  for (const std::size_t number : runs) {
    std::string programs, variant, change;
    std::set<std::string> seen;
    for (const Point& point : plan.points) {
      if (point.run != number) continue;
      if (seen.insert(point.values[0]).second)
        programs.append(programs.empty() ? "" : ", ").append(point.values[0]);
      variant = point.values[1];
      if (changes) change = point.values[2].empty() ? "-" : point.values[2];
    }
    const Run& run = plan.runs[number];
    const std::string folder = store.folder_of(run);
    std::vector<std::string> row{programs, variant, executor.end(number).text(), folder,
                                 command_of(run, folder)};
    if (changes) row.insert(row.begin() + 2, change);
    shown.runs.rows.push_back(std::move(row));
  }
  shown.runs_about = "The claim needs these runs alone; each command repeats one.";
}

// Settings of the experiment that were not run for this page; `done` were.
std::string not_run(const Experiment& all, const Claim& claim, const std::vector<Sensitivity>& done) {
  const auto& ids = all.headline;
  if (all.sensitivity.empty()) return "";
  if (std::find(ids.begin(), ids.end(), claim.id) == ids.end())
    return "Settings are looked at for the claims of the headline only: " + joined(ids) + ".";
  std::string text;
  for (const Sensitivity& one : all.sensitivity) {
    const auto is_it = [&](const Sensitivity& run) { return run.key == one.key; };
    if (is_about_prices(one) || std::any_of(done.begin(), done.end(), is_it)) continue;
    for (const Sensitivity::Setting& setting : one.settings)
      text.append(text.empty() ? "" : ", ").append(setting.name);
  }
  return text.empty() ? "" : "Not run: " + text + ". --sensitivity runs them.";
}

void add_settings(const std::vector<SettingResult>& settings, ShownClaim& shown_one) {
  for (const SettingResult& setting : settings) {
    for (const ClaimResult& claim : setting.claims)
      shown_one.others.push_back(
          {"setting", setting.setting, shown(*claim.claim, claim.finding), claim.verdict});
  }
}

// What the table of runs says.
ShownClaim shown_in(const Experiment& experiment, const ExperimentPlan& plan, const RunTable& table,
                    const Rules& rules) {
  const Results results = plan.results(table);
  std::vector<ClaimResult> judged = judge_all(experiment, results, rules, true);
  auto settings = plan.settings(table, rules, true);
  for (SettingResult& priced : with_other_prices(experiment, results, rules, true))
    settings.push_back(std::move(priced));
  mark_flips(settings, judged);
  ShownClaim one = shown_claim(experiment, results, std::move(judged.front()), rules);
  add_settings(settings, one);
  return one;
}

// From data, without a run.
ShownClaim shown_from_data(const ClaimToShow& show) {
  const std::string file = data_file(show.from, show.experiment->name);
  const ResultsData data(file);
  Experiment experiment = with_claim_alone(*show.experiment, show.claim.id);
  const std::vector<Sensitivity> settings = settings_in(data, experiment.sensitivity);
  const ExperimentPlan plan(experiment, settings);
  std::vector<std::string> missing;
  const RunTable table = data.table(plan, missing);
  classify(experiment, plan.results(table));
  ShownClaim one = shown_in(experiment, plan, table, show.library.claims.rules);
  one.not_run = not_run(*show.experiment, show.claim, settings);
  one.runs_about = "From the numbers in " + file + ", without a run.";
  for (const std::string& text : missing) one.runs_about += " The data " + text + ".";
  return one;
}

// The runs of a claim, from its experiment to its page.
class ClaimRuns {
 public:
  ClaimRuns(const ClaimToShow& show, FolderStore& store)
      : show_(show),
        store_(store),
        experiment_(with_claim_alone(*show.experiment, show.claim.id)),
        settings_(show.settings),
        plan_(experiment_, settings_),
        executor_(plan_.plan(), store, show.engine, show.repeat) {}

  // False: interrupted.
  bool run() {
    const RunNames types = experiment_.classes ? runs_of_types(experiment_) : RunNames();
    if (!types.empty()) {
      if (!do_runs(types, false, "types of programs")) return false;
      classify(experiment_, plan_.results(plan_.read_runs(executor_, store_)));
    }
    const ClaimPlan& claim = experiment_.claims.front();
    if (!do_runs(runs_with_readings(claim), false, show_.claim.id)) return false;
    return settings_.empty() || do_runs(runs_of(claim), true, "settings");
  }

  ShownClaim shown() const {
    ShownClaim one =
        shown_in(experiment_, plan_, plan_.read_runs(executor_, store_), show_.library.claims.rules);
    one.not_run = not_run(*show_.experiment, show_.claim, settings_);
    add_runs(plan_.plan(), executor_, store_, runs_, one);
    return one;
  }

  int worst() const {
    int worst = 0;
    for (const std::size_t run : runs_) worst = std::max(worst, executor_.end(run).code);
    return worst;
  }

 private:
  bool do_runs(const RunNames& names, bool changed, const std::string& what) {
    std::vector<std::size_t> fresh;
    for (const std::size_t number : numbers_of(plan_.plan(), names, changed)) {
      if (std::find(runs_.begin(), runs_.end(), number) == runs_.end()) fresh.push_back(number);
    }
    if (fresh.empty()) return true;
    executor_.run(fresh, what);
    runs_.insert(runs_.end(), fresh.begin(), fresh.end());
    return !interrupted();
  }

  const ClaimToShow& show_;
  FolderStore& store_;
  Experiment experiment_;
  std::vector<Sensitivity> settings_;
  ExperimentPlan plan_;
  Executor executor_;
  std::vector<std::size_t> runs_;  // done or there
};

void print(const ShownClaim& shown, const ClaimToShow& show) {
  std::cout << plain(claim_page(shown, show.library.claims, show.library.causes), Paint::of(STDOUT_FILENO));
}

}  // namespace

ExitCode reproduce_claim(const ClaimToShow& show) {
  if (!show.experiment) {
    print(shown_area(show.library, show.claim.id), show);
    return ExitCode::kDone;
  }
  if (!show.from.empty()) {
    print(shown_from_data(show), show);
    return ExitCode::kDone;
  }
  catch_interrupts();
  const ResultsFolder locked(show.out, "reproduce", show.engine.lock());
  FolderStore store(show.out + "/runs", show.builds);
  ClaimRuns runs(show, store);
  if (!runs.run()) {
    std::cerr << "weft: interrupted; the same command goes on with the runs that are left\n";
    return ExitCode::kFault;
  }
  print(runs.shown(), show);
  return static_cast<ExitCode>(runs.worst());
}

ExitCode list_claims(const Library& library) {
  std::map<std::string, std::string> judged_by;
  for (const std::string& name : library.names()) {
    for (const ClaimPlan& plan : library.read(name).claims) judged_by[plan.claim->id] = name;
  }
  for (const std::string& id : printed_areas_of(library)) judged_by[id] = kAreaPage;
  TextTable table({{"claim", Align::kLeft},
                   {"paper", Align::kLeft},
                   {"place", Align::kLeft},
                   {"type", Align::kLeft},
                   {"experiment", Align::kLeft}});
  for (const Claim& claim : library.claims.list) {
    const auto experiment = judged_by.find(claim.id);
    table.row({claim.id, claim.paper, claim.place, name_of(claim.type),
               experiment == judged_by.end() ? "-" : experiment->second});
  }
  std::cout << table.text(0, Paint::of(STDOUT_FILENO));
  return ExitCode::kDone;
}

std::string claims_like(const std::string& name, const Claims& claims) {
  constexpr std::size_t kMost = 5;
  std::vector<std::string> known, begin;
  for (const Claim& claim : claims.list) {
    known.push_back(claim.id);
    if (claim.id.rfind(name, 0) == 0) begin.push_back(claim.id);
  }
  if (begin.empty() || name.empty()) return suggestion(name, known);
  const std::size_t all = begin.size();
  begin.resize(std::min(all, kMost));
  return "; claims that begin so: " + joined(begin) +
         (all > kMost ? " and " + std::to_string(all - kMost) + " more" : "");
}

}  // namespace weft::cli
