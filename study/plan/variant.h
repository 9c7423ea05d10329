// A scheme and settings of it as options name them: "harp", "dwr-16" (the paper's name for dwr with
// dwr.largest_warp=16; any scheme with a size key has such names), "harp+harp.barrier_entries=32", with paths
// below warp_formation, and "sbr+datapath.compaction=bcc", with paths of the datapath.
#ifndef WEFT_STUDY_PLAN_VARIANT_H
#define WEFT_STUDY_PLAN_VARIANT_H

#include <string>

#include "study/terminal/words.h"

namespace weft::study {

struct Variant {
  std::string label;
  Words overrides;
};

// Throws InputError, which names the option.
Variant variant(const std::string& option, const std::string& label);
// The parts of an option's text, none of them empty; with commas between them none twice.
Words split(const std::string& option, const std::string& text, char separator);

}  // namespace weft::study

#endif
