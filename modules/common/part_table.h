// The table that the linker makes of what WEFT_REGISTER_PART leaves in object files, of this program or
// shared object.
#ifndef WEFT_COMMON_PART_TABLE_H
#define WEFT_COMMON_PART_TABLE_H

#include "weft/common/parts.h"

// The linker's names for the first entry of the section and for what is behind the last one; null if there is
// no entry.
extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming)
extern const weft::PartSource __start_weft_parts[] __attribute__((weak, visibility("hidden")));
extern const weft::PartSource __stop_weft_parts[] __attribute__((weak, visibility("hidden")));
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
}

namespace weft {

// In the order in which the linker found them.
inline void give_linked_parts(PartTaker& taker) {
  for (const PartSource* source = __start_weft_parts; source != __stop_weft_parts; ++source) (*source)(taker);
}

}  // namespace weft

#endif
