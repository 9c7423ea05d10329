#include "sc_main/trace.h"

#include "common/error.h"

namespace weft::cli {

void start_trace(Gpu& gpu, const TraceOptions& options) {
  if (options.file.empty()) return;
  if (options.stop < options.start) {
    throw InputError("--vcd-stop", "found " + std::to_string(options.stop) + "; allowed: " +
                                       std::to_string(options.start) + " (--vcd-start) or more");
  }
  gpu.trace(options.file, options.start, options.stop);
}

void finish_trace(Gpu& gpu) {
  gpu.close_trace();
}

}  // namespace weft::cli
