// --vcd-start, --timeline-start...: when a waveform or a timeline records.
#ifndef WEFT_STUDY_SESSION_TIME_WINDOW_H
#define WEFT_STUDY_SESSION_TIME_WINDOW_H

#include <string>

#include "weft/platform/time_window.h"

namespace weft::study {

// Throws InputError, which names the option, if an end is before its start.
void check_window_options(const std::string& prefix, const TimeWindow& window);

}  // namespace weft::study

#endif
