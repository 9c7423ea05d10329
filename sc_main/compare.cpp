#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <thread>
#include <utility>

#include "sc_main/comparison.h"
#include "sc_main/files.h"
#include "sc_main/interrupt.h"
#include "sc_main/options.h"
#include "sc_main/planned_run.h"
#include "sc_main/processes.h"
#include "sc_main/report.h"
#include "warp_formation/warp_formation.h"
#include "workloads/workload.h"

namespace weft::cli {
namespace {

struct CompareOptions {
  std::string config = "gtx480", schemes = "sbr,dwf,lwm,dwr-16,dwr-32,dwr-64,crown,harp,tbc", workloads;
  std::string size = "default", out;
  std::vector<std::string> overrides;
  std::uint64_t max_cycles = 0, jobs = 0;
  bool again = false;
};

// What --schemes names: a scheme and what is set for it.
struct Variant {
  std::string label;
  Words overrides;
};

Words split(const std::string& option, const std::string& text, char separator) {
  Words parts;
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, separator);) {
    if (part.empty())
      throw InputError(option, "found '" + text + "'; allowed: names with '" + separator + "' between them");
    if (separator == ',' && std::find(parts.begin(), parts.end(), part) != parts.end())
      throw InputError(option,
                       std::string("'").append(part).append("' stands twice in '").append(text) + "'");
    parts.push_back(part);
  }
  if (parts.empty()) throw InputError(option, "nothing to compare; allowed: names with commas between them");
  return parts;
}

// "harp", "dwr-16" (the paper's name for dwr with dwr.largest_warp=16), "harp+harp.barrier_entries=32", with
// paths below warp_formation.
Variant variant(const std::string& label) {
  if (label.find('/') != std::string::npos)
    throw InputError("--schemes", "found '" + label + "'; a scheme's name and settings have no slash");
  const Words parts = split("--schemes", label, '+');
  std::string scheme = parts[0];
  Variant result{label, {}};
  if (scheme.compare(0, 4, "dwr-") == 0) {
    result.overrides.push_back("warp_formation.dwr.largest_warp=" + scheme.substr(4));
    scheme = "dwr";
  }
  const auto known = warp_formation::scheme_names();
  if (std::find(known.begin(), known.end(), scheme) == known.end()) {
    std::string names;
    for (const auto& name : known) names += (names.empty() ? "" : ", ") + name;
    throw InputError("--schemes", "unknown scheme '" + scheme + "'; known: " + names +
                                      ", dwr-N, and NAME+PATH=VALUE with paths of warp_formation");
  }
  result.overrides.push_back("warp_formation.scheme=" + scheme);
  for (std::size_t i = 1; i < parts.size(); ++i) {
    if (parts[i].find('=') == std::string::npos)
      throw InputError("--schemes", "found '" + parts[i] + "' in '" + label + "'; allowed: PATH=VALUE");
    result.overrides.push_back("warp_formation." + parts[i]);
  }
  return result;
}

Words workloads_of(const CompareOptions& options) {
  Words names;
  if (options.workloads.empty()) {
    for (const auto& workload : workloads::all()) names.push_back(workload->name());
    return names;
  }
  names = split("--workloads", options.workloads, ',');
  for (const std::string& name : names) workloads::find(name);
  return names;
}

// A folder for the comparison, removed with the object unless it was asked for.
class Folder {
 public:
  explicit Folder(const std::string& asked) : path_(asked), temporary_(asked.empty()) {
    if (temporary_) {
      make_temporary();
    } else {
      make_folder(path_);
      lock();
      remove_drafts(path_);
    }
  }
  ~Folder() {
    std::error_code ignored;
    if (temporary_) std::filesystem::remove_all(path_, ignored);
    if (lock_ >= 0) close(lock_);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const std::string& path() const { return path_; }

 private:
  void make_temporary() {
    const char* variable = std::getenv("TMPDIR");
    const std::string parent = variable == nullptr || *variable == '\0' ? "/tmp" : variable;
    path_ = parent + "/weft-compare-XXXXXX";
    if (mkdtemp(path_.data()) == nullptr) {
      throw InputError(parent, std::string("no folder can be made in it: ") + std::strerror(errno) +
                                   "; give --out DIR, or another folder for temporary files in TMPDIR");
    }
  }
  // Two comparisons would take each other's results away. The runs inherit the lock: it holds until the last
  // of them has gone, even if this process is killed; therefore the wait.
  void lock() {
    constexpr int kTries = 40, kMilliseconds = 50;
    lock_ = open(path_.c_str(), O_RDONLY | O_DIRECTORY);  // NOLINT(android-cloexec-open): see above
    for (int i = 0; lock_ >= 0 && flock(lock_, LOCK_EX | LOCK_NB) != 0; ++i) {
      if (errno != EWOULDBLOCK && errno != EINTR) return;  // a file system without locks
      if (i == kTries) throw InputError(path_, "another weft compare writes to this folder");
      std::this_thread::sleep_for(std::chrono::milliseconds(kMilliseconds));
    }
  }

  std::string path_;
  const bool temporary_;
  int lock_ = -1;
};

// comparison.csv and comparison.json, which say at any time what is finished. Each is whole at any time.
class Tables {
 public:
  // Throws InputError: what cannot be written now should not cost the runs.
  Tables(std::string folder, const Comparison& comparison) : folder_(std::move(folder)) {
    for (const auto& [path, text] : files(comparison)) replace_file(path, text);
  }
  // A disk that is full meanwhile may have room again at the end.
  void update(const Comparison& comparison) {
    try {
      for (const auto& [path, text] : files(comparison)) replace_file(path, text);
    } catch (const InputError& error) {
      if (!complained_) std::cerr << "weft: " << error.what() << "\n";
      complained_ = true;
    }
  }
  // False: they are not where they should be.
  bool finish(const Comparison& comparison) const {
    bool there = true;
    for (const auto& [path, text] : files(comparison)) {
      const std::string elsewhere = save_file(path, text);
      if (elsewhere.empty()) continue;
      there = false;
      std::cerr << "weft: " << elsewhere << "\n";
    }
    return there;
  }

