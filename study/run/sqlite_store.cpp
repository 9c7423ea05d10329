#include "study/run/sqlite_store.h"

#include <SQLiteCpp/SQLiteCpp.h>
#include <sqlite3.h>
#include <unistd.h>

#include <array>
#include <cctype>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <numeric>
#include <sstream>
#include <thread>

#include "common/csv.h"
#include "common/output_files.h"
#include "common/utc_time.h"
#include "study/run/renames.h"
#include "study/run/result_run.h"
#include "study/run/verification.h"
#include "study/session/run_record.h"
#include "study/session/version.h"
#include "weft/common/error.h"

namespace weft::study {
namespace {

using nlohmann::ordered_json;

constexpr int kApplication = 0x57454654;  // "WEFT", in the header of the file
constexpr int kVersion = 1;               // of these tables

// Rows of a statement: a run has thousands of values, and a statement costs more than a row.
constexpr std::size_t kValuesTogether = 100;

constexpr const char* kTables = R"(
CREATE TABLE sweep(name TEXT PRIMARY KEY, title TEXT NOT NULL, axes TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE point(sweep TEXT NOT NULL, number INTEGER NOT NULL, run TEXT NOT NULL, PRIMARY KEY(sweep, number))
  WITHOUT ROWID;
CREATE INDEX point_run ON point(run);
CREATE TABLE label(sweep TEXT NOT NULL, point INTEGER NOT NULL, axis TEXT NOT NULL, value TEXT NOT NULL,
  PRIMARY KEY(sweep, point, axis)) WITHOUT ROWID;
CREATE TABLE run(number INTEGER PRIMARY KEY, id TEXT UNIQUE NOT NULL, program TEXT NOT NULL, size TEXT NOT NULL,
  config TEXT NOT NULL, scheme TEXT NOT NULL, settings TEXT NOT NULL, state TEXT NOT NULL, reason TEXT NOT NULL,
  exit_code INTEGER NOT NULL, bound_by TEXT NOT NULL, attempts INTEGER NOT NULL, ended TEXT NOT NULL,
  wall_seconds REAL NOT NULL, cpu_seconds REAL NOT NULL, peak_bytes INTEGER NOT NULL, host TEXT NOT NULL,
  weft TEXT NOT NULL, build TEXT NOT NULL);
CREATE INDEX run_program ON run(program, size, config);
CREATE TABLE configuration(run INTEGER PRIMARY KEY REFERENCES run ON DELETE CASCADE, json TEXT NOT NULL);
CREATE TABLE metric(number INTEGER PRIMARY KEY, name TEXT UNIQUE NOT NULL, kind TEXT NOT NULL);
CREATE TABLE value(run INTEGER NOT NULL REFERENCES run ON DELETE CASCADE, metric INTEGER NOT NULL REFERENCES metric,
  value REAL, PRIMARY KEY(run, metric)) WITHOUT ROWID;
CREATE VIEW result AS SELECT point.sweep AS sweep, point.number AS point, run.* FROM point
  LEFT JOIN run ON run.id = point.run;
CREATE VIEW measurement AS SELECT point.sweep AS sweep, point.number AS point, metric.name AS metric, value.value
  AS value FROM point JOIN run ON run.id = point.run JOIN value ON value.run = run.number JOIN metric
  ON metric.number = value.metric;
CREATE VIEW total AS SELECT value.run AS run, metric.kind AS kind, SUM(value.value) AS sum, MIN(value.value) AS least,
  MAX(value.value) AS most, COUNT(*) AS instances FROM value JOIN metric ON metric.number = value.metric
  GROUP BY value.run, metric.kind;
)";

std::string host_name() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

void add_numbers(const ordered_json& json, const std::string& path,
                 std::vector<std::pair<std::string, double>>& list) {
  if (json.is_number()) {
    list.emplace_back(path, json.get<double>());
  } else if (json.is_object()) {
    for (const auto& [key, value] : json.items()) {
      std::string below = path;
      add_numbers(value, below.append(path.empty() ? "" : ".").append(key), list);
    }
  } else if (json.is_array()) {
    for (std::size_t i = 0; i < json.size(); ++i)
      add_numbers(json[i], path + "[" + std::to_string(i) + "]", list);
  }
}

// How long another process may keep the store for itself.
constexpr std::chrono::milliseconds kPatience{60'000}, kPause{20};

// All writes are such: one that reads first and then finds that another process has written is refused at
// once, without patience.
class Writing : public SQLite::Transaction {
 public:
  explicit Writing(SQLite::Database& database)
      : Transaction(database, SQLite::TransactionBehavior::IMMEDIATE) {}
};

// Whether the database has the tables. Throws InputError if it has others. The tables are counted first:
// another process makes them together with the two numbers.
bool is_store(const SQLite::Database& database) {
  const auto number = [&](const char* query) {
    SQLite::Statement statement(database, query);
    statement.executeStep();
    return statement.getColumn(0).getInt();
  };
  if (number("SELECT COUNT(*) FROM sqlite_master") == 0) return false;
  if (number("PRAGMA application_id") == kApplication && number("PRAGMA user_version") == kVersion)
    return true;
  throw InputError(
      database.getFilename(),
      "is another kind of database, or of another version; allowed: a store of weft sweep, or a new file");
}

void make_tables(SQLite::Database& database) {
  Writing all(database);
  if (is_store(database)) return;  // another process was faster
  database.exec("PRAGMA application_id=" + std::to_string(kApplication));
  database.exec("PRAGMA user_version=" + std::to_string(kVersion));
  database.exec(kTables);
  all.commit();
}

// Gives metrics of an older Weft the names of today.
void rename_metrics(SQLite::Database& database) {
  if (renamed_statistics().empty()) return;
  std::vector<std::pair<std::int64_t, std::string>> metrics;
  SQLite::Statement all(database, "SELECT number, name FROM metric");
  while (all.executeStep()) metrics.emplace_back(all.getColumn(0).getInt64(), all.getColumn(1).getString());
  Writing changes(database);
  SQLite::Statement rename(database, "UPDATE OR IGNORE metric SET name = ?, kind = ? WHERE number = ?");
  for (const auto& [number, name] : metrics) {
    const std::string now = renamed_path(name);
    if (now == name) continue;
    rename.reset();
    rename.bind(1, now);
    rename.bind(2, kind_of_metric(now));
    rename.bind(3, number);
    rename.exec();
  }
  changes.commit();
}

std::unique_ptr<SQLite::Database> open_once(const std::string& file) {
  auto database = std::make_unique<SQLite::Database>(
      file, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE | SQLite::OPEN_NOMUTEX,
      static_cast<int>(kPatience.count()));
  const bool there = is_store(*database);
  // A write is in the log before it is in the file: killed at any time, the store is what it was before or
  // after it.
  database->exec("PRAGMA journal_mode=WAL");
  database->exec("PRAGMA synchronous=NORMAL");
  // Only record() removes what others refer to, and removes that, too: looking for it at each of a run's
  // values would take a third of the time.
  database->exec("PRAGMA foreign_keys=OFF");
  if (there) {
    rename_metrics(*database);
  } else {
    make_tables(*database);
  }
  return database;
}

// SQLite itself does not wait where two processes change the journal's mode or open its log at once.
std::unique_ptr<SQLite::Database> open(const std::string& file) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  while (true) {
    try {
      return open_once(file);
    } catch (const SQLite::Exception& error) {
      const bool passes = error.getErrorCode() == SQLITE_BUSY || error.getErrorCode() == SQLITE_PROTOCOL;
      if (!passes || std::chrono::steady_clock::now() >= end) {
        throw InputError(file, std::string("cannot be used as a store: ") + error.what() +
                                   "; allowed: a store of weft sweep, or a new file");
      }
    }
    std::this_thread::sleep_for(kPause);
  }
}

// What the database says, as an error of whom its file belongs to.
template <class Work>
auto guarded(const SQLite::Database& database, Work&& work) -> decltype(work()) {
  try {
    return work();
  } catch (const SQLite::Exception& error) {
    throw InputError(database.getFilename(), error.what());
  }
}

}  // namespace

std::vector<std::pair<std::string, double>> metrics_of(const ordered_json& results) {
  std::vector<std::pair<std::string, double>> list;
  for (const auto& [key, value] : results.items()) {
    // What was run; and what belongs to the machine that ran it, for which the store has columns.
    if (key == "size" || key == "ptx" || key == "outputs" || key == "cpu_seconds" || key == "wall_seconds" ||
        key == "peak_memory_bytes")
      continue;
    add_numbers(value, key == "statistics" ? "" : key, list);
  }
  return list;
}

// Groups of instances end with a number ("sm3"), behind a line where the kind itself ends with a digit
// ("l2_0").
std::string kind_of_metric(const std::string& name) {
  std::string kind;
  std::istringstream in(name);
  std::string step;
  while (std::getline(in, step, '.')) {
    const bool last = in.eof();
    std::size_t end = step.size();
    while (end > 0 && std::isdigit(static_cast<unsigned char>(step[end - 1])) != 0) --end;
    const bool instance = !last && end < step.size() && end > 0;
    kind.append(kind.empty() ? "" : ".").append(instance ? step.substr(0, end) + "*" : step);
  }
  return kind;
}

struct SqliteStore::Statements {
  explicit Statements(const SQLite::Database& database)
      : end(database, "SELECT state, reason FROM run WHERE id = ?"),
        seconds(database,
                "SELECT AVG(cpu_seconds) FROM run WHERE program = ? AND size = ? AND config = ? AND settings "
                "= ?"),
        seconds_alike(database,
                      "SELECT AVG(cpu_seconds) FROM run WHERE program = ? AND (size = ? OR size LIKE ?) AND "
                      "config = ?"),
        value_of(database,
                 "SELECT value.value FROM run JOIN value ON value.run = run.number JOIN metric ON "
                 "metric.number = value.metric WHERE run.id = ? AND metric.name = ?"),
        before(database, "SELECT attempts, number FROM run WHERE id = ?"),
        remove_values(database, "DELETE FROM value WHERE run = ?"),
        remove_configuration(database, "DELETE FROM configuration WHERE run = ?"),
        remove_run(database, "DELETE FROM run WHERE number = ?"),
        run(database,
            "INSERT INTO run(id, program, size, config, scheme, settings, state, reason, "
            "exit_code, bound_by, attempts, ended, wall_seconds, cpu_seconds, peak_bytes, host, "
            "weft, build) VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"),
        configuration(database, "INSERT INTO configuration VALUES(?, ?)"),
        metric(database, "INSERT OR IGNORE INTO metric(name, kind) VALUES(?, ?)"),
        metric_number(database, "SELECT number FROM metric WHERE name = ?"),
        value(database, insert_values(1)),
        values(database, insert_values(kValuesTogether)) {}

