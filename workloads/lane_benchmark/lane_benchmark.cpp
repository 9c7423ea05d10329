#include "workloads/host.h"

namespace weft::workloads::lane_benchmark {
namespace {

constexpr int kPairs = 96;  // as in lane_benchmark.cu
constexpr std::uint32_t kStep = 0x9e3779b9, kFlip = 0x5bd1e995;

class LaneBenchmark : public Workload {
 public:
  std::string name() const override { return "lane_benchmark"; }
  std::string summary() const override {
    return "one block of dependent integer operations, a chosen number of warps and of threads in each";
  }
  std::vector<Option> options() const override {
    return {{"active", 1, 32, 1, "threads of each warp of 32 that work"},
            {"warps", 1, 32, 1, "of the block"},
            {"rounds", 1, 1u << 16, 1, "of 192 operations, for each mask"},
            {"independent", 0, 1, 1, "0: a thread has one chain; 1: eight, which take turns"},
            {"masks", 1, 1024, 1, "of each warp, one after the other"},
            {"seed", 0, UINT32_MAX, 1,
             "0: the first `active` threads work; else of masks in which a thread works with probability "
             "active / 32"},
            {"mask", 0, UINT32_MAX, 1, "0: by `active` and `seed`; else the mask of each warp of 32"}};
  }
  std::map<std::string, Size> sizes() const override {
    const auto size = [](std::uint64_t active, std::uint64_t warps, std::uint64_t rounds) {
      return Size{{"active", active}, {"warps", warps}, {"rounds", rounds}, {"independent", 0},
                  {"masks", 1},       {"seed", 0},      {"mask", 0}};
    };
    return {{"small", size(20, 4, 4)}, {"default", size(32, 32, 128)}, {"large", size(32, 32, 1024)}};
  }
  Code code() const override { return built_code(name()); }

  Result run(runtime::Device& device, const Size& values, const Code& code) override {
    const auto active = static_cast<unsigned>(values.at("active"));
    const auto turns = static_cast<std::size_t>(values.at("masks"));
    const auto warps = static_cast<std::uint32_t>(values.at("warps"));
    const auto rounds = static_cast<std::int32_t>(values.at("rounds"));
    const std::uint32_t chains = values.at("independent") != 0 ? 8 : 1;
    const auto seed = static_cast<std::uint32_t>(values.at("seed"));
    const auto fixed = static_cast<std::uint32_t>(values.at("mask"));
    std::vector<std::uint32_t> masks(warps * turns, fixed != 0 ? fixed : UINT32_MAX >> (32 - active));
    Random random(device, seed);
    for (std::uint32_t& mask : masks) {
      if (seed == 0 || fixed != 0) break;
      mask = 0;
      for (unsigned thread = 0; thread < 32; ++thread)
        mask |= (random.next() >> 8) % 32 < active ? 1u << thread : 0;
    }
    std::vector<std::uint32_t> want(std::size_t{warps} * 32);
    for (std::size_t thread = 0; thread < want.size(); ++thread) {
      device.stop_if_interrupted();
      std::int64_t steps = 0;
      for (std::size_t turn = 0; turn < turns; ++turn)
        steps += masks[thread / 32 * turns + turn] >> (thread % 32) & 1;
      steps *= std::int64_t{rounds} * kPairs / chains;
      for (std::uint32_t chain = 0; chain < chains; ++chain) {
        auto x = static_cast<std::uint32_t>(thread) + chain;
        for (std::int64_t i = 0; i < steps; ++i) x = (x + kStep) ^ kFlip;
        want[thread] += x;
      }
    }

    auto& module = device.load_module(code.ptx, code.file);
    const DeviceArray<std::uint32_t> device_masks(device, masks), results(device, want.size());
    device.launch(module, kernel_of(module, code, chains == 1 ? "one_chain" : "eight_chains"), {1, 1, 1},
                  {warps * 32, 1, 1},
                  runtime::Arguments()
                      .add(device_masks.address())
                      .add(static_cast<std::int32_t>(turns))
                      .add(rounds)
                      .add(kStep)
                      .add(kFlip)
                      .add(results.address()));
    device.synchronise();
    return compare_equal("ends of the chains", results.read(), want);
  }
};

}  // namespace

std::unique_ptr<Workload> make() {
  return std::make_unique<LaneBenchmark>();
}

}  // namespace weft::workloads::lane_benchmark
