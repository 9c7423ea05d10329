#include "study/session/timeline.h"

#include <iostream>

#include "study/session/ranges.h"
#include "study/session/time_window.h"
#include "weft/common/error.h"

namespace weft::study {
namespace {

bool has_defaults(const TimelineOptions& options) {
  const TimelineSelection none, &given = options.selection;
  return options.sms.empty() && given.is_everything() && given.interval == none.interval &&
         given.most_bytes == none.most_bytes;
}

}  // namespace

void start_timeline(Gpu& gpu, const TimelineOptions& options) {
  if (options.file.empty()) {
    if (has_defaults(options)) return;
    throw InputError("--timeline-...", "says what a timeline has; give the file, too: --timeline FILE");
  }
  TimelineSelection selection = options.selection;
  check_window_options("timeline", selection);
  selection.sms = read_ranges("--timeline-sms", options.sms, 65534);
  gpu.write_timeline(options.file, selection);
}

void finish_timeline(Gpu& gpu) {
  const std::string early = gpu.close_timeline();
  if (early.empty()) return;
  std::cerr << "weft: " << early
            << "; --timeline-bytes allows more, --timeline-sms, -start and -first-launch choose\n";
}

}  // namespace weft::study
