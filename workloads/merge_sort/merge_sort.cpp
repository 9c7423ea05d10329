#include <algorithm>
#include <numeric>
#include <utility>

#include "workloads/host.h"

namespace weft::workloads::merge_sort {
namespace {

// As in merge_sort.cu and in the SDK.
constexpr std::uint32_t kShared = 1024, kSample = 128, kSearchThreads = 256;

class MergeSort : public Workload {
 public:
  std::string name() const override { return "merge_sort"; }
  std::string summary() const override {
    return "merge sort of keys with values: binary searches in shared and global memory";
  }
  std::vector<Option> options() const override {
    return {{"log2n", 11, 24, 1, "binary logarithm of the pairs to sort"},
            {"seed", 0, UINT32_MAX, 1, "of the keys"}};
  }
  std::map<std::string, Size> sizes() const override {
    return {{"small", {{"log2n", 12}, {"seed", 8}}},
            {"default", {{"log2n", 15}, {"seed", 8}}},
            {"large", {{"log2n", 20}, {"seed", 8}}},
            {"stsimt", {{"log2n", 18}, {"seed", 8}}}};
  }
  std::map<std::string, std::vector<std::string>> settings() const override {
    return {{"stsimt", {"sm.registers_per_thread=18"}}};
  }
  std::uint64_t device_bytes(const Size& values) const override {
    return 6 * sizeof(std::uint32_t) << values.at("log2n");
  }
  Code code() const override { return built_code(name()); }

  Result run(runtime::Device& device, const Size& values, const Code& code) override {
    takes_no_kernel(code);
    const std::uint32_t n = 1u << values.at("log2n");
    Random random(device, static_cast<std::uint32_t>(values.at("seed")));
    std::vector<std::uint32_t> keys(n), order(n);
    for (auto& key : keys) key = random.next() % n;  // some are equal
    std::iota(order.begin(), order.end(), 0u);

    auto& module = device.load_module(code.ptx, code.file);
    const DeviceArray<std::uint32_t> keys_in(device, keys), values_in(device, order);
    const Pairs one(device, n), other(device, n);
    const DeviceArray<std::uint32_t> ranks_a(device, n / kSample), ranks_b(device, n / kSample),
        limits_a(device, n / kSample), limits_b(device, n / kSample);
    const Pairs *from = &one, *to = &other;
    device.launch(module, "sort_shared", {n / kShared, 1, 1}, {kShared / 2, 1, 1},
                  runtime::Arguments()
                      .add(keys_in.address())
                      .add(values_in.address())
                      .add(from->keys.address())
                      .add(from->values.address()));
    const std::uint32_t threads = n / kSample / 2;
    const dispatch::Dim3 searches{blocks_for(threads, kSearchThreads), 1, 1}, block{kSearchThreads, 1, 1};
    for (std::uint32_t length = kShared; length < n; length *= 2) {
      device.launch(module, "rank_samples", searches, block,
                    runtime::Arguments()
                        .add(from->keys.address())
                        .add(ranks_a.address())
                        .add(ranks_b.address())
                        .add(length)
                        .add(threads));
      for (const auto& [ranks, limits] : {std::pair(&ranks_a, &limits_a), std::pair(&ranks_b, &limits_b)}) {
        device.launch(
            module, "merge_ranks", searches, block,
            runtime::Arguments().add(ranks->address()).add(limits->address()).add(length).add(threads));
      }
      device.launch(module, "merge_intervals", {n / kSample, 1, 1}, {kSample, 1, 1},
                    runtime::Arguments()
                        .add(from->keys.address())
                        .add(from->values.address())
                        .add(limits_a.address())
                        .add(limits_b.address())
                        .add(to->keys.address())
                        .add(to->values.address())
                        .add(length));
      std::swap(from, to);
    }
    device.synchronise();

    std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return keys[a] < keys[b]; });
    std::vector<std::uint32_t> sorted(n);
    std::transform(order.begin(), order.end(), sorted.begin(), [&](auto i) { return keys[i]; });
    Result result = compare_equal("keys", from->keys.read(), sorted);
    return result.verified ? compare_equal("values", from->values.read(), order) : result;
  }

 private:
  struct Pairs {
    Pairs(runtime::Device& device, std::size_t n) : keys(device, n), values(device, n) {}
    DeviceArray<std::uint32_t> keys, values;
  };
};

}  // namespace

std::unique_ptr<Workload> make() {
  return std::make_unique<MergeSort>();
}

}  // namespace weft::workloads::merge_sort
