#include "sc_main/sweep/sweep_plan.h"

#include <xxhash.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "common/config_document.h"
#include "common/input_file.h"
#include "sc_main/report.h"
#include "sc_main/reproduce_claims.h"
#include "sc_main/reproduce_experiment.h"
#include "sc_main/reproduce_json.h"
#include "sc_main/run_record.h"
#include "sc_main/session.h"
#include "sc_main/sweep/candidates.h"
#include "sc_main/sweep/screening_design.h"
#include "sc_main/variant.h"
#include "weft/common/error.h"
#include "weft/warp_formation/plugins.h"
#include "workloads/workload.h"

namespace weft::cli {
namespace {

constexpr std::size_t kMostPoints = 1'000'000;

std::string xxh3_128(const std::string& text) {
  XXH128_canonical_t bytes;
  XXH128_canonicalFromHash(&bytes, XXH3_128bits(text.data(), text.size()));
  std::string digits;
  for (const unsigned char byte : bytes.digest) {
    digits += "0123456789abcdef"[byte / 16];
    digits += "0123456789abcdef"[byte % 16];
  }
  return digits;
}

// What a value of an axis changes of a run.
using Change = std::function<void(SweepRun&)>;
struct Axis {
  std::string name;
  std::vector<std::pair<std::string, Change>> values;
};

Change set(std::vector<std::string> overrides) {
  return [overrides = std::move(overrides)](SweepRun& run) {
    run.overrides.insert(run.overrides.end(), overrides.begin(), overrides.end());
  };
}

// A number or a text, as it stands behind "path=".
std::string plain(const Place& place) {
  const nlohmann::json& value = place.value();
  if (value.is_string()) return place.text();
  if (value.is_number() || value.is_boolean()) return value.dump();
  place.refuse("a number, a text, true or false");
}

std::string whole_number(const Place& place) {
  if (!place.value().is_number_unsigned()) place.refuse("a whole number from 0 on");
  return place.value().dump();
}

Change program_of(const std::string& name, const Place& place, const std::string& folder) {
  place.keys({}, {"ptx", "cuda", "arguments"});
  if (place.has("ptx") == place.has("cuda")) throw InputError(place.where(), "needs one of 'ptx' and 'cuda'");
  const bool cuda = place.has("cuda");
  std::filesystem::path file = place.at(cuda ? "cuda" : "ptx").text();
  if (file.is_relative()) file = std::filesystem::path(folder) / file;
  const Words arguments = place.has("arguments") ? place.at("arguments").texts(true) : Words();
  return [name, cuda, arguments, path = file.lexically_normal().string()](SweepRun& run) {
    run.kind = cuda ? SweepRun::Kind::kCuda : SweepRun::Kind::kPtx;
    run.program = name;
    run.file = path;
    run.arguments = arguments;
  };
}

// Axes with a meaning of their own; others are paths of the configuration.
Change change_of(const std::string& axis, const Place& place) {
  if (axis == "seed") {
    return [seed = whole_number(place)](SweepRun& run) {
      if (run.kind == SweepRun::Kind::kWorkload) run.size += ",seed=" + seed;
    };
  }
  const std::string text = plain(place);
  if (axis == "workload") return [text](SweepRun& run) { run.program = text; };
  if (axis == "size") return [text](SweepRun& run) { run.size = text; };
  if (axis == "config") return [text](SweepRun& run) { run.config = text; };
  if (axis == "scheme") return set(variant(place.where(), text).overrides);
  return set({axis + "=" + text});
}

// The order in which axes take effect: a seed is part of a size, and paths are of a machine.
int rank_of(const std::string& axis) {
  static const std::array<const char*, 4> kFirst{"config", "workload", "program", "size"};
  const auto found = std::find(kFirst.begin(), kFirst.end(), axis);
  return static_cast<int>(found - kFirst.begin());
}

std::vector<std::string> settings_of(const Place& place) {
  for (const Place& item : place.items(true)) {
    const std::string text = item.text();
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) item.refuse("\"path=value\"");
  }
  return place.texts(true);
}

Axis read_axis(const Place& place, const std::string& folder) {
  place.keys({"name", "values"});
  Axis axis{place.at("name").text(), {}};
  const Place values = place.at("values");
  std::set<std::string> names;
  const auto add = [&](const Place& item, const std::string& name, Change change) {
    if (!names.insert(name).second) throw InputError(item.where(), "'" + name + "' stands there twice");
    axis.values.emplace_back(name, std::move(change));
  };
  if (values.value().is_object()) {
    for (const auto& [name, item] : values.members())
      add(item, name, axis.name == "program" ? program_of(name, item, folder) : set(settings_of(item)));
  } else {
    if (axis.name == "program")
      values.refuse("an object: names, each with \"ptx\" or \"cuda\", and \"arguments\"");
    for (const Place& item : values.items()) add(item, plain(item), change_of(axis.name, item));
  }
  return axis;
}

void read_limits(const Place& place, Sweep& sweep, SweepRun& base) {
  if (!place.has("limits")) return;
  const Place limits = place.at("limits");
  limits.keys({}, {"seconds", "mebibytes", "core_cycles"});
  const auto number = [&](const char* key) {
    if (!limits.has(key)) return 0.0;
    const double value = limits.at(key).number();
    if (!(value > 0) || value > 1e15) limits.at(key).refuse("a number above 0, up to 1e15");
    return value;
  };
  sweep.most_seconds = number("seconds");
  sweep.most_bytes = static_cast<std::uint64_t>(number("mebibytes") * 1024 * 1024);
  base.core_cycles = static_cast<std::uint64_t>(number("core_cycles"));
}

std::string contents_hash(const std::string& file) {
  return xxh3_128(read_input(file));
}

// Finishes runs: their effective configurations, and what names them.
class Namer {
 public:
  // Throws InputError.
  void finish(SweepRun& run) {
    SessionOptions session;
    session.config = run.config;
    session.overrides = run.overrides;
    session.max_cycles = run.core_cycles;
    nlohmann::ordered_json record;
    if (run.kind == SweepRun::Kind::kWorkload) {
      if (run.program.empty()) throw InputError("", "a run needs a workload or a program");
      const auto workload = workloads::find(run.program);
      session = with_settings(session, *workload, run.size);
      const Machine& machine = machine_of(session);
      record = run_record(outcome_of(*workload, run.size), machine.config, session, true);
      set_machine(run, machine);
    } else {
      set_machine(run, machine_of(session));
      record["build"] = build_identity();
      auto& hash = files_[run.file];
      if (hash.empty()) hash = contents_hash(run.file);
      record["file"] = hash;
      record["arguments"] = run.arguments;
      record["core_cycles"] = run.core_cycles;
      for (const Plugin& plugin : plugins()) record["plugins"].push_back(plugin.sha256);
    }
    record["effective"] = run.effective;
    run.id = xxh3_128(record.dump());
  }

