#include "equivalence/campaign.h"

#include <cstring>
#include <random>

#include "interpreter/interpreter.h"
#include "weft/platform/gpu.h"
#include "weft/platform/gpu_config.h"
#include "weft/runtime/arguments.h"

namespace weft::test {
namespace {

// Device memory of a launch: the threads' slots, the table, the sums.
struct Memory {
  std::size_t table = 0, sums = 0;  // byte offsets; the slots begin at 0
  std::vector<std::uint8_t> bytes;
};

Memory initial(const RandomKernel& kernel, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::uint32_t> words(std::size_t{kernel.blocks} * kernel.threads * kSlotWords, 0xabababab);
  Memory memory;
  memory.table = words.size() * 4;
  for (std::uint32_t i = 0; i < kTableWords; ++i) {
    words.push_back(static_cast<std::uint32_t>(random() >> random() % 32));
  }
  memory.sums = words.size() * 4;
  words.resize(words.size() + kSums, 12345);
  memory.bytes.resize(words.size() * 4);
  std::memcpy(memory.bytes.data(), words.data(), memory.bytes.size());
  return memory;
}

std::string name_of_byte(const Memory& memory, std::size_t byte) {
  if (byte >= memory.sums) return "sum " + std::to_string((byte - memory.sums) / 4);
  if (byte >= memory.table) return "word " + std::to_string((byte - memory.table) / 4) + " of the table";
  return "slot word " + std::to_string(byte / 4 % kSlotWords) + " of thread " +
         std::to_string(byte / 4 / kSlotWords) + " of the grid";
}

std::string hex_word(const std::vector<std::uint8_t>& bytes, std::size_t byte) {
  std::uint32_t word = 0;
  std::memcpy(&word, bytes.data() + byte / 4 * 4, 4);
  char text[16];
  snprintf(text, sizeof text, "0x%08x", word);
  return text;
}

std::string launch_of(const RandomKernel& kernel) {
  return "<<<" + std::to_string(kernel.blocks) + ", " + std::to_string(kernel.threads) + ">>>";
}

std::vector<std::string> settings_of(const Machine& machine) {
  std::vector<std::string> settings{"sm.count=2",
                                    "dram.bytes=268435456",
                                    "watchdog.cycles=200000",
                                    "sm.dependence=" + machine.dependence,
                                    "warp_formation.scheme=" + machine.scheme,
                                    "warp_formation.warp_size=" + std::to_string(machine.warp_size)};
  if (machine.max_registers != 0)
    settings.push_back("sm.max_registers_per_thread=" + std::to_string(machine.max_registers));
  if (machine.one_clock) {
    for (const char* clock : {"core", "interconnect", "memory"})
      settings.push_back(std::string("clocks.") + clock + "_mhz=700");
  }
  settings.insert(settings.end(), machine.settings.begin(), machine.settings.end());
  return settings;
}

GpuConfig config_of(const Machine& machine) {
  GpuConfig config = load_config(machine.config, settings_of(machine));
  if (machine.tables == 0) return config;
  std::mt19937_64 random(machine.tables);
  if (auto* const own = config.warp_formation.options.find(machine.scheme)) own->randomise(random);
  return config.checked(machine.config);
}

runtime::DeviceOptions options_of(const GpuConfig& config) {
  runtime::DeviceOptions options;
  options.monitors = true;
  options.check.scalar = config.sm.scalarization.on();
  return options;
}

}  // namespace

namespace {

std::string tables_of(const Machine& machine) {
  return machine.tables == 0 ? "" : ", tables of seed " + std::to_string(machine.tables);
}

}  // namespace

void PrintTo(const Machine& machine, std::ostream* out) {
  *out << machine.config << ", " << machine.scheme << ", " << machine.dependence << ", warps of "
       << machine.warp_size << tables_of(machine) << (machine.name.empty() ? "" : ", ") << machine.name;
}

std::string test_name(const Machine& machine) {
  std::string name = machine.scheme + "_" + machine.config + "_" + std::to_string(machine.warp_size) + "_" +
                     machine.dependence +
                     (machine.tables != 0 ? "_tables_" + std::to_string(machine.tables) : "") +
                     (machine.name.empty() ? "" : "_" + machine.name);
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
}

std::string how_to_repeat(const Machine& machine, std::uint64_t seed) {
  return "WEFT_CAMPAIGN_SEED=" + std::to_string(seed) +
         " WEFT_CAMPAIGN_KERNELS=1 ./weft campaign equivalence --gtest_filter='*/" + test_name(machine) + "'";
}

Campaign::Campaign(const Machine& machine, std::function<std::string(const std::string&)> mutate)
    : machine_(machine),
      mutate_(std::move(mutate)),
      device_(config_of(machine), options_of(config_of(machine))) {}

std::string Campaign::compare(const RandomKernel& kernel, std::uint64_t seed) {
  auto& original = device_.load_module(kernel.text, "random.ptx");
  auto& module = mutate_ ? device_.load_module(mutate_(kernel.text), "mutated.ptx") : original;
  Memory expected = initial(kernel, seed);
  std::vector<std::uint8_t> got = expected.bytes;

  // One allocation, so that the interpreter's memory is one range.
  const auto base = device_.allocate(got.size());
  device_.copy_to(base, got.data(), got.size());
  const auto arguments = runtime::Arguments().add(base).add(base + expected.table).add(base + expected.sums);
  // The interpreter's program has all the registers that it needs, each thread its own.
  const ptx::DecodeOptions limited = original.options();
  original.set_options({});
  const ptx::Program& program = device_.program(original, "k");
  original.set_options(limited);
  const ptx::Program& fitting = device_.program(original, "k");
  const bool spilled = fitting.spill_bytes != 0;
  spilled_kernels_ += spilled ? 1 : 0;

  Launch launch;
  launch.program = &program;
  launch.grid = {kernel.blocks, 1, 1};
  launch.block = {kernel.threads, 1, 1};
  launch.parameters = runtime::lay_out(arguments, program);
  std::vector<std::uint8_t> unchanged = expected.bytes;
  Interpreter interpreter(expected.bytes, base);
  interpreter.run(launch);
  std::uint64_t instructions = interpreter.thread_instructions();
  if (spilled) {  // more loads and stores for registers, fewer for calls
    launch.program = &fitting;
    Interpreter with_spills(unchanged, base);
    with_spills.run(launch);
    instructions = with_spills.thread_instructions();
  }

  device_.launch(module, "k", {kernel.blocks, 1, 1}, {kernel.threads, 1, 1}, arguments);
  device_.synchronise();
  device_.copy_from(got.data(), base, got.size());
  if (std::string broken = device_.gpu().violations(); !broken.empty()) return broken;
  for (const check::Report& report : device_.reports()) return report.text;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i] == expected.bytes[i]) continue;
    return name_of_byte(expected, i) + " is " + hex_word(got, i) + ", the interpreter's " +
           hex_word(expected.bytes, i);
  }
  const std::uint64_t executed = device_.gpu().totals().thread_instructions;
  thread_instructions_ += executed;
  if (device_.gpu().config().sm.scalarization.on())
    scalar_instructions_ += device_.gpu().statistics().sum({"sm", "scalar", "instructions"}).value();
  if (executed == instructions) return "";
  return "the GPU executed " + std::to_string(executed) + " thread instructions, the interpreter " +
         std::to_string(instructions);
}

