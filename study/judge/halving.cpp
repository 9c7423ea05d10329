#include "study/judge/halving.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include "study/terminal/table.h"
#include "weft/common/error.h"

namespace weft::study {
namespace {

std::string counted(std::size_t count, const char* one) {
  return std::to_string(count) + " " + one + (count == 1 ? "" : "s");
}

}  // namespace

SuccessiveHalving::SuccessiveHalving(const Plan& plan) : plan_(plan), halving_(plan.halving.value()) {
  std::vector<std::size_t> not_searched = halving_.mean_over;
  not_searched.push_back(halving_.rungs);
  axes_ = other_axes(plan, not_searched);
  candidates_ = candidates_of(plan, axes_, all_points(plan));
  for (const Point& point : plan.points) {
    const std::string& value = point.values[halving_.rungs];
    if (std::find(values_.begin(), values_.end(), value) == values_.end()) values_.push_back(value);
  }
  for (const Candidate& candidate : candidates_) {
    auto& rungs = points_.emplace_back(values_.size());
    for (const std::size_t point : candidate.points) {
      const auto rung = std::find(values_.begin(), values_.end(), plan.points[point].values[halving_.rungs]);
      rungs[static_cast<std::size_t>(rung - values_.begin())].push_back(point);
    }
  }
}

std::vector<std::size_t> SuccessiveHalving::Rung::going_on() const {
  std::vector<std::size_t> list;
  for (const Standing& standing : standings) {
    if (standing.goes_on) list.push_back(standing.candidate);
  }
  std::sort(list.begin(), list.end());
  return list;
}

std::size_t SuccessiveHalving::most_candidates(std::size_t rung) const {
  std::size_t count = candidates_.size();
  for (std::size_t i = 0; i < rung; ++i) count = (count + halving_.keep_one_in - 1) / halving_.keep_one_in;
  return count;
}

std::size_t SuccessiveHalving::most_runs(std::size_t rung) const {
  std::set<std::size_t> all;
  for (const auto& rungs : points_) {
    for (const std::size_t point : rungs[rung]) all.insert(plan_.points[point].run);
  }
  return std::min(all.size(), most_candidates(rung) * points_[0][rung].size());
}

std::vector<std::size_t> SuccessiveHalving::points(std::size_t rung,
                                                   const std::vector<std::size_t>& entered) const {
  std::vector<std::size_t> list;
  for (const std::size_t candidate : entered)
    list.insert(list.end(), points_[candidate][rung].begin(), points_[candidate][rung].end());
  std::sort(list.begin(), list.end());
  return list;
}

std::vector<std::size_t> SuccessiveHalving::runs(std::size_t rung,
                                                 const std::vector<std::size_t>& entered) const {
  std::set<std::size_t> list;
  for (const std::size_t point : points(rung, entered)) list.insert(plan_.points[point].run);
  return {list.begin(), list.end()};
}

void SuccessiveHalving::refuse_metric() const {
  throw InputError(halving_.where + "/metric",
                   "found '" + halving_.metric +
                       "', which no run has; allowed: a number of stats.json by its path with dots, such as "
                       "cycles, ipc or sm0.blocks; energy or edp (with sm.observe.events=true); area");
}

void SuccessiveHalving::check_metric(const SqliteStore& store, std::size_t run) const {
  const std::string& id = plan_.runs[run].id;
  if (store.state_of(id) == "done" && !value_of(store, id, halving_.metric).has_value()) refuse_metric();
}

SuccessiveHalving::Rung SuccessiveHalving::judged(const SqliteStore& store, std::size_t rung,
                                                  std::vector<std::size_t> entered) const {
  Rung result;
  std::vector<Standing> standings;
  for (const std::size_t candidate : entered) {
    std::vector<std::size_t> counted_points = points_[candidate][rung];
    for (std::size_t before = 0; halving_.cumulative && before < rung; ++before) {
      const auto& more = points_[candidate][before];
      counted_points.insert(counted_points.end(), more.begin(), more.end());
    }
    LogMean mean = log_mean(plan_, store, counted_points, halving_.metric);
    if (mean.open) {
      result.entered = std::move(entered);
      return result;
    }
    standings.push_back({candidate, mean.value, 0, std::move(mean.reason), false});
  }
  // Candidates come in their order, which decides between equal ones.
  std::stable_sort(standings.begin(), standings.end(), [&](const Standing& a, const Standing& b) {
    if (!a.log_mean.has_value() || !b.log_mean.has_value())
      return a.log_mean.has_value() && !b.log_mean.has_value();
    return halving_.most ? *a.log_mean > *b.log_mean : *a.log_mean < *b.log_mean;
  });
  const bool last = rung + 1 == rungs();
  std::size_t kept = last ? 1 : (entered.size() + halving_.keep_one_in - 1) / halving_.keep_one_in;
  for (Standing& standing : standings) {
    if (!standing.log_mean.has_value()) break;
    standing.ratio = std::exp(*standing.log_mean - *standings[0].log_mean);
    standing.goes_on = kept > 0;
    kept -= standing.goes_on ? 1 : 0;
  }
  result.entered = std::move(entered);
  result.standings = std::move(standings);
  return result;
}

std::vector<SuccessiveHalving::Rung> SuccessiveHalving::played(const SqliteStore& store) const {
  std::vector<Rung> list;
  std::vector<std::size_t> entered(candidates_.size());
  std::iota(entered.begin(), entered.end(), 0);
  while (list.size() < rungs() && !entered.empty()) {
    list.push_back(judged(store, list.size(), entered));
    if (!list.back().judged()) return list;
    entered = list.back().going_on();
    if (list.size() > 1 || !entered.empty()) continue;
    bool done = false, has = false;
    for (const std::size_t run : runs(0, list[0].entered)) {
      const std::string& id = plan_.runs[run].id;
      done = done || store.state_of(id) == "done";
      has = has || value_of(store, id, halving_.metric).has_value();
    }
    if (done && !has) refuse_metric();
  }
  return list;
}

namespace {

// A candidate's way through the rungs that judged it.
struct Course {
  std::size_t candidate = 0, rungs = 0;
  std::vector<const SuccessiveHalving::Standing*> standings;
};

// By how far they came, and how they did there.
std::vector<Course> courses_of(const std::vector<SuccessiveHalving::Rung>& played) {
  std::vector<Course> list;
  std::set<std::size_t> there;
  for (std::size_t rung = played.size(); rung-- > 0;) {
    for (const auto& last : played[rung].standings) {
      if (!there.insert(last.candidate).second) continue;
      Course course{last.candidate, rung + 1, {}};
      for (std::size_t i = 0; i <= rung; ++i) {
        const auto& all = played[i].standings;
        course.standings.push_back(&*std::find_if(
            all.begin(), all.end(), [&](const auto& one) { return one.candidate == last.candidate; }));
      }
      list.push_back(std::move(course));
    }
  }
  return list;
}

std::string rungs_text(const Plan& plan, const SuccessiveHalving& search,
                       const std::vector<SuccessiveHalving::Rung>& played) {
  TextTable table({{"rung", Align::kLeft},
                   {plan.axes[plan.halving->rungs], Align::kLeft},
                   {"candidates"},
                   {"runs"},
                   {"go on"},
                   {"failed"}});
  for (std::size_t rung = 0; rung < search.rungs(); ++rung) {
    std::vector<std::string> cells{std::to_string(rung + 1), search.value(rung)};
    if (rung >= played.size()) {
      if (!played.empty() && played.back().judged()) {
        cells.insert(cells.end(), {"0", "0", "-", "-"});
      } else {
        cells.insert(cells.end(), {"at most " + std::to_string(search.most_candidates(rung)),
                                   "at most " + std::to_string(search.most_runs(rung)), "-", "-"});
      }
      table.row(std::move(cells));
      continue;
    }
    const auto& one = played[rung];
    cells.push_back(std::to_string(one.entered.size()));
    cells.push_back(std::to_string(search.runs(rung, one.entered).size()));
    if (one.judged()) {
      const auto failed = std::count_if(one.standings.begin(), one.standings.end(),
                                        [](const auto& standing) { return !standing.log_mean.has_value(); });
      const bool last = rung + 1 == search.rungs();
      cells.push_back(last ? "" : std::to_string(one.going_on().size()));
      cells.push_back(std::to_string(failed));
    } else {
      cells.insert(cells.end(), {"runs are missing", "-"});
    }
    table.row(std::move(cells));
  }
  return table.text(kPageWidth);
}

std::string candidates_text(const Plan& plan, const SuccessiveHalving& search,
                            const std::vector<Course>& courses, std::size_t most) {
  std::vector<TextColumn> columns;
  for (const std::size_t axis : search.axes()) columns.push_back({plan.axes[axis], Align::kLeft});
  const std::size_t rungs = courses.empty() ? 0 : courses[0].rungs;
  for (std::size_t rung = 0; rung < rungs; ++rung) columns.push_back({search.value(rung)});
  columns.push_back({"out", Align::kLeft});
  TextTable table(std::move(columns), search.axes().size());
  for (std::size_t i = 0; i < std::min(most, courses.size()); ++i) {
    const Course& course = courses[i];
    std::vector<std::string> cells = search.candidates()[course.candidate].values;
    for (std::size_t rung = 0; rung < rungs; ++rung) {
      const bool scored = rung < course.rungs && course.standings[rung]->log_mean.has_value();
      cells.push_back(scored ? fmt::format("{:.4f}", course.standings[rung]->ratio) : "");
    }
    const auto& last = *course.standings.back();
    if (!last.log_mean.has_value()) {
      cells.push_back(clipped(last.reason, 50));
    } else {
      cells.push_back(
          last.goes_on || course.rungs == search.rungs() ? "" : "rung " + std::to_string(course.rungs));
    }
    table.row(std::move(cells));
  }
  std::string text = table.text(kPageWidth);
  if (courses.size() > most) text += "and " + std::to_string(courses.size() - most) + " more (--ranking)\n";
  return text;
}

}  // namespace

std::string ranking(const Plan& plan, const SuccessiveHalving& search, const SqliteStore& store,
                    std::size_t most) {
  const auto played = search.played(store);
  const Halving& halving = *plan.halving;
  std::string text = rungs_text(plan, search, played);
  const std::vector<Course> courses = courses_of(played);
  if (!courses.empty()) {
    text += "\n" + halving.metric + " over that of the rung's best, " + (halving.most ? "most" : "least") +
            " first";
    if (!halving.mean_over.empty()) {
      text += ", geometric mean over ";
      for (std::size_t i = 0; i < halving.mean_over.size(); ++i)
        text += (i == 0 ? "" : ", ") + plan.axes[halving.mean_over[i]];
    }
    text += halving.cumulative ? " and the rungs so far\n" : "\n";
    text += candidates_text(plan, search, courses, most);
  }
  std::set<std::size_t> runs;
  for (std::size_t rung = 0; rung < played.size(); ++rung) {
    for (const std::size_t run : search.runs(rung, played[rung].entered)) runs.insert(run);
  }
  text += "\n";
  const bool over = played.size() == search.rungs() && played.back().judged();
  if (over && played.back().standings[0].goes_on) {
    const auto& best = played.back().standings[0];
    text += "best: " + name_of(plan, search.axes(), search.candidates()[best.candidate].values) + "; " +
            halving.metric + fmt::format(" {:.6g}\n", std::exp(*best.log_mean));
  } else if (played.back().judged()) {
    text += "no candidate is left\n";
  }
  text += fmt::format("{} of the {} of all combinations ({:.1f} %)\n", counted(runs.size(), "run"),
                      plan.runs.size(),
                      100 * static_cast<double>(runs.size()) / static_cast<double>(plan.runs.size()));
  return text;
}

std::string plan_line(const Plan& plan, const SqliteStore& store, std::size_t point) {
  const Run& run = plan.runs[plan.points[point].run];
  std::string line = run.id + "  " + store.state_of(run.id).value_or("to do");
  for (std::size_t i = 0; i < plan.axes.size(); ++i)
    line += "  " + plan.axes[i] + "=" + plan.points[point].values[i];
  return line + "\n";
}

std::string halving_plan(const Plan& plan, const SuccessiveHalving& search, const SqliteStore& store) {
  const auto played = search.played(store);
  std::string text;
  std::size_t most = 0;
  for (std::size_t rung = 0; rung < search.rungs(); ++rung) {
    const bool decided = rung < played.size();
    const bool over = !decided && played.back().judged();  // no candidate is left
    std::size_t candidates = over ? 0 : search.most_candidates(rung),
                runs = over ? 0 : search.most_runs(rung);
    if (decided) {
      candidates = played[rung].entered.size();
      runs = search.runs(rung, played[rung].entered).size();
    }
    most += runs;
    text += "rung " + std::to_string(rung + 1) + ", " + plan.axes[plan.halving->rungs] + " " +
            search.value(rung) + ": " + (decided || over ? "" : "at most ") +
            counted(candidates, "candidate") + ", " + counted(runs, "run") + "\n";
    if (!decided) continue;
    for (const std::size_t point : search.points(rung, played[rung].entered))
      text += plan_line(plan, store, point);
  }
  text += "together at most " + counted(most, "run") + ", of " + std::to_string(plan.runs.size()) +
          " of all combinations\n";
  return text;
}

}  // namespace weft::study
