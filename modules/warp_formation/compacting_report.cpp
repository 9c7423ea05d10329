// Schemes with thread block compaction: census, statistics, dump.
#include <sstream>
#include <utility>

#include "warp_formation/compacting_warps.h"
#include "warp_formation/powers.h"
#include "warp_formation/sbr_warp.h"
#include "weft/warp_formation/likely_convergence.h"

namespace weft::warp_formation {

BlockMask CompactingWarps::ending(const Resident& b) const {
  BlockMask threads = b.state.ending(*program_);
  if (lone_warps_ == 0) return threads;
  for (const std::uint16_t context : b.contexts) {
    if (warps_[context].live && warps_[context].alone)
      threads |= warp_formation::ending(lone_[context].stack(), *program_).remove(b.state.waiting());
  }
  return threads;
}

std::uint32_t CompactingWarps::ending(unsigned chunk) const {
  for (const auto& b : blocks_) {
    if (b.live && b.state.has_chunk(chunk)) return ending(b).words[chunk - b.state.block().first_chunk];
  }
  return 0;
}

std::uint32_t CompactingWarps::held_back(unsigned chunk, const std::uint32_t* standing) const {
  for (const auto& b : blocks_) {
    if (!b.live || !b.state.has_chunk(chunk)) continue;
    std::uint32_t threads = b.state.held_back(chunk, standing);
    if (lone_warps_ == 0) return threads;
    const BlockMask own = b.state.standing(standing);
    for (const std::uint16_t context : b.contexts) {
      if (warps_[context].live && warps_[context].alone)
        threads |= lone_[context].stack().held_back(own).words[chunk - b.state.block().first_chunk];
    }
    return threads;
  }
  return 0;
}

Census CompactingWarps::census() const {
  Census census;
  for (const auto& b : blocks_) {
    if (!b.live) continue;
    BlockMask in_warps;
    for (const std::uint16_t context : b.contexts) {
      const Warp& warp = warps_[context];
      if (!warp.live) continue;
      warp.count(census);
      if (warp.alone) {
        in_warps |= lone_[context].threads();
        lone_[context].count(census, b.state.waiting(), b.state.at_barriers());
      } else {
        b.state.add(in_warps, warp.packed.groups());
      }
    }
    b.state.count(census, in_warps);
  }
  return census;
}

unsigned CompactingWarps::ready_warps() const {
  unsigned n = 0;
  for (const auto& scheduler : schedulers_) n += scheduler.eligible.size();
  return n;
}

// A stack entry: two PCs, a bit per thread of a block, the count of warps, and what likely-convergence points
// add.
storage::Arrays CompactingWarps::arrays(std::uint64_t stack_entries) const {
  storage::Arrays arrays;
  const std::uint64_t threads = std::min(geometry_.threads, kMaxBlockThreads);
  const std::uint64_t likely = options_.likely ? kPcBits + bits_for(2 * threads) : 0;
  add(arrays, storage::ram("stacks", geometry_.slots * stack_entries,
                           2 * kPcBits + threads + bits_for(threads / size_ + 1) + likely));
  if (options_.lone) {
    storage::Array own = stack_array(table_.size(), stack_entries, size_);
    own.part = "lone_stacks";
    add(arrays, std::move(own));
  }
  const std::uint64_t thread = bits_for(geometry_.threads) - bits_for(std::min(geometry_.lanes, size_));
  add(arrays, storage::ram("warp_buffer", table_.size(), kPcBits + size_ * (1 + thread)));
  return arrays;
}

void CompactingWarps::bind_shared(statistics::Group& group, const char* meaning,
                                  std::function<std::uint64_t()> bits) {
  group.gauge("compacting", units::kBlocks, "blocks whose threads wait for the compactor",
              [this] { return compactions_.size(); });
  const TbcStatistics::Tables tables{geometry_, size_, table_.size(), options_.likely, options_.lone};
  statistics_.bind(group, tables, meaning, std::move(bits));
  if (!options_.likely_key) return;
  bind_likely(group, [this](auto&& visit) {
    for (const auto& b : blocks_) visit(b.state.stack());
  });
}

std::string CompactingWarps::dump() const {
  std::ostringstream out;
  for (const auto& b : blocks_) {
    if (!b.live || b.state.stack().empty()) continue;
    out << "block slot " << b.state.block().slot << ": " << b.warps << " warps of the top entry, "
        << b.state.unplaced() << " threads wait for the compactor" << (b.stuck ? ", no path can run" : "")
        << "\n";
    for (const std::uint16_t context : b.contexts) {
      const Warp& warp = warps_[context];
      if (!warp.live) continue;
      warp.describe(out, *program_);
      if (warp.alone) lone_[context].describe(out, *program_);
    }
    b.state.describe(out, *program_, b.warps);
  }
  return out.str();
}

void CompactingWarps::archive(Archive& archive) {
  archive(at_rest(static_warps_), at_rest(compactions_), at_rest(questions_), at_rest(stuck_),
          at_rest(lone_warps_), table_, free_);
  archive_each(archive, schedulers_);
  for (Resident& block : blocks_) archive(block.state);
}

}  // namespace weft::warp_formation
