// The strongest test: every scheme, warp size, dependence model and machine leaves the memory image that the
// plain per-thread interpreter leaves.
//
// A slice of the campaign runs by default; WEFT_CAMPAIGN=full runs for as long as WEFT_CAMPAIGN_SECONDS says
// (600), and WEFT_CAMPAIGN_SEED starts elsewhere. A failure names the seed of its kernel: the same number
// generates it again.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <random>

#include "equivalence/kernel_generator.h"
#include "interpreter/interpreter.h"
#include "platform/gpu_bench.h"
#include "runtime/arguments.h"
#include "runtime/device.h"
#include "warp_formation/warp_formation.h"

namespace weft::test {
namespace {

struct Machine {
  std::string config, scheme, dependence;
  unsigned warp_size = 32;
  std::uint64_t seed = 1;  // of its first kernel
  bool likely_points = false;
};

std::vector<Machine> machines() {
  std::vector<Machine> list;
  for (const auto& scheme : warp_formation::scheme_names()) {
    for (const auto& config : config_names()) {
      for (const unsigned size : {8u, 16u, 32u, 64u}) {
        for (const char* dependence : {"barrel", "scoreboard"}) {
          list.push_back({config, scheme, dependence, size, (list.size() + 1) * 1'000'000});
        }
      }
    }
  }
  for (const char* scheme : {"sbr", "tbc"}) {
    for (const char* config : {"gtx480", "harp-fermi"}) {
      for (const unsigned size : {8u, 32u}) {
        for (const char* dependence : {"barrel", "scoreboard"})
          list.push_back({config, scheme, dependence, size, (list.size() + 1) * 1'000'000, true});
      }
    }
  }
  return list;
}

double seconds_to_run() {
  const char* mode = std::getenv("WEFT_CAMPAIGN");
  if (mode == nullptr || std::strcmp(mode, "full") != 0) return 0.4;
  const char* seconds = std::getenv("WEFT_CAMPAIGN_SECONDS");
  return (seconds == nullptr ? 600 : std::atof(seconds)) / static_cast<double>(machines().size());
}

std::uint64_t first_seed(const Machine& machine) {
  const char* seed = std::getenv("WEFT_CAMPAIGN_SEED");
  return seed == nullptr ? machine.seed : std::strtoull(seed, nullptr, 0);
}

struct Image {
  std::vector<std::uint32_t> slots, table, sums;
};

Image initial(std::uint64_t seed, std::uint32_t threads) {
  std::mt19937_64 random(seed);
  Image image{std::vector<std::uint32_t>(std::size_t{threads} * kSlotWords, 0xabababab),
              std::vector<std::uint32_t>(kTableWords), std::vector<std::uint32_t>(kSums, 12345)};
  for (auto& word : image.table) word = static_cast<std::uint32_t>(random() >> random() % 32);
  return image;
}

template <class T>
std::vector<std::uint8_t> bytes_of(const std::vector<T>& words) {
  std::vector<std::uint8_t> bytes(words.size() * sizeof(T));
  std::memcpy(bytes.data(), words.data(), bytes.size());
  return bytes;
}

// Runs kernel `seed` on both; empty if they agree.
std::string compare(runtime::Device& device, std::uint64_t seed) {
  std::mt19937_64 random(seed * 31 + 7);
  const std::uint32_t blocks = 1 + random() % 5, threads = 1 + random() % kMaxBlock;
  Image image = initial(seed, blocks * threads);
  auto& module = device.load_module(random_kernel(seed), "random.ptx");

  // One allocation, so that the interpreter's memory is one range.
  const std::uint64_t slots = 0, table = image.slots.size() * 4, sums = table + kTableWords * 4,
                      end = sums + kSums * 4;
  std::vector<std::uint8_t> expected = bytes_of(image.slots);
  for (const auto* part : {&image.table, &image.sums}) {
    const auto more = bytes_of(*part);
    expected.insert(expected.end(), more.begin(), more.end());
  }
  const auto base = device.allocate(end);
  device.copy_to(base, expected.data(), end);
  const auto arguments = runtime::Arguments().add(base + slots).add(base + table).add(base + sums);
  const ptx::Program& program = device.program(module, "k");

  Launch launch;
  launch.program = &program;
  launch.grid = {blocks, 1, 1};
  launch.block = {threads, 1, 1};
  launch.parameters = runtime::lay_out(arguments, program);
  Interpreter interpreter(expected, base);
  interpreter.run(launch);

  device.launch(module, "k", {blocks, 1, 1}, {threads, 1, 1}, arguments);
  device.synchronise();
  std::vector<std::uint8_t> got(end);
  device.copy_from(got.data(), base, end);
  if (const std::string broken = device.gpu().violations(); !broken.empty()) return broken;
  if (device.gpu().totals().thread_instructions != interpreter.thread_instructions()) {
    return "the GPU executed " + std::to_string(device.gpu().totals().thread_instructions) +
           " thread instructions, the interpreter " + std::to_string(interpreter.thread_instructions());
  }
  for (std::size_t i = 0; i < end; ++i) {
    if (got[i] == expected[i]) continue;
    return i < table ? "slot word " + std::to_string(i / 4 % kSlotWords) + " of thread " +
                           std::to_string(i / 4 / kSlotWords) + " of " + std::to_string(blocks) + " x " +
                           std::to_string(threads) + " differs"
                     : (i < sums ? "table" : "sum") + std::string(" word ") +
                           std::to_string((i - (i < sums ? table : sums)) / 4) + " differs";
  }
  return "";
}

// Runs kernel after kernel on one GPU, reset in between. Empty, or what differs and for which seed.
std::string campaign(const Machine& machine) {
  runtime::DeviceOptions options;
  options.monitors = true;
  runtime::Device device(
      load_config(
          machine.config,
          {"sm.count=2", "gddr5.bytes=268435456", "watchdog.cycles=200000",
           "sm.dependence=" + machine.dependence, "warp_formation.scheme=" + machine.scheme,
           "warp_formation.warp_size=" + std::to_string(machine.warp_size),
           std::string("warp_formation.likely_convergence=") + (machine.likely_points ? "static" : "off")}),
      options);
  constexpr unsigned kAtLeast = 5;
  const double seconds = seconds_to_run();
  const auto start = std::chrono::steady_clock::now();
  const auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  std::uint64_t seed = first_seed(machine);
  for (unsigned kernels = 0; elapsed() < seconds || kernels < kAtLeast; ++seed, ++kernels) {
    std::string difference;
    try {
      difference = compare(device, seed);
    } catch (const std::exception& error) {
      difference = error.what();
    }
    if (!difference.empty()) {
      return "kernel of seed " + std::to_string(seed) + " (WEFT_CAMPAIGN_SEED=" + std::to_string(seed) +
             "): " + difference;
    }
    device.reset();
  }
  return "";
}

void PrintTo(const Machine& machine, std::ostream* out) {
  *out << machine.config << ", " << machine.scheme << ", " << machine.dependence << ", warps of "
       << machine.warp_size << (machine.likely_points ? ", likely-convergence points" : "");
}

class Equivalence : public ::testing::TestWithParam<Machine> {};

// In a process of its own, because the campaign runs all machines and SystemC elaborates once.
TEST_P(Equivalence, MemoryIsThatOfTheInterpreter) {
  EXPECT_EQ(apart([] { return campaign(GetParam()); }), "");
}

INSTANTIATE_TEST_SUITE_P(Machines, Equivalence, ::testing::ValuesIn(machines()), [](const auto& info) {
  std::string name = info.param.scheme + "_" + info.param.config + "_" +
                     std::to_string(info.param.warp_size) + "_" + info.param.dependence +
                     (info.param.likely_points ? "_likely" : "");
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

}  // namespace
}  // namespace weft::test