 private:
  // A configuration takes longer to read than all else of a run, and runs of many sizes and seeds share one.
  struct Machine {
    GpuConfig config;
    std::string effective;  // JSON
  };
  static constexpr std::size_t kMostMachines = 64;

  const Machine& machine_of(const SessionOptions& session) {
    std::vector<std::string> key{session.config};
    for (const auto* settings : {&session.size_settings, &session.overrides}) {
      key.push_back(std::to_string(settings->size()));
      key.insert(key.end(), settings->begin(), settings->end());
    }
    const auto known = machines_.find(key);
    if (known != machines_.end()) return known->second;
    if (machines_.size() == kMostMachines) machines_.clear();
    GpuConfig config = config_of(session);
    std::string effective = effective_config(config).dump();
    return machines_.try_emplace(std::move(key), Machine{std::move(config), std::move(effective)})
        .first->second;
  }
  static void set_machine(SweepRun& run, const Machine& machine) {
    run.effective = machine.effective;
    run.scheme = machine.config.warp_formation.scheme;
  }

  std::map<std::vector<std::string>, Machine> machines_;
  std::map<std::string, std::string> files_;  // by name: hashes of what is in them
};

// Adds points, and the runs that they do not share with others.
class Builder {
 public:
  explicit Builder(Sweep& sweep) : sweep_(sweep) {}

  void add(std::vector<std::string> values, SweepRun run, const std::string& where) {
    try {
      namer_.finish(run);
    } catch (const InputError& error) {
      std::string point;
      for (std::size_t i = 0; i < values.size(); ++i)
        point += (i == 0 ? "" : ", ") + sweep_.axes[i] + " " + values[i];
      throw InputError(where, "the run with " + point + ": " + error.what());
    }
    const auto [found, fresh] = numbers_.try_emplace(run.id, sweep_.runs.size());
    if (fresh) sweep_.runs.push_back(std::move(run));
    sweep_.points.push_back({std::move(values), found->second});
  }

