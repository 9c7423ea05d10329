// Verifies a run of a program of one's own: what it computed is compared with a functional run of the same
// program (Run::reference). Of PTX that is the content of each buffer; of a CUDA program, what it printed on
// standard output, its exit code, and each copy from the device. The verdict is in verification.json, beside
// the results.
#ifndef WEFT_STUDY_RUN_VERIFICATION_H
#define WEFT_STUDY_RUN_VERIFICATION_H

#include <optional>
#include <string>
#include <vector>

#include "study/run/run_store.h"
#include "study/session/outcome.h"

namespace weft::study {

// The file in a run's folder that takes the standard output of a CUDA program; empty: of another program.
std::string output_file(const Run& run, const std::string& folder);

// Before the run starts: results of an earlier one do not count any more.
void forget_results(const std::string& folder);

// How the run ended whose results lie in `folder`, without what it measured. `reference` is the folder of the
// functional run, which has ended; for that run itself it has no meaning.
RunEnd verify(const Run& run, const std::string& folder, const std::string& reference, const Job& job,
              const JobEnd& end);

// Does a CUDA program's functional run, then its run with results in `folder`, here and now, and compares
// both. `options` are further ones of `weft cuda`, for the latter.
RunEnd run_verified(const Run& run, const std::string& folder, const Words& options);

// How `outputs` differ from those of the functional run of PTX, which is done here and now; empty: they do
// not. Throws InputError if there is no such run.
std::string difference_from_functional_run(const Run& run, const std::vector<Output>& outputs);

// What verification.json says; nothing: there is none, or of another run. Of `any_build`, or of this one.
std::optional<RunEnd> verdict_of(const Run& run, const std::string& folder, bool any_build);

// Its name.
std::string verdict_file(const std::string& folder);

}  // namespace weft::study

#endif