 private:
  std::vector<std::pair<std::string, std::string>> files(const Comparison& comparison) const {
    return {{folder_ + "/comparison.csv", csv(comparison)},
            {folder_ + "/comparison.json", text_of(json(comparison))}};
  }
  const std::string folder_;
  bool complained_ = false;
};

void show_progress(std::size_t done, std::size_t all) {
  if (isatty(STDERR_FILENO) == 0) return;
  std::cerr << "\r" << done << " of " << all << " runs done" << (done == all ? "\n" : "") << std::flush;
}

std::vector<PlannedRun> plan(const CompareOptions& options, const std::vector<Variant>& variants,
                             const Words& names, const std::string& folder) {
  std::vector<PlannedRun> runs;
  for (const std::string& workload : names) {
    for (const Variant& scheme : variants) {
      SessionOptions session;
      session.config = options.config;
      session.out = folder;
      session.out.append("/").append(workload).append("/").append(scheme.label);
      session.max_cycles = options.max_cycles;
      session.overrides = {"sm.observe.lane_oracle=true", "sm.observe.stalled_threads=true"};
      for (const auto* overrides : {&options.overrides, &scheme.overrides})
        session.overrides.insert(session.overrides.end(), overrides->begin(), overrides->end());
      runs.emplace_back(workload, scheme.label, options.size, session);
    }
  }
  return runs;
}

// The runs that are not finished yet. `changed` is called when a row is another.
void complete(std::vector<PlannedRun>& runs, Comparison& comparison, const CompareOptions& options,
              const std::function<void()>& changed) {
  std::vector<std::size_t> open;  // as in `runs` and in the rows
  std::vector<Job> jobs;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::optional<Row> row;
    if (!options.again) row = runs[i].finished();
    comparison.rows.push_back(row ? *row : runs[i].unfinished("not finished"));
    if (row) continue;
    open.push_back(i);
    jobs.push_back(runs[i].job());
  }
  const std::size_t found = runs.size() - open.size();
  if (found != 0) {
    std::cerr << "weft: " << found << " of " << runs.size()
              << " runs are there already, of this build, configuration and program; --again repeats them\n";
  }
  changed();
  std::size_t done = found;
  const unsigned parallel = options.jobs != 0 ? static_cast<unsigned>(options.jobs) : usable_cores();
  run_apart(
      jobs, parallel, [&](std::size_t job) { runs[open[job]].starts(); },
      [&](std::size_t job, int code) {
        const std::size_t i = open[job];
        const bool killed = interrupted() && code == 128 + SIGKILL;
        comparison.rows[i] = killed ? runs[i].unfinished("not finished: interrupted") : runs[i].ended(code);
        changed();
        show_progress(++done, runs.size());
      });
  if (!interrupted()) return;
  for (Row& row : comparison.rows) {
    if (row.result == "not finished") row.result = "not run: interrupted";
  }
}

}  // namespace

ExitCode compare(const Words& words) {
  CompareOptions options;
  Options description("options");
  description.text("config", options.config, "NAME", "name or JSON file")
      .text("schemes", options.schemes, "NAME,...",
            "with commas; NAME, dwr-N for dwr+dwr.largest_warp=N, or NAME+PATH=VALUE... with paths below "
            "warp_formation; speed-ups are over the first")
      .text("workloads", options.workloads, "NAME,...",
            "with commas; all of weft list workloads if not given")
      .text("size", options.size, "SIZE", "as for weft run")
      .list("set", options.overrides, "PATH=VALUE", "override values for all runs")
      .number("max-cycles", options.max_cycles, kCycleBounds, "stop each run after so many core cycles")
      .number("jobs", options.jobs, {1, 1024, 1, "runs"}, "runs at a time; as many as cores if not given")
      .flag("again", options.again, "also repeat runs whose results are in --out already")
      .text(
          "out", options.out, "DIR",
          "folder for comparison.csv and .json, and for the results of each run under runs/WORKLOAD/SCHEME");
  if (!parse(words, "weft compare [--config C] [--schemes a,b] [--workloads a,b] [--size S] [--out DIR]",
             description)) {
    return ExitCode::kDone;
  }
  std::vector<Variant> variants;
  for (const std::string& label : split("--schemes", options.schemes, ','))
    variants.push_back(variant(label));
  const Words names = workloads_of(options);
  load_config(options.config, options.overrides);  // a mistake here would be one of every run
  catch_interrupts();
  const Folder folder(options.out);
  std::vector<PlannedRun> runs = plan(options, variants, names, folder.path() + "/runs");
  Comparison comparison{options.config, options.size, {}};
  std::optional<Tables> tables;
  complete(runs, comparison, options, [&] {
    if (options.out.empty()) return;
    if (tables) {
      tables->update(comparison);
    } else {
      tables.emplace(options.out, comparison);
    }
  });
  std::cout << table(comparison);
  int worst = tables && !tables->finish(comparison) ? static_cast<int>(ExitCode::kBadInput) : 0;
  for (const Row& row : comparison.rows) worst = std::max(worst, row.exit_code);
  return static_cast<ExitCode>(worst);
}

}  // namespace weft::cli
