// Which set of a cache a line goes to. A function is one file (weft/common/parts.h).
#ifndef WEFT_CACHE_SET_INDEX_H
#define WEFT_CACHE_SET_INDEX_H

#include <cstdint>

#include "weft/common/parts.h"

namespace weft::cache {

class SetIndex {
 public:
  using Kind = SetIndex;
  static constexpr const char* kKind = "set index";
  struct Setting {
    std::uint64_t sets = 1, line_bytes = 128;
  };

  virtual ~SetIndex() = default;
  // Set = mixed number of the line mod sets.
  virtual std::uint64_t mixed(std::uint64_t line) const = 0;
  // It mixes nothing, and need not be asked.
  virtual bool plain() const { return false; }
};

}  // namespace weft::cache

#endif
