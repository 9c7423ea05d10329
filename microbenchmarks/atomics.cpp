// How many atomic operations a GPU, or an SM in shared memory, does in a cycle.
#include <algorithm>

#include "microbenchmarks/measurement.h"
#include "microbenchmarks/streams.h"

namespace weft::microbenchmarks {
namespace {

// All threads of all SMs. With one address a thread's number times 0 is the place, which no compiler knows.
double global(Bench& bench, bool one_address) {
  const std::string text =
      whole_gpu_module(one_address ? "  mad.lo.u64 %p0, %q0, %zero, %buffer;\n"
                                   : "  shl.b64 %p0, %q0, 2; add.u64 %p0, %p0, %buffer;\n",
                       "  red.global.add.u32 [%p0], %y;\n", "");
  const Shape shape = whole_gpu(bench.facts());
  const double threads = static_cast<double>(shape.blocks) * shape.threads;
  const std::uint64_t few = bench.sizes().atomics, many = 3 * few;
  const std::uint64_t buffer = bench.buffer(std::uint64_t{shape.blocks} * shape.threads * 4);
  const Bench::Stretch stretch = between(bench, text, buffer, {shape.blocks, few}, {shape.blocks, many}, 0);
  return threads * static_cast<double>(many - few) / stretch.cycles;
}

double shared(Bench& bench, bool one_address) {
  const std::string place = one_address ? "%z" : "4";
  const std::string start = "  mov.u32 %base, box; mad.lo.u32 %base, %thread, " + place + ", %base;\n";
  const double cycles = cycles_of_turn(bench, "  .shared .align 16 .b8 box[4096];\n", start,
                                       "  red.shared.add.u32 [%base], %y;\n", "", 4096);
  return std::min(kLoopThreads, bench.facts().threads_per_block) / cycles;
}

}  // namespace

void add_atomics(std::vector<Measurement>& all) {
  for (const bool one : {true, false}) {
    const std::string addresses = one ? "one" : "distinct";
    all.push_back({"atomic_throughput",
                   "operations/cycle",
                   {{"space", "global"}, {"addresses", addresses}},
                   [one](Bench& bench) { return global(bench, one); }});
    all.push_back({"atomic_throughput",
                   "operations/cycle/SM",
                   {{"space", "shared"}, {"addresses", addresses}},
                   [one](Bench& bench) { return shared(bench, one); }});
  }
}

}  // namespace weft::microbenchmarks
