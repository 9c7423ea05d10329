// The strongest test: every scheme, dependence model, machine and warp size leaves the memory image that the
// plain per-thread interpreter leaves, and finishes.
//
// By default a slice: one kernel on every machine at least; with WEFT_CAMPAIGN=long a minute and three. With
// WEFT_CAMPAIGN=full 2,000 kernels for every scheme,
// dependence model and each of three machines, 500 of them with each warp size; on the other machines a tenth
// of that; 2,000 on lanes that run warps in time, divided among their settings; 2,300 with scalarization, and
// 1,700 with likely-convergence points under harp and crown, likewise. WEFT_CAMPAIGN_KERNELS=N runs N kernels
// on each (with each warp size), WEFT_CAMPAIGN_SEED=N starts at another seed, WEFT_CAMPAIGN_SEED=random at
// one that is drawn. Every failure is shrunk and tells how to repeat it.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <map>
#include <random>
#include <sstream>

#include "equivalence/campaign.h"
#include "platform/gpu_bench.h"
#include "weft/warp_formation/scheme.h"

namespace weft::test::equivalence_test {
namespace {

constexpr double kSliceSeconds = 20, kLongSeconds = 60;
constexpr unsigned kSliceKernels = 1, kLongKernels = 3;  // at least
constexpr unsigned kKernelsWithScalars = 8;  // of so many random kernels, one has a scalar instruction
constexpr unsigned kFullKernels = 500, kFullKernelsElsewhere = 50, kFullKernelsOfLanes = 72;

const char* environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool is_one_of_three(const std::string& config) {
  return config == "gtx480" || config == "dwr-tesla" || config == "harp-fermi";
}

// What differs from the machine of the same name is no mechanism of warps.
bool is_variant(const std::string& config) {
  return config.find("-oracle") != std::string::npos;
}

// Lanes that each run a warp in time. A warp of 32 has to fit a lane's slice of the registers; those that are
// given back warp by warp are few, so that blocks wait for them.
void add_lanes(std::vector<Machine>& list) {
  const auto add = [&](unsigned size, const std::string& name, std::vector<std::string> settings) {
    settings.insert(settings.begin(), "datapath.kind=temporal");
    Machine machine{"stsimt", "sbr", "scoreboard", size, 0, 32};
    machine.settings = std::move(settings);
    machine.name = "lanes_" + name;
    list.push_back(std::move(machine));
  };
  for (const unsigned size : {16u, 32u}) {
    for (const char* width : {"1", "2", "4"}) {
      for (const char* compaction : {"bcc", "none"}) {
        for (const char* registers : {"block", "thread"}) {
          add(size, std::string(width) + "_" + compaction + "_" + registers,
              {std::string("datapath.lane_width=") + width, std::string("datapath.compaction=") + compaction,
               std::string("datapath.registers=") + registers, "sm.registers=8192"});
        }
      }
    }
  }
  add(32, "guard", {"datapath.guard=issue_mask"});
  add(32, "unlocked", {"datapath.locked=false", "datapath.registers=thread"});
  add(64, "wide", {"datapath.lane_width=2", "sm.registers=32768"});
  add(32, "warp", {"datapath.forwarding=warp", "datapath.instruction_register=lane"});
  add(32, "lane_register", {"datapath.instruction_register=lane"});
  add(32, "turns", {"datapath.binding=turns", "sm.integer_multiply_unit=sfu"});
}

// One value for a warp, on lanes that work together, on a unit of its own, on lanes that run warps in time.
// What the self-check finds fails too.
void add_scalarization(std::vector<Machine>& list) {
  const auto add = [&](const char* config, const char* dependence, unsigned size, const std::string& name,
                       const std::vector<std::string>& settings) {
    for (const char* kind : {"restricted", "full"}) {
      Machine machine{config, "sbr", dependence, size};
      machine.settings = settings;
      machine.settings.push_back(std::string("scalarization.kind=") + kind);
      machine.name = std::string("scalar_") + kind + "_" + name;
      list.push_back(std::move(machine));
    }
  };
  const std::string temporal = "datapath.kind=temporal", separate = "scalarization.unit=separate",
                    likely = "warp_formation.likely_convergence=static";
  add("gtx480", "scoreboard", 32, "lanes", {});
  add("gtx480", "scoreboard", 16, "lanes", {});
  add("gtx480", "barrel", 32, "lanes", {});
  add("gtx480", "scoreboard", 32, "likely", {likely});
  add("gtx480", "scoreboard", 32, "plain", {"warp_formation.reconvergence=plain"});
  add("gtx480", "scoreboard", 32, "taken_first", {"warp_formation.sbr.order=taken_first"});
  add("gtx480", "scoreboard", 32, "separate", {separate});
  add("harp-fermi", "scoreboard", 32, "separate", {separate, likely});
  add("stsimt", "scoreboard", 32, "separate", {separate});
  // A warp of 32 has to fit a lane's slice of the registers, without being spilled for that.
  for (const char* width : {"1", "4"}) {
    const std::string lane = std::string("datapath.lane_width=") + width;
    const std::string name = std::string("temporal_") + width;
    add("stsimt", "scoreboard", 32, name, {temporal, lane, "sm.registers=65536"});
    add("stsimt", "scoreboard", 32, name + "_likely", {temporal, lane, likely, "sm.registers=65536"});
    add("stsimt", "scoreboard", 16, name + "_thread",
        {temporal, lane, "datapath.registers=thread", "sm.registers=65536"});
  }
  add("stsimt", "scoreboard", 32, "spilled",
      {temporal, "sm.max_registers_per_thread=24", "sm.registers=32768"});
}

// Likely-convergence points at the barriers of harp and crown, with tables that are large and small.
void add_likely_barriers(std::vector<Machine>& list) {
  for (const char* scheme : {"harp", "crown"}) {
    for (const char* config : {"gtx480", "harp-fermi", "dwr-tesla"}) {
      for (const char* dependence : {"barrel", "scoreboard"}) {
        for (const char* entries : {"128", "16"}) {
          Machine machine{config, scheme, dependence, 32};
          machine.settings = {
              "warp_formation.likely_convergence=static",
              std::string("warp_formation.").append(scheme).append(".barrier_entries=").append(entries)};
          machine.name = std::string("likely_").append(entries);
          list.push_back(std::move(machine));
        }
      }
    }
  }
}

bool has_bank_conflicts(const std::string& config) {
  static std::map<std::string, bool> known;  // every test of this program makes the whole list
  const auto [entry, is_new] = known.try_emplace(config);
  if (is_new)
    entry->second = load_config(config).sm.datapath.operands.kind != datapath::Operands::Kind::kNone;
  return entry->second;
}

// Conflicts of register banks are refused where several instructions begin together.
std::vector<std::string> without_bank_conflicts(const std::string& config, const std::string& scheme) {
  const bool together = scheme == "sbi" || scheme == "swi" || scheme == "variable_warps";
  if (!together || !has_bank_conflicts(config)) return {};
  return {"datapath.operands.kind=none"};
}

std::vector<Machine> machines() {
  std::vector<Machine> list;
  for (const auto& scheme : warp_formation::scheme_names()) {
    for (const auto& config : config_names()) {
      for (const unsigned size : {8u, 16u, 32u, 64u}) {
        if (is_variant(config) && size != 32) continue;
        for (const char* dependence : {"barrel", "scoreboard"}) {
          list.push_back({config, scheme, dependence, size});
          list.back().settings = without_bank_conflicts(config, scheme);
        }
      }
    }
  }
  // Each scheme's tables and policies at random, on three machines.
  for (const auto& scheme : warp_formation::scheme_names()) {
    for (const std::uint64_t tables : {1, 2}) {
      for (const char* config : {"gtx480", "harp-fermi", "dwr-tesla"}) {
        for (const char* dependence : {"barrel", "scoreboard"})
          list.push_back({config, scheme, dependence, 32, tables});
      }
    }
  }
  // Groups of dwr that span blocks, and wait without end (DwrPartners.SeedsOfTheCampaign).
  for (const char* dependence : {"barrel", "scoreboard"}) {
    list.push_back({"dwr-tesla", "dwr", dependence, 32, 21});
    list.push_back({"harp-fermi", "dwr", dependence, 32, 37});
  }
  add_lanes(list);
  add_scalarization(list);
  add_likely_barriers(list);
  return list;
}

// Kernels to run on a machine, and the first one's seed.
struct Plan {
  unsigned kernels = 0;  // at least
  double seconds = 0;    // at least
  std::uint64_t seed = 1;
};

std::uint64_t drawn_seed() {
  static const std::uint64_t seed = std::random_device()();
  return seed;
}

// In full all schemes get the same kernels, and each warp size others; a slice gives every machine others.
Plan plan_of(const Machine& machine, std::size_t number, std::size_t count) {
  Plan plan;
  const unsigned size = machine.warp_size == 8    ? 0
                        : machine.warp_size == 16 ? 1
                        : machine.warp_size == 32 ? 2
                                                  : 3;
  if (std::string(environment("WEFT_CAMPAIGN")) == "full") {
    plan.kernels = is_one_of_three(machine.config) ? kFullKernels : kFullKernelsElsewhere;
    plan.seed = 1 + size * kFullKernels;
    if (!machine.name.empty()) {
      plan.kernels = kFullKernelsOfLanes;
      plan.seed = 1 + number * kFullKernelsOfLanes;
    }
  } else {
    const bool is_long = std::string(environment("WEFT_CAMPAIGN")) == "long";
    plan.kernels = is_long ? kLongKernels : kSliceKernels;
    plan.seconds = (is_long ? kLongSeconds : kSliceSeconds) / static_cast<double>(count);
    plan.seed = 1'000'000 * (number + 1);
  }
  const std::string seed = environment("WEFT_CAMPAIGN_SEED"), kernels = environment("WEFT_CAMPAIGN_KERNELS");
  if (seed == "random")
    plan.seed += drawn_seed();
  else if (!seed.empty())
    plan.seed = std::strtoull(seed.c_str(), nullptr, 0);
  if (!kernels.empty()) {
    plan.kernels = static_cast<unsigned>(std::strtoul(kernels.c_str(), nullptr, 0));
    plan.seconds = 0;
  }
  return plan;
}

// The seed of the kernel under way, which outlives the process that runs it.
std::uint64_t& seed_under_way() {
  static void* const page =
      mmap(nullptr, sizeof(std::uint64_t), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) throw std::runtime_error("no shared page");
  return *static_cast<std::uint64_t*>(page);
}

// "KERNELS INSTRUCTIONS", and the report of a failure.
std::string run(const Machine& machine, const Plan& plan) {
  Campaign campaign(machine);
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  unsigned kernels = 0;
  std::string report;
  while (report.empty() && (kernels < plan.kernels || elapsed() < plan.seconds)) {
    seed_under_way() = plan.seed + kernels++;
    report = campaign.run(seed_under_way()).report;
  }
  if (machine.name.rfind("scalar_", 0) == 0 && kernels >= kKernelsWithScalars &&
      campaign.scalar_instructions() == 0)
    report += "nothing was scalar";
  return std::to_string(kernels) + " " + std::to_string(campaign.thread_instructions()) + "\n" + report;
}

// Prints what all machines of this process came to.
class Sum : public ::testing::Environment {
 public:
  void add(std::uint64_t kernels, std::uint64_t instructions) {
    ++machines_;
    kernels_ += kernels;
    instructions_ += instructions;
  }
  void TearDown() override {
    std::cout << machines_ << " machines ran " << kernels_ << " kernels, " << instructions_ / 1e6
              << " million thread instructions\n";
  }

