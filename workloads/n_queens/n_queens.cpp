#include <algorithm>
#include <numeric>

#include "weft/common/error.h"
#include "workloads/host.h"

namespace weft::workloads::n_queens {
namespace {

constexpr std::uint32_t kThreads = 96, kMaxRows = 10;  // as in n_queens.cu

// Queens in the first rows, one column each.
using Placement = std::vector<std::uint32_t>;

bool attacked(const Placement& queens, std::uint32_t column) {
  for (std::size_t row = 0; row < queens.size(); ++row) {
    const std::size_t below = queens.size() - row;
    if (queens[row] == column || queens[row] + below == column || queens[row] == column + below) return true;
  }
  return false;
}

// Calls visit(queens) for every way to go on with `queens` up to `rows` rows of n columns.
template <class Visit>
void place(std::uint32_t n, std::size_t rows, Placement& queens, Visit& visit) {
  if (queens.size() == rows) return visit(queens);
  for (std::uint32_t column = 0; column < n; ++column) {
    if (attacked(queens, column)) continue;
    queens.push_back(column);
    place(n, rows, queens, visit);
    queens.pop_back();
  }
}

// The fields of the next row that queens attack, as the kernel takes them: along columns, along the diagonal
// towards higher columns, towards lower ones.
struct Attacks {
  std::vector<std::uint32_t> columns, left, right;
  void add(std::uint32_t n, const Placement& queens) {
    std::uint32_t column = 0, higher = 0, lower = 0;
    for (const std::uint32_t queen : queens) {
      column |= 1u << queen;
      higher = (higher | 1u << queen) << 1;
      lower = (lower | 1u << queen) >> 1;
    }
    columns.push_back(column), left.push_back(higher & ((1u << n) - 1)), right.push_back(lower);
  }
};

class NQueens : public Workload {
 public:
  std::string name() const override { return "n_queens"; }
  std::string summary() const override {
    return "n queens by depth-first search with stacks in shared memory: divergence, few threads";
  }
  std::vector<Option> options() const override {
    return {{"n", 4, 16, 1, "queens"},
            {"placed", 1, 8, 1, "rows that the host fills; the device searches the others, at most 10"},
            {"blocks", 1, 65'535, 1, "thread blocks of 96 threads of a launch"}};
  }
  std::map<std::string, Size> sizes() const override {
    const Size paper{{"n", 10}, {"placed", 4}, {"blocks", 256}};
    return {{"small", {{"n", 8}, {"placed", 3}, {"blocks", 16}}},
            {"default", {{"n", 12}, {"placed", 4}, {"blocks", 256}}},
            {"large", {{"n", 13}, {"placed", 5}, {"blocks", 256}}},
            {"dwr", paper},
            {"crown", paper},
            {"harp", paper}};
  }
  Code code() const override { return built_code(name()); }

  Result run(runtime::Device& device, const Size& values, const Code& code) override {
    const auto n = static_cast<std::uint32_t>(values.at("n"));
    const auto placed = static_cast<std::uint32_t>(values.at("placed"));
    const auto blocks = static_cast<std::uint32_t>(values.at("blocks"));
    if (placed >= n || n - placed > kMaxRows) {
      throw InputError("n_queens", "placed: found " + std::to_string(placed) +
                                       "; allowed: from n - 10 to n - 1, n is " + std::to_string(n));
    }
    // The CPU finds the completions of each placement, with the queens' columns instead of masks.
    Attacks attacks;
    std::vector<std::uint32_t> solutions;
    Placement queens;
    auto count = [&](const Placement&) { ++solutions.back(); };
    auto begin = [&](const Placement& first_rows) {
      attacks.add(n, first_rows);
      solutions.push_back(0);
      Placement all = first_rows;
      place(n, n, all, count);
    };
    // A first queen in the left half has a mirror image in the right half; one in the middle comes last.
    std::size_t mirrored = 0;
    for (std::uint32_t column = 0; column < (n + 1) / 2; ++column) {
      queens = {column};
      place(n, placed, queens, begin);
      if (column < n / 2) mirrored = solutions.size();
    }
    for (std::size_t i = 0; i < mirrored; ++i) solutions[i] *= 2;

    auto& module = device.load_module(code.ptx, code.file);
    const std::string kernel = kernel_of(module, code);
    const DeviceArray<std::uint32_t> columns(device, attacks.columns), left(device, attacks.left),
        right(device, attacks.right);
    const DeviceArray<std::uint32_t> counts(device, blocks);
    std::vector<std::uint32_t> got, want;
    // As many placements at a time as there are threads.
    const std::size_t batch = std::size_t{blocks} * kThreads;
    for (std::size_t first = 0; first < solutions.size(); first += batch) {
      const std::size_t here = std::min(batch, solutions.size() - first);
      device.launch(module, kernel, {blocks, 1, 1}, {kThreads, 1, 1},
                    runtime::Arguments()
                        .add(static_cast<std::int32_t>(n))
                        .add(static_cast<std::int32_t>(n - placed))
                        .add(columns.address() + first * sizeof(std::uint32_t))
                        .add(left.address() + first * sizeof(std::uint32_t))
                        .add(right.address() + first * sizeof(std::uint32_t))
                        .add(static_cast<std::int32_t>(here))
                        .add(static_cast<std::int32_t>(std::min(mirrored - std::min(mirrored, first), here)))
                        .add(counts.address()));
      device.synchronise();
      const auto of_blocks = counts.read();
      got.insert(got.end(), of_blocks.begin(), of_blocks.end());
      std::vector<std::uint32_t> sums(blocks, 0);
      for (std::size_t i = 0; i < here; ++i) sums[i / kThreads] += solutions[first + i];
      want.insert(want.end(), sums.begin(), sums.end());
    }
    Result result = compare_equal("solutions found by blocks", got, want);
    const std::uint64_t total = std::accumulate(got.begin(), got.end(), std::uint64_t{0});
    if (result.verified) result.message += "; " + std::to_string(total) + " solutions";
    return result;
  }
};

}  // namespace

std::unique_ptr<Workload> make() {
  return std::make_unique<NQueens>();
}

}  // namespace weft::workloads::n_queens
