#include "microbenchmarks/streams.h"

#include <algorithm>

namespace weft::microbenchmarks {

Shape whole_gpu(const Facts& facts) {
  return {facts.sms * std::max(1u, facts.threads_per_sm / kStreamThreads), kStreamThreads};
}

std::string whole_gpu_module(const std::string& before_loop, const std::string& body,
                             const std::string& after) {
  return kernel_head() +
         "  .reg .b64 %w0, %w1, %w2, %w3, %sm;\n"
         "  mov.u32 %a0, %ctaid.x; mov.u32 %a1, %ntid.x; mad.lo.u32 %a2, %a0, %a1, %thread;\n"
         "  cvt.u64.u32 %q0, %a2; mov.u32 %a1, %smid; cvt.u64.u32 %sm, %a1;\n"
         "  mad.wide.u32 %slot, %a0, 40, %out; setp.eq.u32 %first, %thread, 0;\n" +
         before_loop +
         "  bar.sync 0;\n  mov.u64 %w0, %clock64; mov.u64 %w2, %globaltimer;\n  mov.u64 %left, %number;\n"
         "LOOP:\n  .pragma \"nounroll\";\n" +
         body + "  sub.u64 %left, %left, 1; setp.ne.u64 %more, %left, 0;\n  @%more bra LOOP;\n" + after +
         "  bar.sync 0;\n  mov.u64 %w1, %clock64; mov.u64 %w3, %globaltimer;\n"
         "  @!%first bra END;\n  st.volatile.global.u64 [%slot+" +
         std::to_string(kBlockTimes) + "], %sm;\n  st.volatile.global.u64 [%slot+" +
         std::to_string(kBlockTimes + 8) + "], %w0;\n  st.volatile.global.u64 [%slot+" +
         std::to_string(kBlockTimes + 16) + "], %w1;\n  st.volatile.global.u64 [%slot+" +
         std::to_string(kBlockTimes + 24) + "], %w2;\n  st.volatile.global.u64 [%slot+" +
         std::to_string(kBlockTimes + 32) + "], %w3;\nEND:\n  ret;\n}\n";
}

Bench::Stretch between(Bench& bench, const std::string& text, std::uint64_t buffer, const Length& shorter,
                       const Length& longer, std::uint64_t other) {
  const Machine::Kernel kernel = bench.kernel(text);
  const auto stretch = [&](const Length& length) {
    return bench.stretch(kernel, {length.blocks, kStreamThreads}, buffer, length.turns, other);
  };
  const Bench::Stretch few = stretch(shorter), many = stretch(longer);
  return {many.seconds - few.seconds, many.cycles - few.cycles};
}

double cycles_of_turn(Bench& bench, const std::string& declarations, const std::string& before_loop,
                      const std::string& body, const std::string& after, std::uint64_t buffer_bytes) {
  const std::string text = kernel_head({}, declarations) + before_loop + turn_begin() +
                           "  mov.u64 %left, %number;\nLOOP:\n  .pragma \"nounroll\";\n" + body +
                           "  sub.u64 %left, %left, 1; setp.ne.u64 %more, %left, 0;\n  @%more bra LOOP;\n" +
                           after + turn_end();
  const Machine::Kernel kernel = bench.kernel(text);
  const Shape shape{1, std::min(kLoopThreads, bench.facts().threads_per_block)};
  const std::uint64_t buffer = bench.buffer(buffer_bytes), few = bench.sizes().loop, many = 3 * few;
  const double longer = bench.span(kernel, shape, buffer, many),
               shorter = bench.span(kernel, shape, buffer, few);
  return (longer - shorter) / static_cast<double>(many - few);
}

}  // namespace weft::microbenchmarks