 private:
  Sweep& sweep_;
  Namer namer_;
  std::map<std::string, std::size_t> numbers_;
};

// Every combination of the axes that are no factors, the last one changing fastest; for each, every row of
// the design.
void add_all(const std::vector<Axis>& axes, const SweepRun& base, const std::string& where, Sweep& sweep) {
  Builder builder(sweep);
  std::vector<std::size_t> effects(axes.size()), free;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    effects[i] = i;
    if (std::find(sweep.factors.begin(), sweep.factors.end(), i) == sweep.factors.end()) free.push_back(i);
  }
  std::stable_sort(effects.begin(), effects.end(), [&](std::size_t a, std::size_t b) {
    return rank_of(axes[a].name) < rank_of(axes[b].name);
  });
  const std::size_t rows = sweep.factors.empty() ? 1 : sweep.design.size();
  std::vector<std::size_t> at(axes.size(), 0);
  for (;;) {
    for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t f = 0; f < sweep.factors.size(); ++f)
        at[sweep.factors[f]] = sweep.design[row][f] ? 1 : 0;
      SweepRun run = base;
      std::vector<std::string> values;
      for (std::size_t i = 0; i < axes.size(); ++i) values.push_back(axes[i].values[at[i]].first);
      for (const std::size_t i : effects) axes[i].values[at[i]].second(run);
      builder.add(std::move(values), std::move(run), where);
    }
    std::size_t i = free.size();
    while (i > 0 && ++at[free[i - 1]] == axes[free[i - 1]].values.size()) at[free[--i]] = 0;
    if (i == 0) return;
  }
}

std::size_t axis_named(const Place& place, const Sweep& sweep) {
  const std::string name = place.one_of(sweep.axes);
  return static_cast<std::size_t>(std::find(sweep.axes.begin(), sweep.axes.end(), name) - sweep.axes.begin());
}

void read_plan(const Place& place, const std::vector<Axis>& axes, Sweep& sweep) {
  if (!place.has("screening")) return;
  const Place screening = place.at("screening");
  screening.keys({"factors"}, {"foldover"});
  bool foldover = false;
  if (screening.has("foldover")) {
    const Place flag = screening.at("foldover");
    if (!flag.value().is_boolean()) flag.refuse("true or false");
    foldover = flag.value().get<bool>();
  }
  for (const Place& item : screening.at("factors").items()) {
    const std::size_t axis = axis_named(item, sweep);
    const std::string& name = sweep.axes[axis];
    if (axes[axis].values.size() != 2)
      throw InputError(item.where(), "'" + name + "' has " + std::to_string(axes[axis].values.size()) +
                                         " values; allowed: an axis with two");
    if (std::find(sweep.factors.begin(), sweep.factors.end(), axis) != sweep.factors.end())
      throw InputError(item.where(), "'" + name + "' stands there twice");
    sweep.factors.push_back(axis);
  }
  if (sweep.factors.size() > kMostFactors)
    screening.at("factors").refuse("at most " + std::to_string(kMostFactors));
  sweep.design = screening_design(sweep.factors.size(), foldover);
}

void read_halving(const Place& place, const std::vector<Axis>& axes, Sweep& sweep) {
  if (!place.has("halving")) return;
  const Place key = place.at("halving");
  if (!sweep.factors.empty()) {
    throw InputError(
        key.where(),
        "stands beside \"screening\"; allowed: one of them, since a rung needs all combinations");
  }
  key.keys({"rungs", "metric"}, {"goal", "keep_one_in", "mean_over", "cumulative"});
  Halving halving;
  halving.where = key.where();
  halving.rungs = axis_named(key.at("rungs"), sweep);
  if (axes[halving.rungs].values.size() < 2)
    key.at("rungs").refuse("an axis of two values or more, the cheapest first");
  halving.metric = key.at("metric").text();
  if (key.has("goal")) halving.most = key.at("goal").one_of({"least", "most"}) == "most";
  if (key.has("keep_one_in")) {
    const Place number = key.at("keep_one_in");
    if (!number.value().is_number_unsigned() || number.value() < 2 || number.value() > kMostPoints)
      number.refuse("a whole number from 2 to " + std::to_string(kMostPoints));
    halving.keep_one_in = number.value().get<std::size_t>();
  }
  if (key.has("cumulative")) {
    const Place flag = key.at("cumulative");
    if (!flag.value().is_boolean()) flag.refuse("true or false");
    halving.cumulative = flag.value().get<bool>();
  }
  if (key.has("mean_over")) {
    for (const Place& item : key.at("mean_over").items(true)) {
      const std::size_t axis = axis_named(item, sweep);
      if (axis == halving.rungs)
        throw InputError(item.where(),
                         "'" + sweep.axes[axis] + "' is the axis of the rungs; allowed: another");
      if (std::find(halving.mean_over.begin(), halving.mean_over.end(), axis) != halving.mean_over.end())
        throw InputError(item.where(), "'" + sweep.axes[axis] + "' stands there twice");
      halving.mean_over.push_back(axis);
    }
  } else {
    for (const std::size_t axis : work_axes(sweep)) {
      if (axis != halving.rungs) halving.mean_over.push_back(axis);
    }
  }
  std::size_t candidates = 1;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const bool meant =
        std::find(halving.mean_over.begin(), halving.mean_over.end(), i) == halving.mean_over.end();
    if (i != halving.rungs && meant) candidates *= axes[i].values.size();
  }
  if (candidates < 2) {
    throw InputError(key.where(),
                     "leaves nothing to choose from; allowed: two combinations or more of the axes that are "
                     "neither \"rungs\" nor in \"mean_over\"");
  }
  sweep.halving = std::move(halving);
}

