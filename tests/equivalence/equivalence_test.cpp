// The strongest test: every scheme, dependence model, machine and warp size leaves the memory image that the
// plain per-thread interpreter leaves, and finishes.
//
// By default a slice of a minute over all machines. With WEFT_CAMPAIGN=full 2,000 kernels for every scheme,
// dependence model and each of three machines, 500 of them with each warp size; on the other machines a tenth
// of that. WEFT_CAMPAIGN_KERNELS=N runs N kernels on each (with each warp size), WEFT_CAMPAIGN_SEED=N starts
// at another seed, WEFT_CAMPAIGN_SEED=random at one that is drawn. Every failure is shrunk and tells how to
// repeat it.
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <chrono>
#include <cstdlib>
#include <iostream>
#include <random>
#include <sstream>

#include "equivalence/campaign.h"
#include "platform/gpu_bench.h"
#include "warp_formation/warp_formation.h"

namespace weft::test {
namespace {

constexpr double kSliceSeconds = 60;
constexpr unsigned kSliceKernels = 3;  // at least
constexpr unsigned kFullKernels = 500, kFullKernelsElsewhere = 50;

const char* environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool is_one_of_three(const std::string& config) {
  return config == "gtx480" || config == "dwr-tesla" || config == "harp-fermi";
}

std::vector<Machine> machines() {
  std::vector<Machine> list;
  for (const auto& scheme : warp_formation::scheme_names()) {
    for (const auto& config : config_names()) {
      for (const unsigned size : {8u, 16u, 32u, 64u}) {
        for (const char* dependence : {"barrel", "scoreboard"})
          list.push_back({config, scheme, dependence, size, false});
      }
    }
  }
  for (const char* scheme : {"sbr", "tbc"}) {
    for (const char* config : {"gtx480", "harp-fermi", "dwr-tesla"}) {
      for (const char* dependence : {"barrel", "scoreboard"})
        list.push_back({config, scheme, dependence, 32, true});
    }
  }
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
  } else {
    plan.kernels = kSliceKernels;
    plan.seconds = kSliceSeconds / static_cast<double>(count);
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
}  // namespace weft::test
