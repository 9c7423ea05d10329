// Bytes per cycle or second of each level of memory.
#include <algorithm>

#include "microbenchmarks/measurement.h"
#include "microbenchmarks/streams.h"

namespace weft::microbenchmarks {
namespace {

constexpr unsigned kWords = 16;  // that a thread loads in a turn of the loops on one SM
constexpr std::uint64_t kDramPasses = 2;
constexpr unsigned kStreams = 4, kStreamBytes = 16;

std::string vector_of(unsigned words, unsigned first) {
  if (words == 1) return "u32 %d" + std::to_string(first);
  std::string list;
  for (unsigned i = 0; i < words; ++i)
    list.append(i == 0 ? "" : ", ").append("%d").append(std::to_string(first + i));
  return "v" + std::to_string(words) + ".u32 {" + list + "}";
}

// All words that were loaded into %x0: an instruction for two of them.
std::string take(unsigned words) {
  std::string text;
  for (unsigned i = 0; i < words; i += 2)
    text.append("  lop3.b32 %x0, %x0, %d")
        .append(std::to_string(i))
        .append(", %d")
        .append(std::to_string(i + 1)) += ", 0x96;\n";
  return text;
}

// All warps load the same places, which fit any cache; the address changes by 0 from turn to turn.
double of_one_sm(Bench& bench, bool shared, unsigned bytes) {
  const std::string address = shared ? "%base" : "%p0";
  const std::string stride = std::to_string(bytes);
  const unsigned loads = 4 * kWords / bytes;
  const std::string start =
      shared ? "  mov.u32 %base, box; mad.lo.u32 %base, %lane, " + stride + ", %base; mov.u32 %x0, 0;\n"
             : "  mad.wide.u32 %p0, %lane, " + stride + ", %buffer; mov.u32 %x0, 0;\n";
  std::string body;
  for (unsigned i = 0; i < loads; ++i)
    body += (shared ? "  ld.shared." : "  ld.global.ca.") + vector_of(bytes / 4, i * bytes / 4) + ", [" +
            address + "+" + std::to_string(i * 32 * bytes) + "];\n";
  body += take(kWords);
  body += shared ? "  add.u32 %base, %base, %low;\n" : "  add.u64 %p0, %p0, %zero;\n";
  const double cycles = cycles_of_turn(bench, shared ? "  .shared .align 16 .b8 box[2048];\n" : "", start,
                                       body, used("u32", "%x0"), 4096);
  const unsigned threads = std::min(kLoopThreads, bench.facts().threads_per_block);
  return static_cast<double>(threads * kWords * 4) / cycles;
}

enum class Access : std::uint8_t { kRead, kWrite, kCopy };

// Each block takes kStreams pieces of 16 bytes a thread in a turn, one behind the other, and the blocks take
// neighbouring ones. %other is the size of the buffer less one: streams begin anew at its end.
std::string stream_module(Access access) {
  std::string body;
  for (unsigned i = 0; i < kStreams; ++i) {
    body += "  and.b64 %q1, %p0, %other; add.u64 %q1, %q1, %buffer; add.u64 %p0, %p0, " +
            std::to_string(kStreamThreads * kStreamBytes) + ";\n";
    if (access == Access::kWrite) {
      body += "  st.global.v4.u32 [%q1], {%y, %z, %y, %z};\n";
      continue;
    }
    body += "  ld.global.cg." + vector_of(4, 4 * i) + ", [%q1];\n";
    if (access == Access::kCopy) body += "  add.u64 %q" + std::to_string(2 + i) + ", %q1, %p2;\n";
  }
  for (unsigned i = 0; access == Access::kCopy && i < kStreams; ++i) {
    const std::string data = vector_of(4, 4 * i);
    body += "  st.global.v4.u32 [%q" + std::to_string(2 + i) + "], " + data.substr(data.find('{')) + ";\n";
  }
  if (access == Access::kRead) body += take(4 * kStreams);
  body += "  add.u64 %p0, %p0, %p1;\n";
  const std::string piece = std::to_string(kStreams * kStreamThreads * kStreamBytes);
  return whole_gpu_module(
      // %p1: from a block's last piece to its first one in the next turn.
      "  mov.u32 %a3, %nctaid.x; sub.u32 %a3, %a3, 1; mul.wide.u32 %p1, %a3, " + piece + ";\n" +
          "  mul.wide.u32 %p0, %a0, " + piece + "; mad.wide.u32 %p0, %thread, 16, %p0;\n" +
          "  add.u64 %p2, %other, 1; mov.u32 %x0, 0;\n",
      body, access == Access::kRead ? used("u32", "%x0") : "");
}

struct Stream {
  Access access = Access::kRead;
  std::uint64_t bytes = 0, passes = 0;  // of what is read or written
  // Blocks that stay and loop over the buffer, or new blocks for each piece, which the machine begins in
  // order. So all of them work on neighbouring pieces, as rows of DRAM want it.
  bool resident = false;
};

struct Streamed {
  double bytes = 0;
  Bench::Stretch stretch;
};

Streamed run(Bench& bench, const Stream& stream) {
  const std::uint64_t all = bench.buffer(2 * std::max(stream.bytes, bench.sizes().dram_bytes));
  constexpr std::uint64_t kPiece = std::uint64_t{kStreams} * kStreamThreads * kStreamBytes;
  const std::uint64_t pieces = std::max<std::uint64_t>(1, stream.bytes / kPiece);
  Length shorter{static_cast<unsigned>(pieces), 1},
      longer{static_cast<unsigned>(pieces * (1 + stream.passes)), 1};
  if (stream.resident) {
    shorter.blocks = longer.blocks = whole_gpu(bench.facts()).blocks;
    shorter.turns = (pieces + shorter.blocks - 1) / shorter.blocks;  // over the whole buffer
    longer.turns = shorter.turns * (1 + stream.passes);
  }
  const double more =
      static_cast<double>(longer.blocks * longer.turns) - static_cast<double>(shorter.blocks * shorter.turns);
  const std::string key =
      std::to_string(static_cast<int>(stream.access)) + " " + std::to_string(stream.bytes);
  auto known = bench.known_stretches().find(key);
  if (known == bench.known_stretches().end()) {
    const std::string text = stream_module(stream.access);
    // The first launch that reads the buffer misses in L2, and none of those that are timed may.
    if (stream.resident)
      bench.stretch(bench.kernel(text), {shorter.blocks, kStreamThreads}, all, shorter.turns,
                    stream.bytes - 1);
    known = bench.known_stretches()
                .emplace(key, between(bench, text, all, shorter, longer, stream.bytes - 1))
                .first;
  }
  return {more * static_cast<double>(kPiece) * (stream.access == Access::kCopy ? 2 : 1), known->second};
}

void add_stream(std::vector<Measurement>& all, const std::string& level, const std::string& access,
                const Stream& stream) {
  const std::vector<std::pair<std::string, std::string>> parameters{{"level", level}, {"access", access}};
  all.push_back({"bandwidth", "GB/s", parameters, [stream](Bench& bench) {
                   const Streamed streamed = run(bench, stream);
                   return streamed.bytes / streamed.stretch.seconds / 1e9;
                 }});
  all.push_back({"bandwidth_per_sm", "bytes/cycle/SM", parameters, [stream](Bench& bench) {
                   const Streamed streamed = run(bench, stream);
                   return streamed.bytes / streamed.stretch.cycles / bench.facts().sms;
                 }});
}

}  // namespace

void add_bandwidths(std::vector<Measurement>& all, const Facts& facts, const Sizes& sizes) {
  for (const bool shared : {false, true}) {
    for (const unsigned bytes : {4u, 8u, 16u})
      all.push_back(
          {"bandwidth_per_sm",
           "bytes/cycle/SM",
           {{"level", shared ? "shared" : "l1"}, {"access", "read"}, {"bytes", std::to_string(bytes)}},
           [=](Bench& bench) { return of_one_sm(bench, shared, bytes); }});
  }
  if (facts.l2_bytes != 0)
    add_stream(all, "l2", "read", {Access::kRead, sizes.l2_bytes, sizes.l2_passes, true});
  add_stream(all, "dram", "read", {Access::kRead, sizes.dram_bytes, kDramPasses});
  add_stream(all, "dram", "write", {Access::kWrite, sizes.dram_bytes, kDramPasses});
  add_stream(all, "dram", "copy", {Access::kCopy, sizes.dram_bytes, kDramPasses});
}

}  // namespace weft::microbenchmarks
