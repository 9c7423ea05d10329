// Finds signals by patterns (weft/platform/signal_selection.h). Free of SystemC.
#ifndef WEFT_VCD_SIGNAL_PATTERNS_H
#define WEFT_VCD_SIGNAL_PATTERNS_H

#include <string>
#include <vector>

#include "common/probes.h"

namespace weft::vcd {

// Those that one of the patterns matches, in the order of the table. Throws InputError, which names `where`,
// if a pattern is empty or matches nothing, and says what there is instead.
std::vector<const Probes::Probe*> matching(const Probes& probes, const std::string& patterns,
                                           const std::string& where);

}  // namespace weft::vcd

#endif
