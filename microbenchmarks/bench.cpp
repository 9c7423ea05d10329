#include "microbenchmarks/bench.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace weft::microbenchmarks {
namespace {

constexpr std::uint64_t kMiB = 1u << 20;
constexpr std::uint64_t kBlockWords = 5;  // an SM, %clock64 twice, %globaltimer twice
constexpr std::uint64_t kMostBlocks = 1u << 18;

std::uint64_t power_of_two_up_to(std::uint64_t most) {
  std::uint64_t power = 1;
  while (power * 2 <= most) power *= 2;
  return power;
}

}  // namespace

Sizes sizes_for(const Facts& facts) {
  Sizes sizes;
  const std::uint64_t l2 = std::max<std::uint64_t>(facts.l2_bytes, 256u << 10);
  sizes.l2_bytes = power_of_two_up_to(l2 / 2);
  if (facts.simulated) {
    const std::uint64_t memory = power_of_two_up_to(facts.memory_bytes / 4);
    sizes.dram_bytes = std::min(memory, 2 * power_of_two_up_to(4 * l2 - 1));
    sizes.chase_bytes = sizes.dram_bytes;
    return sizes;
  }
  sizes.launches = 3;
  sizes.chase_bytes = 256 * kMiB;
  sizes.chase_loads = 8192;
  sizes.loop = 256;
  sizes.dram_bytes = std::max(1024 * kMiB, 2 * power_of_two_up_to(4 * l2));
  sizes.l2_passes = 64;
  sizes.atomics = 512;
  sizes.launches_in_a_row = 200;
  return sizes;
}

Bench::Bench(Machine& machine, const Sizes& sizes)
    : machine_(machine),
      sizes_(sizes),
      out_(machine.allocate(kBlockTimes + kMostBlocks * kBlockWords * sizeof(std::uint64_t))) {
  std::vector<std::uint32_t> start(kBlockTimes / 4);
  start[0] = 1;
  machine_.write(out_, start.data(), kBlockTimes);
}

std::uint64_t Bench::buffer(std::uint64_t bytes) {
  if (bytes <= buffer_bytes_) return buffer_;
  if (buffer_bytes_ != 0) machine_.free(buffer_);
  buffer_bytes_ = 0;
  buffer_ = machine_.allocate(bytes);
  buffer_bytes_ = bytes;
  stride_ = 0;
  const std::vector<std::uint8_t> zero(std::min(bytes, 16 * kMiB));
  for (std::uint64_t at = 0; at < bytes; at += zero.size())
    machine_.write(buffer_ + at, zero.data(), std::min<std::uint64_t>(zero.size(), bytes - at));
  return buffer_;
}

std::uint64_t Bench::linked(std::uint64_t bytes, std::uint64_t stride) {
  buffer(bytes);
  if (stride == stride_ && bytes <= linked_bytes_) return buffer_;
  std::vector<std::uint64_t> words(bytes / 8);
  for (std::uint64_t at = 0; at < bytes; at += stride) words[at / 8] = buffer_ + at + stride;
  machine_.write(buffer_, words.data(), words.size() * 8);
  stride_ = stride;
  linked_bytes_ = bytes;
  return buffer_;
}

Machine::Kernel Bench::kernel(const std::string& text) {
  const auto refused = refused_.find(text);
  if (refused != refused_.end()) throw Refused(refused->second);
  const auto found = kernels_.find(text);
  if (found != kernels_.end()) return found->second;
  try {
    return kernels_[text] = machine_.load(machine_.header() + ".address_size 64\n" + text);
  } catch (const Refused& why) {
    kernels_.erase(text);
    refused_[text] = why.what();
    throw;
  }
}

double Bench::span(Machine::Kernel kernel, const Shape& shape, std::uint64_t buffer, std::uint64_t number,
                   std::uint64_t other) {
  double best = std::numeric_limits<double>::max();
  for (unsigned launch = 0; launch < sizes_.launches; ++launch)
    best = std::min(best, span_of_one_launch(kernel, shape, buffer, number, other));
  return best;
}

double Bench::span_of_one_launch(Machine::Kernel kernel, const Shape& shape, std::uint64_t buffer,
                                 std::uint64_t number, std::uint64_t other) {
  machine_.start(kernel, shape, {out_, buffer, number, other});
  machine_.wait();
  std::uint64_t times[kTurns][kMostWarps][2];
  machine_.read(times, out_ + kWarpTimes, sizeof times);
  const unsigned warps = (shape.threads + 31) / 32;
  std::uint64_t best = std::numeric_limits<std::uint64_t>::max();
  for (unsigned turn = 1; turn < kTurns; ++turn) {
    std::uint64_t first = times[turn][0][0], last = 0;
    for (unsigned warp = 0; warp < warps; ++warp) {
      first = std::min(first, times[turn][warp][0]);
      last = std::max(last, times[turn][warp][1]);
    }
    best = std::min(best, last - first);
  }
  return static_cast<double>(best);
}

