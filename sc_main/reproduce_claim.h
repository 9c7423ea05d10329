// `weft reproduce CLAIM` and `weft reproduce --claims`: parts of `weft reproduce` (reproduce.cpp).
#ifndef WEFT_SC_MAIN_REPRODUCE_CLAIM_H
#define WEFT_SC_MAIN_REPRODUCE_CLAIM_H

#include <optional>
#include <string>
#include <vector>

#include "sc_main/cli.h"
#include "study/judge/library.h"
#include "study/run/executor.h"
#include "study/run/folder_store.h"

namespace weft::cli {

// A claim, where it is judged, and how its runs are done.
struct ClaimToShow {
  const Claim& claim;
  const Library& library;
  std::optional<Experiment> experiment;  // none: area.json has it
  std::vector<Sensitivity> settings;     // to run, too
  Engine engine;
  Executor::Repeat repeat = Executor::Repeat::kNone;
  FolderStore::Builds builds = FolderStore::Builds::kThis;
  std::string out;
  std::string from;  // folder of results with data; empty: from runs
};

// Does the runs that the claim needs and prints its page.
ExitCode reproduce_claim(const ClaimToShow& show);

// All claims, and which experiment judges each of them.
ExitCode list_claims(const Library& library);

// Claims that somebody may have meant by a name that nobody knows: `; did you mean "x"?`, or those that
// begin with it. Empty: none.
std::string claims_like(const std::string& name, const Claims& claims);

}  // namespace weft::cli

#endif
