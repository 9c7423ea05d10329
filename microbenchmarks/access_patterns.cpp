// Bank conflicts of shared memory, and how many sectors of the caches the threads of a warp touch.
#include <algorithm>

#include "microbenchmarks/chains.h"
#include "microbenchmarks/measurement.h"

namespace weft::microbenchmarks {
namespace {

// Every thread's word holds its own address, so that a load leads to itself. `stride` is of the threads'
// places, each of `bytes` bytes.
Chain shared_chain(unsigned bytes, unsigned stride) {
  const std::string type = bytes == 4   ? "u32 $a, [$a]"
                           : bytes == 8 ? "v2.u32 {$a, $x}, [$a]"
                                        : "v4.u32 {$a, $x, $b, %d1}, [$a]";
  Chain chain{"ld.shared", "ld.shared." + type + ";", "$a"};
  chain.setup = "  mov.u32 $a, box; mad.lo.u32 $a, %lane, " + std::to_string(bytes * stride) +
                ", $a; st.volatile.shared.u32 [$a], $a;\n";
  return chain;
}

Chain global_chain(const std::string& cache, unsigned stride) {
  Chain chain{"ld.global", "ld.global." + cache + ".u32 $x, [$p]; mad.wide.u32 $p, $x, 4, $p;", "$p"};
  chain.instructions = 2;
  chain.setup = "  mad.wide.u32 $p, %lane, " + std::to_string(stride) + ", %buffer;\n";
  return chain;
}

// Cycles between two loads of the SM.
double cycles_of_load(Bench& bench, const Chain& chain, unsigned warps) {
  return cycles_of_step(bench, chain, warps, 1) / warps;
}

}  // namespace

void add_access_patterns(std::vector<Measurement>& all, const Facts& facts) {
  const unsigned many = std::min(16u, facts.threads_per_block / 32);
  for (const unsigned bytes : {4u, 8u, 16u}) {
    for (const unsigned stride : {1u, 2u, 4u, 8u, 16u, 32u}) {
      const Chain chain = shared_chain(bytes, stride);
      for (const unsigned warps : {1u, many})
        all.push_back({"bank_conflict",
                       "cycles/load",
                       {{"bytes", std::to_string(bytes)},
                        {"stride", std::to_string(stride)},
                        {"warps", std::to_string(warps)}},
                       [chain, warps](Bench& bench) { return cycles_of_load(bench, chain, warps); }});
    }
  }
  for (const char* const cache : {"ca", "cg"}) {
    for (const unsigned stride : {4u, 8u, 16u, 32u, 64u, 128u}) {
      const Chain chain = global_chain(cache, stride);
      for (const unsigned warps : {1u, many})
        all.push_back(
            {"coalescing",
             "cycles/load",
             {{"cache", cache}, {"stride", std::to_string(stride)}, {"warps", std::to_string(warps)}},
             [chain, warps](Bench& bench) { return cycles_of_load(bench, chain, warps); }});
    }
  }
}

}  // namespace weft::microbenchmarks
