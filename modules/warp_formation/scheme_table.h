// The table that the linker makes of what WEFT_REGISTER_SCHEME leaves in object files, of this program or
// shared object.
#ifndef WEFT_WARP_FORMATION_SCHEME_TABLE_H
#define WEFT_WARP_FORMATION_SCHEME_TABLE_H

#include "weft/warp_formation/scheme.h"

// The linker's names for the first entry of the section and for what is behind the last one; null if there is
// no entry.
extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier,readability-identifier-naming)
extern const weft::warp_formation::SchemeSource __start_weft_schemes[]
    __attribute__((weak, visibility("hidden")));
extern const weft::warp_formation::SchemeSource __stop_weft_schemes[]
    __attribute__((weak, visibility("hidden")));
// NOLINTEND(bugprone-reserved-identifier,readability-identifier-naming)
}

namespace weft::warp_formation {

// In the order in which the linker found them.
template <class Visit>
void each_linked_scheme(Visit&& visit) {
  for (const SchemeSource* source = __start_weft_schemes; source != __stop_weft_schemes; ++source)
    visit((*source)());
}

}  // namespace weft::warp_formation

#endif