  static std::string insert_values(std::size_t rows) {
    std::string text = "INSERT INTO value VALUES(?, ?, ?)";
    while (--rows > 0) text += ", (?, ?, ?)";
    return text;
  }

  SQLite::Statement end, seconds, seconds_alike, value_of, before, remove_values, remove_configuration,
      remove_run, run, configuration, metric, metric_number, value, values;
};

namespace {

// A statement that is used once more: it holds no row, and so no lock, when this is over.
class Use {
 public:
  explicit Use(SQLite::Statement& statement) : statement_(statement) { statement_.tryReset(); }
  ~Use() { statement_.tryReset(); }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;
  SQLite::Statement* operator->() const { return &statement_; }
  SQLite::Statement& operator*() const { return statement_; }

 private:
  SQLite::Statement& statement_;
};

}  // namespace

SqliteStore::SqliteStore(const std::string& file, bool keep)
    : folder_(file + ".runs"),
      keep_(keep),
      database_(open(file)),
      statements_(guarded(*database_, [&] { return std::make_unique<Statements>(*database_); })) {
  guarded(*database_, [&] {
    SQLite::Statement all(*database_, "SELECT number, name FROM metric");
    while (all.executeStep()) metrics_[all.getColumn(1).getString()] = all.getColumn(0).getInt64();
  });
}

SqliteStore::~SqliteStore() = default;

std::optional<SqliteStore::End> SqliteStore::ended(const std::string& id) const {
  return guarded(*database_, [&]() -> std::optional<End> {
    const Use query(statements_->end);
    query->bind(1, id);
    if (!query->executeStep()) return {};
    return End{query->getColumn(0).getString(), query->getColumn(1).getString()};
  });
}

std::optional<std::string> SqliteStore::state_of(const std::string& id) const {
  auto end = ended(id);
  if (!end.has_value()) return {};
  return std::move(end->state);
}

std::optional<double> SqliteStore::seconds_of(const Run& run) const {
  return guarded(*database_, [&]() -> std::optional<double> {
    const Use same(statements_->seconds), alike(statements_->seconds_alike);
    same->bind(1, run.program);
    same->bind(2, run.size);
    same->bind(3, run.config);
    same->bind(4, ordered_json(run.overrides).dump());
    const std::string size = run.size_without_seed();
    alike->bind(1, run.program);
    alike->bind(2, size);
    alike->bind(3, size + ",seed=%");
    alike->bind(4, run.config);
    for (const Use* query : {&same, &alike}) {
      if ((*query)->executeStep() && !(*query)->getColumn(0).isNull())
        return (*query)->getColumn(0).getDouble();
    }
    return {};
  });
}

std::optional<double> SqliteStore::value_of(const std::string& run, const std::string& metric) const {
  return guarded(*database_, [&]() -> std::optional<double> {
    const Use query(statements_->value_of);
    query->bind(1, run);
    query->bind(2, metric);
    if (!query->executeStep()) return {};
    return query->getColumn(0).getDouble();
  });
}

void SqliteStore::describe(const Plan& plan) {
  std::vector<std::size_t> all(plan.points.size());
  std::iota(all.begin(), all.end(), 0);
  describe(plan, all);
}

void SqliteStore::describe(const Plan& plan, const std::vector<std::size_t>& points) {
  guarded(*database_, [&] {
    Writing all(*database_);
    for (const char* table : {"DELETE FROM point WHERE sweep = ?", "DELETE FROM label WHERE sweep = ?"}) {
      SQLite::Statement remove(*database_, table);
      remove.bind(1, plan.name);
      remove.exec();
    }
    SQLite::Statement name(*database_, "INSERT OR REPLACE INTO sweep VALUES(?, ?, ?)");
    name.bind(1, plan.name);
    name.bind(2, plan.title);
    name.bind(3, ordered_json(plan.axes).dump());
    name.exec();
    SQLite::Statement point(*database_, "INSERT INTO point VALUES(?, ?, ?)");
    SQLite::Statement label(*database_, "INSERT INTO label VALUES(?, ?, ?, ?)");
    for (const std::size_t i : points) {
      const auto number = static_cast<std::int64_t>(i + 1);
      point.reset();
      point.bind(1, plan.name);
      point.bind(2, number);
      point.bind(3, plan.runs[plan.points[i].run].id);
      point.exec();
      for (std::size_t axis = 0; axis < plan.axes.size(); ++axis) {
        label.reset();
        label.bind(1, plan.name);
        label.bind(2, number);
        label.bind(3, plan.axes[axis]);
        label.bind(4, plan.points[i].values[axis]);
        label.exec();
      }
    }
    all.commit();
  });
}

std::int64_t SqliteStore::metric(const std::string& name, std::size_t place) {
  // The runs of a sweep have much the same metrics, in the same order.
  if (place < last_metrics_.size() && last_metrics_[place]->first == name)
    return last_metrics_[place]->second;
  const auto [found, fresh] = metrics_.try_emplace(name, 0);
  if (fresh) {
    // Another process may have added it since this one began.
    const Use insert(statements_->metric), number(statements_->metric_number);
    insert->bind(1, name);
    insert->bind(2, kind_of_metric(name));
    insert->exec();
    number->bind(1, name);
    number->executeStep();
    found->second = number->getColumn(0).getInt64();
  }
  if (place >= last_metrics_.size()) last_metrics_.resize(place + 1, &*found);
  last_metrics_[place] = &*found;
  return found->second;
}

void SqliteStore::record(const Run& run, const StoredRun& result) {
  guarded(*database_, [&] {
    Writing all(*database_);
    std::int64_t attempts = 1;
    std::optional<std::int64_t> old;
    {
      const Use before(statements_->before);
      before->bind(1, run.id);
      if (before->executeStep()) {
        attempts += before->getColumn(0).getInt64();
        old = before->getColumn(1).getInt64();
      }
    }
    if (old.has_value()) {
      for (SQLite::Statement* one :
           {&statements_->remove_values, &statements_->remove_configuration, &statements_->remove_run}) {
        const Use remove(*one);
        remove->bind(1, *old);
        remove->exec();
      }
    }
    const Use insert(statements_->run);
    int at = 0;
    for (const std::string& text : {run.id, run.program, run.size, run.config, run.scheme,
                                    ordered_json(run.overrides).dump(), result.state, result.reason}) {
      insert->bind(++at, text);
    }
    insert->bind(++at, result.end.code);
    insert->bind(++at, result.bound_by);
    insert->bind(++at, attempts);
    insert->bind(++at, utc_now());
    insert->bind(++at, result.end.wall_seconds);
    insert->bind(++at, result.end.cpu_seconds);
    insert->bind(++at, static_cast<std::int64_t>(result.end.peak_bytes));
    for (const std::string& text :
         {result.end.host.empty() ? host_name() : result.end.host, version(), build_identity()})
      insert->bind(++at, text);
    insert->exec();
    const std::int64_t number = database_->getLastInsertRowid();
    const Use configuration(statements_->configuration);
    configuration->bind(1, number);
    configuration->bind(2, *run.effective);
    configuration->exec();
    for (std::size_t i = 0; i < result.values.size();) {
      const bool many = result.values.size() - i >= kValuesTogether;
      const Use insert_values(many ? statements_->values : statements_->value);
      const std::size_t end = many ? i + kValuesTogether : i + 1;
      for (int at_value = 0; i < end; ++i) {
        insert_values->bind(++at_value, number);
        insert_values->bind(++at_value, metric(result.values[i].first, i));
        insert_values->bind(++at_value, result.values[i].second);
      }
      insert_values->exec();
    }
    all.commit();
  });
}

namespace {

using State = RunEnd::State;

// Words of the store, by state. A run without results counts as a fault.
constexpr std::pair<State, const char*> kWords[] = {{State::kDone, "done"},       {State::kWrong, "wrong"},
                                                    {State::kRefused, "refused"}, {State::kFault, "fault"},
                                                    {State::kNoResults, "fault"}, {State::kKilled, "killed"},
                                                    {State::kTime, "time"},       {State::kMemory, "memory"}};

std::string word_of(State state) {
  for (const auto& [known, word] : kWords) {
    if (known == state) return word;
  }
  return "";
}

}  // namespace

std::optional<RunEnd> SqliteStore::end_of(const Run& run) const {
  if (run.functional) return verdict_of(run, folder_of(run), false);
  const auto stored = ended(run.id);
  if (!stored.has_value()) return {};
  RunEnd end;
  end.reason = stored->reason;
  for (const auto& [state, word] : kWords) {
    if (stored->state != word) continue;
    end.state = state;
    if (state <= State::kFault) end.code = static_cast<int>(state) - static_cast<int>(State::kDone);
    return end;
  }
  return {};
}

void SqliteStore::begins(const Run& run) {
  std::filesystem::remove_all(folder_of(run));  // of a run that was interrupted
  make_folder(folder_of(run));
}

RunEnd SqliteStore::take(const Run& run, const Job& job, const JobEnd& job_end) {
  RunEnd end = run.verifies_itself()
                   ? end_of_job(job, job_end)
                   : verify(run, folder_of(run), run.reference == nullptr ? "" : folder_of(*run.reference),
                            job, job_end);
  if (run.functional) return end;  // its folder stays: other runs are compared with it
  StoredRun stored;
  if (end.state <= State::kFault && end.state != State::kRefused) {
    try {
      const auto runs = runs_of(folder_of(run));
      stored.values = metrics_of(runs.at(0).results);
      const auto& bound = runs.at(0).results.at("bound_by");
      if (bound.is_object()) stored.bound_by = bound.value("resource", "");
    } catch (const std::exception& error) {  // InputError, or JSON's
      if (end.done()) {
        end.state = State::kNoResults;
        end.reason = error.what();
        end.code = static_cast<int>(ExitCode::kFault);
        stored = {};
      }
    }
  }
  stored.state = word_of(end.state);
  stored.reason = (end.state == State::kNoResults ? "no results: " : "") + end.reason;
  stored.end = job_end;
  record(run, stored);
  abandon(run);
  return end;
}

void SqliteStore::abandon(const Run& run) {
  if (!keep_) std::filesystem::remove_all(folder_of(run));
}

std::vector<SqliteStore::Summary> SqliteStore::sweeps() const {
  return guarded(*database_, [&] {
    std::vector<Summary> list;
    SQLite::Statement query(*database_,
                            "SELECT sweep.name, sweep.title, COUNT(point.number), COUNT(run.id), "
                            "SUM(run.state <> 'done') FROM sweep JOIN point ON point.sweep = sweep.name "
                            "LEFT JOIN run ON run.id = point.run GROUP BY sweep.name");
    while (query.executeStep()) {
      const auto count = [&](int column) {
        return static_cast<std::uint64_t>(query.getColumn(column).getInt64());
      };
      list.push_back({query.getColumn(0).getString(), query.getColumn(1).getString(), count(2),
                      count(3) - count(4), count(4)});
    }
    return list;
  });
}

nlohmann::ordered_json SqliteStore::json(const std::string& sweep) const {
  return guarded(*database_, [&] {
    ordered_json rows = ordered_json::array();
    SQLite::Statement points(
        *database_,
        "SELECT point, number, id, program, size, config, scheme, settings, state, reason, "
        "exit_code, bound_by, attempts, ended, wall_seconds, cpu_seconds, peak_bytes, host, weft, "
        "build FROM result WHERE sweep = ? ORDER BY point");
    SQLite::Statement labels(*database_, "SELECT axis, value FROM label WHERE sweep = ? AND point = ?");
    SQLite::Statement values(
        *database_,
        "SELECT metric.name, value.value FROM value JOIN metric ON metric.number = value.metric "
        "WHERE value.run = ? AND metric.name = metric.kind ORDER BY metric.name");
    points.bind(1, sweep);
    while (points.executeStep()) {
      ordered_json row;
      row["point"] = points.getColumn(0).getInt64();
      labels.reset();
      labels.bind(1, sweep);
      labels.bind(2, points.getColumn(0).getInt64());
      while (labels.executeStep())
        row["axes"][labels.getColumn(0).getString()] = labels.getColumn(1).getString();
      for (int column = 2; column < points.getColumnCount(); ++column) {
        const SQLite::Column cell = points.getColumn(column);
        ordered_json& to = row["run"][points.getColumnName(column)];
        if (cell.isNull()) {
          to = nullptr;
        } else if (cell.isInteger()) {
          to = cell.getInt64();
        } else if (cell.isFloat()) {
          to = cell.getDouble();
        } else {
          to = cell.getString();
        }
      }
      row["values"] = ordered_json::object();
      if (!points.getColumn(1).isNull()) {
        values.reset();
        values.bind(1, points.getColumn(1).getInt64());
        while (values.executeStep())
          row["values"][values.getColumn(0).getString()] = values.getColumn(1).getDouble();
      }
      rows.push_back(std::move(row));
    }
    return rows;
  });
}

std::string SqliteStore::csv(const std::string& sweep) const {
  const ordered_json rows = json(sweep);
  std::vector<std::pair<std::string, std::string>> columns{{"", "point"}};
  for (const char* part : {"axes", "run", "values"}) {
    std::map<std::string, bool> there;
    for (const ordered_json& row : rows) {
      if (!row.contains(part)) continue;
      for (const auto& [name, value] : row.at(part).items()) {
        if (there.emplace(name, true).second) columns.emplace_back(part, name);
      }
    }
  }
  std::ostringstream out;
  for (std::size_t i = 0; i < columns.size(); ++i)
    out << (i == 0 ? "" : ",") << (columns[i].first == "run" ? "run." : "") << columns[i].second;
  out << "\n";
  for (const ordered_json& row : rows) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const auto& [part, name] = columns[i];
      out << (i == 0 ? "" : ",");
      const ordered_json* of = part.empty() ? &row : row.contains(part) ? &row.at(part) : nullptr;
      if (of == nullptr || !of->contains(name) || of->at(name).is_null()) continue;
      const ordered_json& cell = of->at(name);
      out << (cell.is_string() ? as_cell(cell.get<std::string>()) : cell.dump());
    }
    out << "\n";
  }
  return out.str();
}

}  // namespace weft::study
