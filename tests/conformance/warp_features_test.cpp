// The features of a warp from nvcc's PTX (warp_features.cu), in warps of several sizes; what must come out is
// computed here by plain C++.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "platform/gpu_bench.h"

namespace weft::test {
namespace {

using runtime::Arguments;

constexpr std::uint32_t kBlocks = 3, kThreads = 96, kAll = kBlocks * kThreads;

struct Machine {
  std::string config;
  unsigned warp_size;
};

void PrintTo(const Machine& m, std::ostream* out) {
  *out << m.config << ", warps of " << m.warp_size;
}

template <class T>
std::vector<T> random_values(std::uint64_t seed, std::size_t count, std::int64_t low, std::int64_t high) {
  std::mt19937_64 random(seed);
  std::vector<T> values(count);
  for (T& value : values)
    value = static_cast<T>(low +
                           static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(high - low + 1)));
  return values;
}

class WarpFeatures : public ::testing::TestWithParam<Machine> {
 protected:
  WarpFeatures()
      : device(load_config(GetParam().config,
                           {"sm.count=2", "dram.bytes=268435456", "watchdog.cycles=200000",
                            "warp_formation.warp_size=" + std::to_string(GetParam().warp_size)}),
               {}),
        module(device.load_module(
            runtime::read_text(std::string(WEFT_CONFORMANCE_FOLDER) + "/warp_features.ptx"),
            "warp_features.ptx")) {}

  template <class T>
  runtime::Address copy(const std::vector<T>& values) {
    const auto address = device.allocate(values.size() * sizeof(T));
    device.copy_to(address, values.data(), values.size() * sizeof(T));
    return address;
  }
  template <class T>
  std::vector<T> read(runtime::Address from, std::size_t count) {
    std::vector<T> values(count);
    device.copy_from(values.data(), from, count * sizeof(T));
    return values;
  }
  void launch(const std::string& kernel, const Arguments& arguments, std::uint32_t blocks = kBlocks,
              std::uint32_t threads = kThreads) {
    device.launch(module, kernel, {blocks, 1, 1}, {threads, 1, 1}, arguments);
    device.synchronise();
  }
  // kernel(in, out) with `per_thread` results of each thread.
  template <class Out, class In>
  std::vector<Out> run(const std::string& kernel, const std::vector<In>& in, std::size_t per_thread = 1) {
    const auto from = copy(in), to = copy(std::vector<Out>(kAll * per_thread));
    launch(kernel, Arguments().add(from).add(to));
    return read<Out>(to, kAll * per_thread);
  }

