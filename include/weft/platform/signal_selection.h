// Which signals of a GPU a waveform has, and when (vcd/README.md lists them).
//
//   gpu.trace(file, {});                                   // all, in the integrator's own sc_trace file
//   gpu.trace(file, "sm0,sm*.scheduler*.stall,host");      // some
//   SignalSelection third("dram*.bank*.row");
//   third.first_launch = third.last_launch = 3;
//   gpu.recordings().write_waveform("rows.vcd", third);
#ifndef WEFT_PLATFORM_SIGNAL_SELECTION_H
#define WEFT_PLATFORM_SIGNAL_SELECTION_H

#include <string>
#include <utility>

#include "weft/platform/time_window.h"

namespace weft {

struct SignalSelection : TimeWindow {
  SignalSelection() = default;
  // NOLINTBEGIN(google-explicit-constructor): a list of patterns is a selection
  SignalSelection(std::string patterns) : signals(std::move(patterns)) {}
  SignalSelection(const char* patterns) : signals(patterns) {}
  // NOLINTEND(google-explicit-constructor)

  // Patterns with commas between. Each is a name of a signal or of a scope, which stands for all that is in
  // it; *, ? and [...] stand for parts of a name, not for a dot. Empty: all signals that
  // are no details (vcd/README.md).
  std::string signals{};
};

}  // namespace weft

#endif
