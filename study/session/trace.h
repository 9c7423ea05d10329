// Waveforms and tables of a run, as the command line asks for them.
#ifndef WEFT_STUDY_SESSION_TRACE_H
#define WEFT_STUDY_SESSION_TRACE_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/output_files.h"
#include "study/session/fst_pipe.h"
#include "weft/platform/gpu.h"
#include "weft/platform/signal_selection.h"

namespace weft::study {

struct TraceOptions {
  std::string file;  // empty: no waveforms
  SignalSelection selection;
};

// Called once, before the first launch. Throws InputError if no signal or no time is selected, the file
// cannot be written, or Weft was built without tracing.
// What it returns, if anything, goes to finish_trace().
[[nodiscard]] std::unique_ptr<FstPipe> start_trace(Gpu& gpu, const TraceOptions& options);
// Called once, after the last launch. Throws InputError if the file could not be written to the end.
void finish_trace(Gpu& gpu, FstPipe* pipe);

// The tables of the results, samples.csv if `interval` is not 0 and launches.csv: called once, before the
// first launch. Without a folder for results there are none, and without timing neither.
void start_tables(Gpu& gpu, std::uint64_t interval, const std::string& folder, bool functional = false);
// What they have by now, for the set of result files.
void add_tables(Gpu& gpu, std::vector<TextFile>& files);

}  // namespace weft::study

#endif
