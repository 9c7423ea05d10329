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
    throw InputError("--timeline-...", "needs the file of the timeline: --timeline FILE");
  }
  TimelineSelection selection = options.selection;
  check_window_options("timeline", selection);
  selection.sms = read_ranges("--timeline-sms", options.sms, 65534);
  gpu.recordings().write_timeline(options.file, selection);
}

void finish_timeline(Gpu& gpu) {
  const std::string early = gpu.recordings().close_timeline();
  if (early.empty()) return;
  std::cerr << "weft: " << early
            << "; --timeline-bytes raises the limit; --timeline-sms, -start and -first-launch select less\n";
}

}  // namespace weft::study
