#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sc_main/comparison.h"
#include "sc_main/files.h"
#include "sc_main/interrupt.h"
#include "sc_main/options.h"
#include "sc_main/processes.h"
#include "warp_formation/warp_formation.h"
#include "workloads/workload.h"

namespace weft::cli {
namespace {

using nlohmann::ordered_json;

struct CompareOptions {
  std::string config = "gtx480", schemes = "sbr,dwf,lwm,dwr-16,dwr-32,dwr-64,crown,harp,tbc", workloads;
  std::string size = "default", out;
  std::vector<std::string> overrides;
  std::uint64_t max_cycles = 0, jobs = 0;
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

// A folder for the runs, removed with the object unless it was asked for.
class RunFolder {
 public:
  explicit RunFolder(const std::string& asked) : path_(asked), temporary_(asked.empty()) {
    if (!temporary_) {
      make_folder(path_);
      return;
    }
    std::string name = (std::filesystem::temp_directory_path() / "weft-compare-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw InputError(name, "cannot be made");
    path_ = name;
  }
  ~RunFolder() {
    std::error_code ignored;
    if (temporary_) std::filesystem::remove_all(path_, ignored);
  }
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;

  std::string of(const std::string& workload, const std::string& scheme) const {
    return path_ + "/" + workload + "/" + scheme;
  }
  // Made, and without results of an earlier comparison, which must not pass for those of a run that fails.
  std::string make(const std::string& workload, const std::string& scheme) const {
    std::string folder = of(workload, scheme);
    make_folder(folder);
    std::error_code ignored;
    for (const char* file : {"/stats.json", "/config.json", "/summary.txt"})
      std::filesystem::remove(folder + file, ignored);
    return folder;
  }

 private:
  std::string path_;
  bool temporary_;
};

std::string text_of(const std::string& file) {
  std::ifstream in(file);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

// The first line of what a run said on standard error, without the program's name.
std::string reason(const std::string& messages) {
  std::string line = messages.substr(0, messages.find('\n'));
  if (line.compare(0, 6, "weft: ") == 0) line.erase(0, 6);
  return line.empty() ? "no message" : line;
}

Row row_of(const std::string& workload, const Variant& variant, int code, const std::string& folder) {
  Row row{workload, variant.label, code, "verified", {}};
  if (code == kNotStarted) {
    row.exit_code = static_cast<int>(ExitCode::kFault);
    row.result = "not run: interrupted";
    return row;
  }
  const std::string said = text_of(folder + "/messages.txt");
  if (code > static_cast<int>(ExitCode::kFault)) {
    row.exit_code = static_cast<int>(ExitCode::kFault);
    row.result = "killed by signal " + std::to_string(code - 128);
    return row;
  }
  const auto statistics = ordered_json::parse(text_of(folder + "/stats.json"), nullptr, false);
  const auto config = ordered_json::parse(text_of(folder + "/config.json"), nullptr, false);
  const bool finished = statistics.is_object() && config.is_object() && statistics.at("fault").is_null();
  if (finished) row.measures = Measures::of(statistics, config);
  if (code == static_cast<int>(ExitCode::kWrongResult)) {
    const std::string message = finished ? statistics.at("message").get<std::string>() : reason(said);
    row.result = "wrong result: " + message;
  } else if (code != static_cast<int>(ExitCode::kDone)) {
    row.result = (code == static_cast<int>(ExitCode::kBadInput) ? "refused: " : "fault: ") + reason(said);
  }
  return row;
}

std::function<void(std::size_t)> progress(std::size_t jobs) {
  if (isatty(STDERR_FILENO) == 0) return [](std::size_t) {};
  return [jobs](std::size_t done) {
    std::cerr << "\r" << done << " of " << jobs << " runs done" << (done == jobs ? "\n" : "") << std::flush;
  };
}

Comparison compare_runs(const CompareOptions& options, const std::vector<Variant>& variants,
                        const Words& names) {
  const RunFolder folder(options.out.empty() ? "" : options.out + "/runs");
  std::vector<Job> jobs;
  for (const std::string& workload : names) {
    for (const Variant& scheme : variants) {
      const std::string out = folder.make(workload, scheme.label);
      Job job{
          {"run", "--config", options.config, "--workload", workload, "--size", options.size, "--out", out},
          out + "/messages.txt"};
      if (options.max_cycles != 0)
        job.arguments.insert(job.arguments.end(), {"--max-cycles", std::to_string(options.max_cycles)});
      job.arguments.insert(job.arguments.end(),
                           {"--set", "sm.observe.lane_oracle=true", "sm.observe.stalled_threads=true"});
      for (const auto* overrides : {&options.overrides, &scheme.overrides})
        job.arguments.insert(job.arguments.end(), overrides->begin(), overrides->end());
      jobs.push_back(std::move(job));
    }
  }
  const unsigned parallel = options.jobs != 0 ? static_cast<unsigned>(options.jobs) : usable_cores();
  const std::vector<int> codes = run_apart(jobs, parallel, progress(jobs.size()));
  Comparison comparison{options.config, options.size, {}};
  std::size_t i = 0;
  for (const std::string& workload : names) {
    for (const Variant& scheme : variants) {
      comparison.rows.push_back(row_of(workload, scheme, codes[i], folder.of(workload, scheme.label)));
      ++i;
    }
  }
  return comparison;
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
  const Comparison comparison = compare_runs(options, variants, names);
  std::cout << table(comparison);
  if (!options.out.empty()) {
    write_file(options.out + "/comparison.csv", csv(comparison));
    write_file(options.out + "/comparison.json",
               json(comparison).dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n");
  }
  int worst = 0;
  for (const Row& row : comparison.rows) worst = std::max(worst, row.exit_code);
  return static_cast<ExitCode>(worst);
}

}  // namespace weft::cli