Bench::Stretch Bench::stretch(Machine::Kernel kernel, const Shape& shape, std::uint64_t buffer,
                              std::uint64_t number, std::uint64_t other) {
  if (shape.blocks > kMostBlocks) throw std::invalid_argument("too many blocks for their times");
  struct Span {
    std::uint64_t first = std::numeric_limits<std::uint64_t>::max(), last = 0;
    void add(std::uint64_t from, std::uint64_t to) {
      first = std::min(first, from);
      last = std::max(last, to);
    }
    double length() const { return static_cast<double>(last - first); }
  };
  Stretch best;
  for (unsigned launch = 0; launch < sizes_.launches; ++launch) {
    machine_.start(kernel, shape, {out_, buffer, number, other});
    machine_.wait();
    std::vector<std::uint64_t> words(shape.blocks * kBlockWords);
    machine_.read(words.data(), out_ + kBlockTimes, words.size() * sizeof words[0]);
    std::map<std::uint64_t, Span> of_sm;
    Span all;
    for (std::size_t i = 0; i < words.size(); i += kBlockWords) {
      of_sm[words[i]].add(words[i + 1], words[i + 2]);
      all.add(words[i + 3], words[i + 4]);
    }
    Stretch now;
    now.seconds = all.length() * 1e-9;
    for (const auto& each : of_sm) now.cycles = std::max(now.cycles, each.second.length());
    if (launch == 0 || now.seconds < best.seconds) best = now;
  }
  return best;
}

std::string kernel_head(const std::string& before, const std::string& declarations) {
  return before +
         ".visible .entry k(.param .u64 p_out, .param .u64 p_buffer, .param .u64 p_number, .param .u64 "
         "p_other) {\n"
         "  .reg .pred %ta, %tb, %first, %used, %more, %c<8>; .reg .b16 %h<8>;\n"
         "  .reg .b32 %x<8>, %a<8>, %b<8>, %d<64>, %y, %z, %thread, %lane, %warp, %turn, %low, %base;\n"
         "  .reg .b64 %p<8>, %q<8>, %out, %buffer, %number, %other, %left, %zero, %t0, %t1, %times, %slot;\n"
         "  .reg .f32 %f<8>, %fy, %fz; .reg .f64 %g<8>, %gy, %gz;\n" +
         declarations +
         "  ld.param.u64 %out, [p_out]; ld.param.u64 %buffer, [p_buffer];\n"
         "  ld.param.u64 %number, [p_number]; ld.param.u64 %other, [p_other];\n"
         "  mov.u32 %thread, %tid.x; and.b32 %lane, %thread, 31; shr.u32 %warp, %thread, 5;\n"
         "  ld.volatile.global.v2.u32 {%y, %z}, [%out]; cvt.u64.u32 %zero, %z;\n"
         "  cvt.rn.f32.u32 %fy, %y; cvt.rn.f32.u32 %fz, %z; cvt.rn.f64.u32 %gy, %y; cvt.rn.f64.u32 %gz, "
         "%z;\n"
         "  setp.ne.u32 %ta, %y, 7; setp.ne.u32 %tb, %z, 9; setp.eq.u32 %first, %lane, 0;\n"
         "  mov.u32 %turn, 0; mad.wide.u32 %times, %warp, 16, %out;\n";
}

std::string turn_begin() {
  return "TURN:\n  .pragma \"nounroll\";\n  bar.sync 0;\n  mov.u64 %t0, %clock64;\n"
         "  cvt.u32.u64 %low, %t0; and.b32 %low, %low, %z; cvt.u64.u32 %zero, %low;\n";
}

std::string turn_end() {
  return "  mov.u64 %t1, %clock64;\n  mad.wide.u32 %slot, %turn, " + std::to_string(kMostWarps * 16) +
         ", %times;\n  @%first st.volatile.global.v2.u64 [%slot+" + std::to_string(kWarpTimes) +
         "], {%t0, %t1};\n  add.u32 %turn, %turn, 1; setp.lt.u32 %more, %turn, " + std::to_string(kTurns) +
         ";\n  @%more bra TURN;\n  ret;\n}\n";
}

std::string used(const std::string& type, const std::string& name) {
  const std::string value = type == "f32"   ? "0f4640e400"
                            : type == "f64" ? "0d40c81c8000000000"
                            : type == "u64" ? "12345"
                                            : "0x12345679";
  return "  setp.eq." + type + " %used, " + name + ", " + value +
         "; @%used st.volatile.global.u32 [%out+32], %y;\n";
}

}  // namespace weft::microbenchmarks
