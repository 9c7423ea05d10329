// How a cache chooses the line that makes room. A policy is one file (weft/common/parts.h):
//
//   class Fifo final : public Replacement { ... };
//   WEFT_REGISTER_PART(part<Fifo>("fifo", "the line that came first"))
#ifndef WEFT_CACHE_REPLACEMENT_H
#define WEFT_CACHE_REPLACEMENT_H

#include <cstddef>
#include <cstdint>

#include "weft/common/archive.h"
#include "weft/common/parts.h"

namespace weft::cache {

enum class LineState : std::uint8_t { kInvalid, kReserved, kValid, kDirty };

// Of one cache. A place is set * ways + way.
class Replacement {
 public:
  using Kind = Replacement;
  static constexpr const char* kKind = "replacement";
  struct Setting {
    std::size_t sets = 1, ways = 1;
    std::size_t places() const { return sets * ways; }
  };
  // The places of one set.
  struct Set {
    std::size_t first = 0, ways = 1;
    const LineState* states = nullptr;  // of these ways
    std::size_t end() const { return first + ways; }
    // May the line there make room? Not while its fill is under way.
    bool may_go(std::size_t place) const { return states[place - first] != LineState::kReserved; }
  };

  virtual ~Replacement() = default;
  // A request found its line here.
  virtual void found(std::size_t place) = 0;
  // A line comes to this place, where another one was evicted or which was invalid.
  virtual void placed(std::size_t place, bool evicts) = 0;
  // The place whose line makes room next: the same one until something is found or placed in the set. All
  // places are taken, and at least one may go.
  virtual std::size_t victim(const Set& set) const = 0;
  // Back to construction.
  virtual void reset() = 0;
  virtual void archive(Archive& archive) = 0;
};

}  // namespace weft::cache

#endif
