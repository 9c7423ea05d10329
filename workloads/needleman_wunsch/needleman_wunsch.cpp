#include <algorithm>

#include "workloads/host.h"

namespace weft::workloads::needleman_wunsch {
namespace {

constexpr std::uint32_t kTile = 16;      // as in needleman_wunsch.cu
constexpr std::uint32_t kResidues = 24;  // kinds of letters, as in the tables for proteins

// Similarities of pairs of letters: 4 to 11 for equal ones, -4 to 3 for others, symmetric.
std::vector<std::int32_t> random_table(Random& random) {
  std::vector<std::int32_t> table(kResidues * kResidues);
  for (std::uint32_t a = 0; a < kResidues; ++a) {
    for (std::uint32_t b = 0; b <= a; ++b) {
      const std::int32_t value = static_cast<std::int32_t>(random.next() % 8) + (a == b ? 4 : -4);
      table[a * kResidues + b] = table[b * kResidues + a] = value;
    }
  }
  return table;
}

class NeedlemanWunsch : public Workload {
 public:
  std::string name() const override { return "needleman_wunsch"; }
  std::string summary() const override {
    return "alignment by dynamic programming, diagonals of tiles: barriers, few threads";
  }
  std::vector<Option> options() const override {
    return {{"n", kTile, 8192, kTile, "letters of each sequence"},
            {"penalty", 0, 100, 1, "what a gap costs"},
            {"rolled", 0, 1, 1, "1: loops over the rows of a tile; 0: unrolled"},
            {"seed", 0, UINT32_MAX, 1, "of the sequences and the table of similarities"}};
  }
  std::map<std::string, Size> sizes() const override {
    const auto size = [](std::uint64_t n) {
      return Size{{"n", n}, {"penalty", 10}, {"rolled", 0}, {"seed", 12345}};
    };
    return {{"small", size(64)},  {"default", size(512)}, {"large", size(2048)}, {"dwr", size(512)},
            {"crown", size(512)}, {"harp", size(2048)},   {"stsimt", size(2048)}};
  }
  std::uint64_t device_bytes(const Size& values) const override {
    return 2 * sizeof(std::int32_t) * (values.at("n") + 1) * (values.at("n") + 1);
  }
  Code code() const override { return built_code(name()); }

  Result run(runtime::Device& device, const Size& values, const Code& code) override {
    takes_no_kernel(code);
    const auto n = static_cast<std::uint32_t>(values.at("n"));
    const auto penalty = static_cast<std::int32_t>(values.at("penalty"));
    Random random(device, static_cast<std::uint32_t>(values.at("seed")));
    const auto table = random_table(random);
    std::vector<std::uint32_t> down(n), across(n);
    for (auto& letter : down) letter = random.next() % kResidues;
    for (auto& letter : across) letter = random.next() % kResidues;

    const std::size_t columns = n + 1;
    std::vector<std::int32_t> similarity(columns * columns), scores(columns * columns);
    for (std::size_t y = 1; y <= n; ++y) {
      for (std::size_t x = 1; x <= n; ++x) {
        similarity[y * columns + x] = table[down[y - 1] * kResidues + across[x - 1]];
      }
      scores[y * columns] = scores[y] = -static_cast<std::int32_t>(y) * penalty;
    }

    auto& module = device.load_module(code.ptx, code.file);
    const DeviceArray<std::int32_t> device_similarity(device, similarity), device_scores(device, scores);
    const auto arguments = [&](std::uint32_t tiles) {
      return runtime::Arguments()
          .add(device_similarity.address())
          .add(device_scores.address())
          .add(static_cast<std::int32_t>(columns))
          .add(penalty)
          .add(static_cast<std::int32_t>(tiles));
    };
    const std::uint32_t width = n / kTile;
    const bool rolled = values.at("rolled") == 1;
    const char* upper = rolled ? "upper_left_rolled" : "upper_left";
    const char* lower = rolled ? "lower_right_rolled" : "lower_right";
    for (std::uint32_t tiles = 1; tiles <= width; ++tiles) {
      device.launch(module, upper, {tiles, 1, 1}, {kTile, 1, 1}, arguments(tiles));
    }
    for (std::uint32_t tiles = width - 1; tiles >= 1; --tiles) {
      device.launch(module, lower, {tiles, 1, 1}, {kTile, 1, 1},
                    arguments(tiles).add(static_cast<std::int32_t>(width)));
    }
    device.synchronise();

    for (std::size_t at = columns; at < scores.size(); ++at) {
      if (at % columns == 0) continue;
      scores[at] = std::max({scores[at - columns - 1] + similarity[at], scores[at - 1] - penalty,
                             scores[at - columns] - penalty});
    }
    return compare_equal("scores", device_scores.read(), scores);
  }
};

}  // namespace

std::unique_ptr<Workload> make() {
  return std::make_unique<NeedlemanWunsch>();
}

}  // namespace weft::workloads::needleman_wunsch