std::string Campaign::difference(const RandomKernel& kernel, std::uint64_t seed) {
  device_.reset();
  try {
    return compare(kernel, seed);
  } catch (const std::exception& error) {
    return error.what();
  }
}

Failure Campaign::run(std::uint64_t seed) {
  Choices choices(seed);
  const RandomKernel kernel = random_kernel(choices);
  Failure failure{difference(kernel, seed), "", {}};
  if (!failure) return failure;

  const auto generated = [](const Draws& draws) {
    Choices again(draws);
    return random_kernel(again);
  };
  const Smallest smallest = smallest_failing(
      choices.draws(), [](Choices& c) { random_kernel(c); },
      [&](const Draws& draws) { return !difference(generated(draws), seed).empty(); }, seconds_to_shrink_);
  failure.smallest = generated(smallest.draws);
  failure.report = "kernel of seed " + std::to_string(seed) + ", " + launch_of(kernel) + ", scheme " +
                   machine_.scheme + ", config " + machine_.config + ", dependence " + machine_.dependence +
                   ", warps of " + std::to_string(machine_.warp_size) + tables_of(machine_) +
                   (machine_.name.empty() ? "" : ", " + machine_.name) + ": " + failure.what +
                   "\nto repeat: " + how_to_repeat(machine_, seed) + "\nafter " +
                   std::to_string(smallest.shrinks) + " shrinks, " + std::to_string(smallest.tried) +
                   " tried" + (smallest.finished ? "" : " (time was over)") + ", " +
                   launch_of(failure.smallest) + ": " + difference(failure.smallest, seed) + "\n" +
                   failure.smallest.text;
  return failure;
}

}  // namespace weft::test
