// Threads that wait at warp-level primitives for others of their original warp (32 consecutive threads of the
// block, which are one chunk): one gathering per (chunk, member mask).
//
// Threads may come from different PCs, as Volta and later allow, if what they execute is the same operation.
#ifndef WEFT_EXECUTE_WARP_GATHERINGS_H
#define WEFT_EXECUTE_WARP_GATHERINGS_H

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "execute/kernel.h"

namespace weft::execute {

// Threads of one chunk that execute an instruction across lanes.
struct Participants {
  const Operation* op = nullptr;
  ptx::Pc pc = 0;
  std::uint32_t lanes = 0;
};

struct Gathering {
  std::uint16_t slot = 0, chunk = 0;
  std::uint32_t mask = 0;     // the members named
  std::uint32_t arrived = 0;  // of those, who waits
  unsigned count = 0;
  std::array<Participants, isa::kLanes> parts{};  // who arrived from where; distinct PCs
};

inline bool operator==(const Participants& a, const Participants& b) {
  return a.op == b.op && a.pc == b.pc && a.lanes == b.lanes;
}
inline bool operator==(const Gathering& a, const Gathering& b) {
  return a.slot == b.slot && a.chunk == b.chunk && a.mask == b.mask && a.arrived == b.arrived &&
         a.count == b.count && std::equal(a.parts.begin(), a.parts.begin() + a.count, b.parts.begin());
}

class WarpGatherings {
 public:
  enum class Mismatch : std::uint8_t {
    kNone,
    kOperation,  // threads with this mask wait at another operation
    kMask,       // threads of the mask wait, with another mask, for threads that arrive here
  };

  void clear() { gatherings_.clear(); }
  bool empty() const { return gatherings_.empty(); }
  const std::vector<Gathering>& all() const { return gatherings_; }

  // Threads `part.lanes` of the chunk arrive with one mask, of which they are members.
  Mismatch arrive(std::uint16_t slot, std::uint16_t chunk, std::uint32_t mask, const Participants& part) {
    Gathering* own = nullptr;
    for (auto& g : gatherings_) {
      if (g.chunk != chunk) continue;
      if (g.mask == mask) {
        own = &g;
      } else if ((g.arrived & mask) != 0 && (part.lanes & g.mask) != 0) {
        return Mismatch::kMask;
      }
    }
    if (own == nullptr) {
      gatherings_.emplace_back();
      own = &gatherings_.back();
      own->slot = slot;
      own->chunk = chunk;
      own->mask = mask;
    } else if (!same_operation(*own->parts[0].op->instruction, *part.op->instruction)) {
      return Mismatch::kOperation;
    }
    own->arrived |= part.lanes;
    for (unsigned i = 0; i < own->count; ++i) {
      if (own->parts[i].pc != part.pc) continue;
      own->parts[i].lanes |= part.lanes;
      return Mismatch::kNone;
    }
    own->parts[own->count++] = part;
    return Mismatch::kNone;
  }

  // Forgets the gathering, one of all(), and returns it.
  Gathering take(const Gathering& gathering) {
    const Gathering taken = gathering;
    gatherings_.erase(gatherings_.begin() + (&gathering - gatherings_.data()));
    return taken;
  }

  // Calls release(gathering) for each one of which no member is missing, oldest first, and forgets it.
  // `expected(gathering)`: members that have to come.
  template <class Expected, class Release>
  void release_complete(Expected&& expected, Release&& release) {
    for (std::size_t i = 0; i < gatherings_.size();) {
      if ((expected(gatherings_[i]) & ~gatherings_[i].arrived) != 0) {
        ++i;
        continue;
      }
      release(gatherings_[i]);
      gatherings_.erase(gatherings_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

 private:
  static bool same_operation(const ptx::Instruction& a, const ptx::Instruction& b) {
    return a.op == b.op && a.mode == b.mode && a.type == b.type && a.atomic == b.atomic;
  }

  std::vector<Gathering> gatherings_;
};

}  // namespace weft::execute

#endif
