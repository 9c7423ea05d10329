// What a run was made of: run.json beside its results. `weft compare` does not repeat a run whose record is
// what it would be again.
#ifndef WEFT_STUDY_SESSION_RUN_RECORD_H
#define WEFT_STUDY_SESSION_RUN_RECORD_H

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "study/session/outcome.h"
#include "study/session/session.h"
#include "weft/platform/gpu_config.h"

namespace weft::study {

// Everything that results depend on: the program and its inputs, the effective configuration (as a hash: it
// lies beside the record), options, and which build of Weft this is. Whatever else a run comes to depend on
// belongs here. `finished` is false for a run that a signal ended.
nlohmann::ordered_json run_record(const Outcome& outcome, const GpuConfig& config,
                                  const SessionOptions& options, bool finished);

// The build ID that the linker gave this program; without one, its size and time.
std::string build_identity();

}  // namespace weft::study

#endif
