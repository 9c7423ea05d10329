#include "study/plan/plan.h"

#include <unistd.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "common/input_file.h"
#include "study/plan/identity.h"
#include "study/session/run_record.h"
#include "study/session/session.h"
#include "weft/warp_formation/plugins.h"
#include "workloads/workload.h"

namespace weft::study {

// Finds out what a run is made of: its effective configuration, its record and its ids.
class PlanBuilder::Identifier {
 public:
  // Throws InputError.
  void finish(Run& run) {
    SessionOptions session;
    session.config = run.config;
    session.overrides = run.overrides;
    session.max_cycles = run.core_cycles;
    nlohmann::ordered_json record;
    if (run.kind == Run::Kind::kWorkload) {
      if (run.program.empty()) throw InputError("", "a run needs a workload or a program");
      const auto workload = workloads::find(run.program);
      session = with_settings(session, *workload, run.size);
      const Machine& machine = machine_of(session);
      record = run_record(outcome_of(*workload, run.size), machine.config, session, true);
      run.record = record.dump();
      set_machine(run, machine);
      remove_build(record);
    } else {
      set_machine(run, machine_of(session));
      record["file"] = hash_of_program(run);
      record["arguments"] = run.arguments;
      if (run.kind == Run::Kind::kPtx) {
        for (const std::string& file : files_of(run.arguments)) record["files"].push_back(hash_of(file));
      }
      record["core_cycles"] = run.core_cycles;
      if (run.functional) record["functional"] = true;
      for (const Plugin& plugin : plugins()) record["plugins"].push_back(plugin.sha256);
    }
    run.work = record.dump();
    record["effective"] = *run.effective;
    run.spec_id = xxh3_128(record.dump());
    run.id = xxh3_128(run.spec_id + build_);
  }

 private:
  // A configuration takes longer to read than all else of a run, and runs of many sizes and seeds share one.
  struct Machine {
    GpuConfig config;
    std::shared_ptr<const std::string> effective;
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
    auto effective = std::make_shared<const std::string>(effective_config(config).dump());
    return machines_.try_emplace(std::move(key), Machine{std::move(config), std::move(effective)})
        .first->second;
  }
  const std::string& hash_of(const std::string& file) {
    std::string& hash = files_[file];
    if (hash.empty()) hash = xxh3_128(read_input(file));
    return hash;
  }
  const std::string& hash_of_program(const Run& run) {
    try {
      const std::string& hash = hash_of(run.file);
      if (run.kind == Run::Kind::kCuda && access(run.file.c_str(), X_OK) != 0)
        throw InputError(run.file, "is not executable; allowed: a CUDA program");
      return hash;
    } catch (const InputError& error) {
      throw InputError(run.key, error.what());
    }
  }
  // Files that arguments of `weft run --ptx` name: contents of buffers, and PTX that is linked.
  static Words files_of(const Words& arguments) {
    static const std::string kPtx = "--ptx", kContent = "=file:";
    Words files;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const std::size_t content = arguments[i].find(kContent);
      if (arguments[i] == kPtx && i + 1 < arguments.size()) files.push_back(arguments[i + 1]);
      if (arguments[i].rfind(kPtx + "=", 0) == 0) files.push_back(arguments[i].substr(kPtx.size() + 1));
      if (content != std::string::npos) files.push_back(arguments[i].substr(content + kContent.size()));
    }
    return files;
  }
  static void set_machine(Run& run, const Machine& machine) {
    run.effective = machine.effective;
    run.scheme = machine.config.warp_formation.scheme;
  }

  const std::string build_ = build_identity();
  std::map<std::vector<std::string>, Machine> machines_;
  std::map<std::string, std::string> files_;  // hashes of the contents, by name
};

PlanBuilder::PlanBuilder(Plan& plan, Refused refused)
    : plan_(plan), refused_(refused), identifier_(std::make_unique<Identifier>()) {}

PlanBuilder::~PlanBuilder() = default;

std::size_t PlanBuilder::add(std::vector<std::string> values, Run run, const std::string& where) {
  try {
    identifier_->finish(run);
    if (!run.verifies_itself()) set_reference(run);
  } catch (const InputError& error) {
    if (refused_ == Refused::kThrow) {
      std::string point;
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (!values[i].empty()) point += (point.empty() ? "" : ", ") + plan_.axes[i] + " " + values[i];
      }
      throw InputError(where, (point.empty() ? "" : "the run with " + point + ": ") + error.what());
    }
    run.refused = true;
  }
  const auto [found, fresh] =
      numbers_.try_emplace(run.folder.empty() ? run.id : run.folder, plan_.runs.size());
  if (fresh) {
    if (run.label.empty()) {
      for (const std::string& value : values) run.label += (run.label.empty() ? "" : " ") + value;
    }
    plan_.runs.push_back(std::move(run));
  }
  plan_.points.push_back({std::move(values), found->second});
  return found->second;
}

// The same program on the same machine without timing. What a program can see of a machine stays as it is:
// the size of its warps, but no scheme, and nothing that is only observed.
void PlanBuilder::set_reference(Run& run) {
  Run reference = run;
  reference.functional = true;
  reference.core_cycles = 0;
  reference.guess.reset();
  reference.overrides.clear();
  for (const std::string& setting : run.overrides) {
    const auto is_of = [&](const char* path) { return setting.rfind(path, 0) == 0; };
    const bool scheme = is_of("warp_formation.") && !is_of("warp_formation.warp_size=");
    if (!scheme && !is_of("sm.observe.")) reference.overrides.push_back(setting);
  }
  reference.overrides.emplace_back("warp_formation.scheme=sbr");
  identifier_->finish(reference);
  // Below the folders in which the runs of a comparison are looked for.
  reference.folder = "functional/" + reference.program + "/" + reference.spec_id;
  reference.label = reference.program + " without timing";
  const std::string id = reference.id;
  auto& known = references_[id];
  if (known == nullptr) known = std::make_shared<const Run>(std::move(reference));
  run.reference = known;
}

Words Run::command(const std::string& to, bool stay) const {
  Words words{kind == Kind::kCuda ? "cuda" : "run", "--config", config, "--out", to};
  if (core_cycles != 0) words.insert(words.end(), {"--max-cycles", std::to_string(core_cycles)});
  for (const std::string& setting : overrides) words.insert(words.end(), {"--set", setting});
  for (const Plugin& plugin : plugins()) words.insert(words.end(), {"--plugin", plugin.file});
  if (!stay && kind != Kind::kCuda) words.emplace_back("--no-sync");
  if (functional) words.emplace_back("--functional");
  if (kind == Kind::kCuda) words.emplace_back("--quiet");
  switch (kind) {
    case Kind::kWorkload:
      words.insert(words.end(), {"--workload", program, "--size", size});
      return words;
    case Kind::kPtx:
      words.insert(words.end(), {"--ptx", file});
      break;
    case Kind::kCuda:
      // A name without a folder would be looked for in PATH.
      words.insert(words.end(), {"--", file.find('/') == std::string::npos ? "./" + file : file});
      break;
  }
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

std::string Run::kind_of_work() const {
  return config + " " + program + " " + size_without_seed();
}

std::string Run::size_without_seed() const {
  return size.substr(0, size.find(",seed="));
}

}  // namespace weft::study
