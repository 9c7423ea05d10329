// Waveforms of a run, as the command line asks for them.
#ifndef WEFT_SC_MAIN_TRACE_H
#define WEFT_SC_MAIN_TRACE_H

#include <cstdint>
#include <string>

#include "platform/gpu.h"

namespace weft::cli {

struct TraceOptions {
  std::string file;         // empty: no waveforms
  std::uint64_t start = 0;  // core cycles
  std::uint64_t stop = UINT64_MAX;
};

// Called once, before the first launch. Throws InputError if the window is empty, the file cannot be written,
// or Weft was built without tracing.
void start_trace(Gpu& gpu, const TraceOptions& options);
// Called once, after the last launch. Throws InputError if the file could not be written to the end.
void finish_trace(Gpu& gpu);

}  // namespace weft::cli

#endif
