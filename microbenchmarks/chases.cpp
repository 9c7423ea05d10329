// Latency of each level of memory, by pointers that lead through it.
#include <algorithm>

#include "microbenchmarks/measurement.h"

namespace weft::microbenchmarks {
namespace {

constexpr std::uint64_t kLoadsPerTurn = 16;
constexpr std::uint64_t kKiB = 1024;

// Follows %p0 for %number turns of 16 loads, after %other turns that do not count. The warp's first thread
// does.
std::string chase_module(const std::string& load, const std::string& before, const std::string& start) {
  std::string loads;
  for (unsigned i = 0; i < kLoadsPerTurn; ++i) loads += "  " + load + " %p0, [%p0];\n";
  const auto loop = [&](const std::string& label) {
    return label + ":\n  .pragma \"nounroll\";\n" + loads +
           "  sub.u64 %left, %left, 1; setp.ne.u64 %more, %left, 0;\n  @%more bra " + label + ";\n";
  };
  return kernel_head(before) + start + "  mov.u64 %left, %other;\n" + loop("WARM") + turn_begin() +
         "  mov.u64 %left, %number;\n" + loop("TIMED") + used("u64", "%p0") + turn_end();
}

// Cycles of a load of those that lead through `bytes`, `stride` bytes apart, after one pass over them.
double chase(Bench& bench, const std::string& cache, std::uint64_t bytes, std::uint64_t stride,
             std::uint64_t dynamic_shared = 0) {
  const std::uint64_t most = std::max(bytes, bench.sizes().chase_bytes);
  const std::uint64_t buffer = bench.linked(most, stride);
  const std::uint64_t last = buffer + bytes - stride, next = buffer + bytes;
  Machine& machine = bench.machine();
  const Machine::Kernel kernel =
      bench.kernel(chase_module("ld.global." + cache + ".u64", "", "  mov.u64 %p0, %buffer;\n"));
  machine.write(last, &buffer, sizeof buffer);  // back to the first
  const std::uint64_t warm = (bytes / stride + kLoadsPerTurn - 1) / kLoadsPerTurn;
  const std::uint64_t turns = bench.sizes().chase_loads / kLoadsPerTurn;
  const double cycles = bench.span_of_one_launch(kernel, {1, 1, dynamic_shared}, buffer, turns, warm);
  machine.write(last, &next, sizeof next);
  return cycles / static_cast<double>(turns * kLoadsPerTurn);
}

// The same through constant memory. A launch with %number 0 tells where it begins in its address space.
double constant_chase(Bench& bench, std::uint64_t bytes, std::uint64_t stride) {
  const Machine::Kernel kernel =
      bench.kernel(chase_module("ld.const.u64", ".visible .const .align 16 .b8 table[32768];\n",
                                "  mov.u64 %p0, table; setp.ne.u64 %more, %number, 0;\n  @%more bra KNOWN;\n"
                                "  st.volatile.global.u64 [%out+64], %p0;\n  ret;\nKNOWN:\n"));
  Machine& machine = bench.machine();
  machine.start(kernel, {1, 1}, {bench.out(), 0, 0, 0});
  machine.wait();
  std::uint64_t begin = 0;
  machine.read(&begin, bench.out() + 64, sizeof begin);
  std::vector<std::uint64_t> words(bytes / 8);
  for (std::uint64_t at = 0; at < bytes; at += stride) words[at / 8] = begin + (at + stride) % bytes;
  machine.write(machine.variable(kernel, "table"), words.data(), bytes);
  const std::uint64_t warm = (bytes / stride + kLoadsPerTurn - 1) / kLoadsPerTurn;
  const std::uint64_t turns = bench.sizes().chase_loads / kLoadsPerTurn;
  return bench.span(kernel, {1, 1}, 0, turns, warm) / static_cast<double>(turns * kLoadsPerTurn);
}

// The most bytes whose loads still hit in L1, in steps of 1 KiB, beside a block's dynamic shared memory.
double l1_capacity(Bench& bench, std::uint64_t dynamic_shared, std::uint64_t most) {
  constexpr std::uint64_t kStride = 128;
  const double hit = chase(bench, "ca", kKiB, kStride, dynamic_shared);
  const double miss = chase(bench, "ca", most, kStride, dynamic_shared);
  const auto fits = [&](std::uint64_t kib) {
    return chase(bench, "ca", kib * kKiB, kStride, dynamic_shared) < hit + (miss - hit) / 10;
  };
  if (miss < 1.2 * hit) return 0;  // there is no L1
  std::uint64_t low = 1, high = most / kKiB;
  while (high - low > 1) {
    const std::uint64_t middle = (low + high) / 2;
    (fits(middle) ? low : high) = middle;
  }
  return static_cast<double>(low * kKiB);
}

// Four sizes from each power of two to the next, two above 512 KiB.
std::vector<std::uint64_t> fine_sizes(std::uint64_t most) {
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t power = kKiB; power <= most; power *= 2) {
    const std::uint64_t step = power < 512 * kKiB ? power / 4 : power / 2;
    for (std::uint64_t bytes = power; bytes < 2 * power && bytes <= most; bytes += step)
      sizes.push_back(bytes);
  }
  return sizes;
}

std::vector<std::uint64_t> powers(std::uint64_t most) {
  std::vector<std::uint64_t> sizes;
  for (std::uint64_t bytes = kKiB; bytes <= most; bytes *= 2) sizes.push_back(bytes);
  return sizes;
}

}  // namespace

void add_chases(std::vector<Measurement>& all, const Facts& facts, const Sizes& sizes) {
  for (std::uint64_t bytes = 256; bytes <= 32 * kKiB; bytes *= 2)
    all.push_back(
        {"constant_chase", "cycles", {{"stride", "64"}, {"bytes", std::to_string(bytes)}}, [=](Bench& bench) {
           return constant_chase(bench, bytes, 64);
         }});
  for (const std::uint64_t stride : {32u, 64u, 128u}) {
    // A pass over the buffer takes a load for each stride.
    const std::uint64_t most = sizes.chase_bytes / (128 / stride);
    for (const char* const cache : {"ca", "cg"}) {
      for (const std::uint64_t bytes : stride == 128 ? fine_sizes(most) : powers(most))
        all.push_back(
            {"chase",
             "cycles",
             {{"cache", cache}, {"stride", std::to_string(stride)}, {"bytes", std::to_string(bytes)}},
             [=](Bench& bench) { return chase(bench, cache, bytes, stride); }});
    }
  }
  const std::uint64_t most_l1 = 512 * kKiB;
  for (const std::uint64_t kib : {0u,   4u,   8u,   16u,  24u,  32u,  48u,  64u,  80u,  96u,  99u,
                                  112u, 128u, 132u, 144u, 160u, 163u, 176u, 192u, 208u, 224u, 227u}) {
    if (kib * kKiB > facts.shared_per_block || most_l1 > sizes.chase_bytes) continue;
    all.push_back(
        {"l1_capacity", "bytes", {{"dynamic_shared", std::to_string(kib * kKiB)}}, [=](Bench& bench) {
           return l1_capacity(bench, kib * kKiB, most_l1);
         }});
  }
}

}  // namespace weft::microbenchmarks
