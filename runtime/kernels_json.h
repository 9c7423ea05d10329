// kernels.json: the kernels of instructions.csv, what an SM holds of them, and the texts that its rows refer
// to, so that results can be read without the files.
#ifndef WEFT_RUNTIME_KERNELS_JSON_H
#define WEFT_RUNTIME_KERNELS_JSON_H

#include <string>

namespace weft::runtime {

class Device;

// {"lanes": LANES, "kernels": [{"kernel", "program", "threads_per_block", "registers_per_thread",
// "shared_bytes_per_block", "blocks_per_sm", "limited_by"}, ...],
//  "files": [{"file": NAME, "kind": "ptx" or "source", "text": TEXT or null}, ...]}
// of the kernels (with "shared_option_bytes" if sm.unified_l1 is on) in the order of instructions.csv, each
// as it was launched last; the PTX that the device has loaded, and the source files that the instructions
// name. Of these, relative names are looked for in the working directory, then in `folder`; `text` is null
// for a file that is not found, is no ordinary file or has more than a mebibyte. Empty without
// sm.observe.instructions.
std::string kernels_json(const Device& device, const std::string& folder);

}  // namespace weft::runtime

#endif