  runtime::Device device;
  runtime::LoadedModule& module;
};

// Sums wrap around.
int plus(int a, int b) {
  return static_cast<int>(static_cast<unsigned>(a) + static_cast<unsigned>(b));
}

TEST_P(WarpFeatures, Shuffles) {
  const auto in = random_values<int>(1, kAll, -2000000000, 2000000000);
  const auto out = run<int>("shuffles", in);
  for (std::uint32_t w = 0; w < kAll; w += 32) {
    std::vector<int> v(in.begin() + w, in.begin() + w + 32), next(32);
    for (unsigned i = 0; i < 32; ++i) next[i] = plus(v[i], v[i ^ 1]);
    v = next;
    for (unsigned i = 0; i < 32; ++i) next[i] = plus(v[i], i % 8 + 3 < 8 ? v[i + 3] : v[i]);
    v = next;
    for (unsigned i = 0; i < 32; ++i) next[i] = v[i] ^ (i % 16 >= 2 ? v[i - 2] : v[i]);
    v = next;
    for (unsigned i = 0; i < 32; ++i) ASSERT_EQ(out[w + i], plus(v[i], v[5])) << w + i;
  }
}

TEST_P(WarpFeatures, Scan) {
  const auto in = random_values<long long>(2, kAll, -4000000000000, 4000000000000);
  const auto out = run<long long>("scan", in);
  long long sum = 0;
  for (std::uint32_t t = 0; t < kAll; ++t) {
    sum = t % 32 == 0 ? in[t] : sum + in[t];
    ASSERT_EQ(out[t], sum) << t;
  }
}

TEST_P(WarpFeatures, TileSums) {
  const auto in = random_values<int>(3, kAll, -1000, 1000);
  const auto out = run<int>("tile_sums", in);
  for (std::uint32_t tile = 0; tile < kAll / 8; ++tile) {
    int sum = 0;
    for (unsigned i = 0; i < 8; ++i) sum += in[8 * tile + i];
    ASSERT_EQ(out[tile], sum) << tile;
  }
}

TEST_P(WarpFeatures, TileExtremes) {
  const auto in = random_values<unsigned>(4, kAll, 0, 4000000000);
  const auto out = run<unsigned>("tile_extremes", in, 2);
  for (std::uint32_t t = 0; t < kAll; ++t) {
    const std::uint32_t first = t / 16 * 16;
    unsigned low = ~0u, sum = 0;
    for (unsigned i = 0; i < 16; ++i) {
      low = std::min(low, in[first + i]);
      sum += in[first + i];
    }
    ASSERT_EQ(out[2 * t], low) << t;
    ASSERT_EQ(out[2 * t + 1], sum) << t;
  }
}

TEST_P(WarpFeatures, FilterByCoalescedGroups) {
  const auto in = random_values<int>(5, kAll, -100, 100);
  const auto from = copy(in), to = copy(std::vector<int>(kAll)), count = copy(std::vector<int>(1));
  launch("filter", Arguments().add(from).add(to).add(count));
  std::vector<int> expected;
  for (const int v : in) {
    if (v > 0) expected.push_back(v);
  }
  ASSERT_EQ(read<int>(count, 1)[0], static_cast<int>(expected.size()));
  auto got = read<int>(to, expected.size());
  std::sort(got.begin(), got.end());
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(got, expected);
}

TEST_P(WarpFeatures, EqualKeys) {
  const auto in = random_values<int>(6, kAll, 0, 6);
  const auto out = run<unsigned>("equal_keys", in);
  for (std::uint32_t t = 0; t < kAll; ++t) {
    unsigned same = 0, before = 0;
    for (std::uint32_t k = t / 32 * 32; k < t / 32 * 32 + 32; ++k) {
      same += in[k] == in[t] ? 1 : 0;
      before += in[k] == in[t] && k < t ? 1 : 0;
    }
    ASSERT_EQ(out[t], same + 100 * before + 10000) << t;
  }
}

TEST_P(WarpFeatures, Votes) {
  const auto in = random_values<int>(7, kAll, -92, 92);
  const auto out = run<unsigned>("votes", in);
  for (std::uint32_t w = 0; w < kAll; w += 32) {
    unsigned ballot = 0;
    bool any = false, all = true;
    for (unsigned i = 0; i < 32; ++i) {
      ballot |= in[w + i] > 0 ? 1u << i : 0;
      any = any || in[w + i] > 90;
      all = all && in[w + i] > -90;
    }
    for (unsigned i = 0; i < 32; ++i) ASSERT_EQ(out[w + i], ballot + (any ? 1 : 0) + (all ? 2 : 0)) << w + i;
  }
}

TEST_P(WarpFeatures, Reductions) {
  const auto in = random_values<int>(8, kAll, -2000000000, 2000000000);
  const auto out = run<unsigned>("reductions", in, 8);
  for (std::uint32_t w = 0; w < kAll; w += 32) {
    const auto fold = [&](const std::function<unsigned(unsigned, unsigned)>& f) {
      auto sum = static_cast<unsigned>(in[w]);
      for (unsigned i = 1; i < 32; ++i) sum = f(sum, static_cast<unsigned>(in[w + i]));
      return sum;
    };
    const auto is_signed = [](auto f) {
      return [f](unsigned a, unsigned b) {
        return static_cast<unsigned>(f(static_cast<int>(a), static_cast<int>(b)));
      };
    };
    const std::vector<unsigned> expected = {fold([](unsigned a, unsigned b) { return a + b; }),
                                            fold(is_signed([](int a, int b) { return std::min(a, b); })),
                                            fold(is_signed([](int a, int b) { return std::max(a, b); })),
                                            fold([](unsigned a, unsigned b) { return std::min(a, b); }),
                                            fold([](unsigned a, unsigned b) { return std::max(a, b); }),
                                            fold([](unsigned a, unsigned b) { return a & b; }),
                                            fold([](unsigned a, unsigned b) { return a | b; }),
                                            fold([](unsigned a, unsigned b) { return a ^ b; })};
    for (unsigned i = 0; i < 32; ++i) {
      const std::vector<unsigned> got(out.begin() + 8 * (w + i), out.begin() + 8 * (w + i) + 8);
      ASSERT_EQ(got, expected) << w + i;
    }
  }
}

// Small whole numbers, so that sums are exact in any order.
TEST_P(WarpFeatures, PipelinedCopies) {
  constexpr int kChunks = 7;
  const auto in = random_values<float>(9, kBlocks * kChunks * 32 * 4, 0, 1000);
  const auto from = copy(in), to = copy(std::vector<float>(kBlocks * 32));
  launch("pipelined", Arguments().add(from).add(to).add(kChunks), kBlocks, 32);
  const auto out = read<float>(to, kBlocks * 32);
  for (std::uint32_t b = 0; b < kBlocks; ++b) {
    for (std::uint32_t t = 0; t < 32; ++t) {
      float sum = 0;
      for (std::uint32_t c = 0; c < kChunks; ++c) {
        const float* chunk = in.data() + (b * kChunks + c) * 128;
        sum += chunk[4 * t] + 2 * chunk[4 * t + 1];
        sum += 4 * chunk[4 * ((t + 1) % 32) + 2] + 8 * chunk[4 * ((t + 1) % 32) + 3];
      }
      ASSERT_EQ(out[b * 32 + t], sum) << b << ", " << t;
    }
  }
}

TEST_P(WarpFeatures, PaddedCopies) {
  constexpr int kCount = 41;
  const auto in = random_values<int>(10, kCount, 1, 1000);
  const auto from = copy(in), to = copy(std::vector<int>(64));
  launch("padded", Arguments().add(from).add(to).add(kCount), 1, 64);
  const auto out = read<int>(to, 64);
  for (int t = 0; t < 64; ++t)
    ASSERT_EQ(out[static_cast<std::size_t>(t)], 63 - t < kCount ? in[static_cast<std::size_t>(63 - t)] : 0)
        << t;
}

TEST_P(WarpFeatures, Bits) {
  std::mt19937_64 random(11);
  std::vector<std::uint64_t> in(kAll);
  for (auto& v : in) v = random() >> random() % 64;
  in[0] = 0;
  const auto out = run<std::uint64_t>("bits", in, 6);
  const auto reversed = [](std::uint64_t v, int width) {
    std::uint64_t r = 0;
    for (int i = 0; i < width; ++i) r |= (v >> i & 1) << (width - 1 - i);
    return r;
  };
  const auto ones = [](std::uint64_t v) {
    std::uint64_t n = 0;
    for (int i = 0; i < 64; ++i) n += v >> i & 1;
    return n;
  };
  const auto zeros = [](std::uint64_t v, int width) {
    std::uint64_t n = 0;
    for (int i = width - 1; i >= 0 && (v >> i & 1) == 0; --i) ++n;
    return n;
  };
  // The upper half of a product, by schoolbook multiplication of halves.
  const auto high = [](std::uint64_t a, std::uint64_t b) {
    const std::uint64_t mask = 0xffffffff, al = a & mask, ah = a >> 32, bl = b & mask, bh = b >> 32;
    const std::uint64_t middle = ah * bl + (al * bl >> 32), other = al * bh + (middle & mask);
    return ah * bh + (middle >> 32) + (other >> 32);
  };
  for (std::uint32_t t = 0; t < kAll; ++t) {
    const std::uint64_t v = in[t], w = v >> 13 & 0xffffffff;
    const auto factor = static_cast<std::uint64_t>(-123456789012345ll);
    const std::vector<std::uint64_t> expected = {
        ones(v) + 100 * ones(w),
        zeros(v, 64) + 100 * zeros(w, 32),
        reversed(v, 64),
        reversed(w, 32),
        high(v, 0x9e3779b97f4a7c15u),
        high(v, factor) - v - (v >> 63 != 0 ? factor : 0)};  // the factor is negative, v perhaps
    const std::vector<std::uint64_t> got(out.begin() + 6 * t, out.begin() + 6 * t + 6);
    ASSERT_EQ(got, expected) << t << ": " << v;
  }
}

TEST_P(WarpFeatures, BlockVotes) {
  const auto in = random_values<int>(12, kAll, -91, 91);
  const auto out = run<int>("block_votes", in);
  for (std::uint32_t b = 0; b < kBlocks; ++b) {
    int expected = 0;
    bool any = false, all = true;
    for (std::uint32_t t = b * kThreads; t < (b + 1) * kThreads; ++t) {
      expected += in[t] > 0 ? 1 : 0;
      any = any || in[t] > 90;
      all = all && in[t] > -90;
    }
    expected += (all ? 1000 : 0) + (any ? 10000 : 0);
    for (std::uint32_t t = b * kThreads; t < (b + 1) * kThreads; ++t) ASSERT_EQ(out[t], expected) << t;
  }
}

INSTANTIATE_TEST_SUITE_P(Machines, WarpFeatures,
                         ::testing::Values(Machine{"gtx480", 32}, Machine{"gtx480", 8},
                                           Machine{"dwr-tesla", 64}, Machine{"harp-fermi", 16}),
                         [](const auto& info) {
                           std::string name = info.param.config + "_" + std::to_string(info.param.warp_size);
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

}  // namespace
}  // namespace weft::test