void check_axes(const std::vector<Axis>& axes, const Sweep& sweep, const Place& place) {
  std::set<std::string> names;
  double points = sweep.factors.empty() ? 1 : static_cast<double>(sweep.design.size());
  for (std::size_t i = 0; i < axes.size(); ++i) {
    if (!names.insert(axes[i].name).second)
      throw InputError(place.at("axes").where(), "'" + axes[i].name + "' stands there twice");
    if (std::find(sweep.factors.begin(), sweep.factors.end(), i) == sweep.factors.end())
      points *= static_cast<double>(axes[i].values.size());
  }
  if (points > kMostPoints) {
    throw InputError(place.at("axes").where(),
                     "make more than " + std::to_string(kMostPoints) + " combinations; allowed are as many");
  }
  if (names.count("workload") + names.count("program") != 1)
    throw InputError(place.at("axes").where(), "need one of \"workload\" and \"program\"");
}

Sweep sweep_of_file(const std::string& file) {
  const nlohmann::json document = config::read_file(file);
  const Place place(document, file);
  place.keys({"axes"}, {"title", "config", "set", "limits", "screening", "halving"});
  const std::filesystem::path path(file);
  Sweep sweep;
  sweep.name = path.stem().string();
  sweep.title = place.text_of("title", sweep.name);
  SweepRun base;
  base.config = place.text_of("config", SessionOptions().config);
  base.size = "default";
  if (place.has("set")) base.overrides = settings_of(place.at("set"));
  read_limits(place, sweep, base);
  std::vector<Axis> axes;
  for (const Place& item : place.at("axes").items()) {
    axes.push_back(read_axis(item, path.parent_path().string()));
    sweep.axes.push_back(axes.back().name);
  }
  read_plan(place, axes, sweep);
  check_axes(axes, sweep, place);
  read_halving(place, axes, sweep);
  add_all(axes, base, file, sweep);
  return sweep;
}

Sweep sweep_of_experiment(const std::string& name) {
  const std::string folder = experiment_folder();
  const auto names = experiment_names(folder);
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    throw InputError("weft sweep",
                     "found '" + name + "'; allowed: a file (.json), or an experiment: " + joined(names));
  }
  const Claims claims = read_claims(folder + "/claims.json");
  const Experiment experiment = read_experiment(name, folder + "/" + name + ".json", claims);
  Sweep sweep;
  sweep.name = name;
  sweep.title = experiment.title;
  sweep.axes = {"program", "variant"};
  Builder builder(sweep);
  for (const ExperimentProgram& program : experiment.programs) {
    for (const ExperimentVariant& variant : experiment.variants) {
      SweepRun run;
      run.program = program.workload;
      run.size = program.size;
      run.config = experiment.config;
      run.overrides = experiment.overrides;
      for (const auto* more : {&program.overrides, &variant.overrides})
        run.overrides.insert(run.overrides.end(), more->begin(), more->end());
      builder.add({program.abbr, variant.name}, std::move(run), experiment.file);
    }
  }
  return sweep;
}

}  // namespace

Words SweepRun::command(const std::string& folder, bool stay) const {
  Words words{kind == Kind::kCuda ? "cuda" : "run", "--config", config, "--out", folder};
  if (core_cycles != 0) words.insert(words.end(), {"--max-cycles", std::to_string(core_cycles)});
  for (const std::string& setting : overrides) words.insert(words.end(), {"--set", setting});
  for (const Plugin& plugin : plugins()) words.insert(words.end(), {"--plugin", plugin.file});
  if (!stay && kind != Kind::kCuda) words.emplace_back("--no-sync");
  switch (kind) {
    case Kind::kWorkload:
      words.insert(words.end(), {"--workload", program, "--size", size});
      return words;
    case Kind::kPtx:
      words.insert(words.end(), {"--ptx", file});
      break;
    case Kind::kCuda:
      words.insert(words.end(), {"--", file});
      break;
  }
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

Sweep read_sweep(const std::string& name) {
  const bool file = name.find('/') != std::string::npos ||
                    (name.size() > 5 && name.compare(name.size() - 5, 5, ".json") == 0);
  return file ? sweep_of_file(name) : sweep_of_experiment(name);
}

}  // namespace weft::cli
