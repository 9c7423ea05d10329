// --vcd-start, --timeline-start...: when a waveform or a timeline records.
#ifndef WEFT_SC_MAIN_TIME_WINDOW_H
#define WEFT_SC_MAIN_TIME_WINDOW_H

#include <string>

#include "weft/platform/time_window.h"

namespace weft::cli {

class Options;

// --PREFIX-start, -stop, -first-launch and -last-launch; `what` is recorded, "the waveforms".
void add_window_options(Options& description, const std::string& prefix, const std::string& what,
                        TimeWindow& window);

// Throws InputError, which names the option, if an end is before its start.
void check_window_options(const std::string& prefix, const TimeWindow& window);

}  // namespace weft::cli

#endif
