// One claim: what the paper prints, how ours comes out of the runs, why the verdict is what it is, and what
// turns it. `weft reproduce CLAIM` prints it.
#ifndef WEFT_STUDY_PAGE_CLAIM_PAGE_H
#define WEFT_STUDY_PAGE_CLAIM_PAGE_H

#include <string>
#include <vector>

#include "study/judge/results.h"
#include "study/page/page.h"

namespace weft::study {

struct ShownClaim {
  std::string experiment;     // that has it
  std::string file, written;  // of the experiment, and the claim as it stands there, JSON
  ClaimResult result;         // with the claim
  Table formula, numbers;     // without headings: none
  std::string runs_about;     // in words; may be empty
  Table runs;                 // likewise
  // Other readings and settings of what is not printed.
  struct Other {
    std::string kind, name, shown;
    std::optional<Verdict> verdict;
  };
  std::vector<Other> others;
  std::string not_run;  // settings that were not looked at, and how to
};

Page claim_page(const ShownClaim& shown, const Claims& claims, const Causes& causes);

// The parts of an experiment's claim that its file and its results give: what is written, formula, numbers
// and readings. The claim is the only one of `experiment`.
ShownClaim shown_claim(const Experiment& experiment, const Results& results, ClaimResult result,
                       const Rules& rules);
// The object with this ID among the claims of a file, as it stands there.
std::string written_claim(const std::string& file, const std::string& id);

}  // namespace weft::study

#endif