 private:
  std::uint64_t machines_ = 0, kernels_ = 0, instructions_ = 0;
};
Sum* sum() {
  static Sum* const instance = [] {
    auto* made = new Sum;
    ::testing::AddGlobalTestEnvironment(made);  // which owns it
    return made;
  }();
  return instance;
}
[[maybe_unused]] const Sum* const registered = sum();

class Equivalence : public ::testing::TestWithParam<std::pair<std::size_t, Machine>> {};

// In a process of its own, because the campaign runs all machines and SystemC elaborates once.
TEST_P(Equivalence, MemoryIsThatOfTheInterpreter) {
  const auto& [number, machine] = GetParam();
  const Plan plan = plan_of(machine, number, machines().size());
  seed_under_way() = plan.seed;
  std::istringstream result(apart([&, &machine = machine] { return run(machine, plan); }));
  std::uint64_t kernels = 0, instructions = 0;
  result >> kernels >> instructions;
  const std::string report(std::istreambuf_iterator<char>(result.ignore()), {});
  sum()->add(kernels, instructions);
  std::cout << kernels << " kernels from seed " << plan.seed << " on\n";
  EXPECT_GE(kernels, report.empty() ? plan.kernels : 1)
      << "the process died; to repeat: " << how_to_repeat(machine, seed_under_way());
  EXPECT_EQ(report, "");
}

std::vector<std::pair<std::size_t, Machine>> numbered(const std::vector<Machine>& list) {
  std::vector<std::pair<std::size_t, Machine>> result;
  result.reserve(list.size());
  for (const auto& machine : list) result.emplace_back(result.size(), machine);
  return result;
}

INSTANTIATE_TEST_SUITE_P(Machines, Equivalence, ::testing::ValuesIn(numbered(machines())),
                         [](const auto& info) { return test_name(info.param.second); });

}  // namespace
}  // namespace weft::test::equivalence_test
