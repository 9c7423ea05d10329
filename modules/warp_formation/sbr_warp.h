// A warp under stack-based reconvergence: what it waits for, and its stack. Private to sbr.cpp.
#ifndef WEFT_WARP_FORMATION_SBR_WARP_H
#define WEFT_WARP_FORMATION_SBR_WARP_H

#include <ostream>
#include <string>
#include <vector>

#include "warp_formation/reconvergence_stack.h"
#include "warp_formation/warp_formation.h"

namespace weft::warp_formation {

struct SbrWarp {
  explicit SbrWarp(unsigned size) : stack(size) { paths.reserve(4); }
  bool live = false;
  bool in_flight = false, in_memory = false, at_barrier = false;
  bool at_sync = false;  // no path can run: some of its threads are at warp-level primitives
  bool syncs = false;    // `syncing` is not empty
  std::uint16_t slot = 0;
  std::uint16_t first_chunk = 0;  // chunk of the warp's thread 0
  std::uint8_t shift = 0;         // ... and its position within that chunk (warps under 32 threads)
  std::uint8_t beats = 1;
  std::uint16_t chunks = 1;      // that it has threads in
  std::uint16_t barriers = 0;    // at_barrier: those waited for
  std::uint32_t number = 0;      // of the warp in its block
  std::uint32_t unresolved = 0;  // threads of the issue in flight
  std::uint32_t group_count = 0;
  std::array<ThreadGroup, kMaxWarpSize / kChunk> groups{};  // the top entry's threads
  ReconvergenceStack stack;
  WarpMask exiting;
  WarpMask syncing;                             // wait at warp-level primitives
  std::vector<ReconvergenceStack::Path> paths;  // where the threads of the issue go, so far

  bool covers(unsigned chunk) const { return chunk >= first_chunk && chunk < first_chunk + chunks; }
  void add_to(WarpMask& mask, const ThreadGroup& group) const {
    mask.words[group.chunk - first_chunk] |= group.mask >> shift;
  }

  // Threads that wait, below the top of the stack, at an instruction that ends them.
  WarpMask ending(const ptx::Program& program) const {
    WarpMask seen, ends;
    const auto& entries = stack.entries();
    for (std::size_t e = entries.size(); e-- > 0;) {
      WarpMask fresh = entries[e].mask;
      fresh.remove(seen);
      seen |= entries[e].mask;
      // An entry without a PC only has threads of those above it, which end there.
      if (e + 1 == entries.size() || entries[e].pc == ptx::kNoPc) continue;
      const ptx::Instruction& next = program.code[entries[e].pc];
      if (next.is_exit() && next.guard < 0) ends |= fresh;
    }
    return ends;
  }

  // Threads that a warp-level primitive releases. Of a chunk, neighbouring warps may have the others.
  void release(Groups threads, unsigned size) {
    const std::uint32_t own = size >= kChunk ? ~0u : ((1u << size) - 1) << shift;
    WarpMask released;
    for (const auto& group : threads) {
      if (covers(group.chunk)) add_to(released, {group.mask & own, group.chunk, 0, false});
    }
    syncing.remove(released);
    syncs = !syncing.empty();
  }

  // Puts a path on top that can run; false: none can.
  bool choose_path() {
    return !syncs || stack.bring_up([this](const WarpMask& mask) { return !mask.intersects(syncing); });
  }

  void count(Census& census) const {
    const auto& entries = stack.entries();
    WarpMask seen;
    for (std::size_t e = entries.size(); e-- > 0;) {
      WarpMask fresh = entries[e].mask;
      fresh.remove(seen);
      seen |= entries[e].mask;
      WarpMask others = fresh;
      if (syncs) others.remove(syncing);
      const unsigned threads = others.count();
      census.warp_sync += fresh.count() - threads;
      if (e + 1 == entries.size()) {
        (in_flight    ? census.issued
         : at_barrier ? census.barrier
         : at_sync    ? census.warp_sync
                      : census.ready) += threads;
      } else if (entries[e + 1].level > entries[e].level) {
        census.reconvergence += threads;  // the entry that waits for those above it
      } else {
        census.inactive_path += threads;
      }
    }
  }

  // One line, and one per entry of the stack.
  void describe(std::ostream& out, unsigned context, unsigned size, const ptx::Program& program) const {
    out << "warp " << context << " (block slot " << slot << ", threads " << number * size << " to "
        << number * size + size - 1 << "): " << state() << "\n";
    const auto& entries = stack.entries();
    for (std::size_t e = entries.size(); e-- > 0;) {
      out << "    " << (e + 1 == entries.size() ? "runs" : "waits") << " at pc " << entries[e].pc << " ("
          << program.place(entries[e].pc) << "), " << entries[e].mask.count() << " threads, mask";
      for (unsigned w = (size + 31) / 32; w-- > 0;)
        out << " " << std::hex << entries[e].mask.words[w] << std::dec;
      if (entries[e].rpc != ptx::kNoPc) out << ", reconverges at pc " << entries[e].rpc;
      if (syncs && entries[e].mask.intersects(syncing)) out << ", has threads at a warp-level primitive";
      out << "\n";
    }
  }

 private:
  std::string state() const {
    if (at_sync) return "waits for other threads of its warp";
    if (!at_barrier)
      return in_memory ? "waits for memory" : in_flight ? "instruction in flight" : "can be issued";
    std::string text = "waits at barrier";
    for (unsigned b = 0, seen = 0; b < 16; ++b) {
      if ((barriers >> b & 1) != 0) text += (seen++ == 0 ? " " : ", ") + std::to_string(b);
    }
    return text;
  }
};

}  // namespace weft::warp_formation

#endif
