// Where a thread faulted, in words; for messages of faults wherever they are made.
#ifndef WEFT_EXECUTE_FAULT_PLACE_H
#define WEFT_EXECUTE_FAULT_PLACE_H

#include <string>

#include "weft/common/fault.h"
#include "weft/ptx/program.h"

namespace weft::execute {

// "thread (3,0,0) of block (1,2,0)"
std::string thread_name(const FaultPlace& place);
// "kernel: thread (3,0,0) of block (1,2,0), pc 7, file.cu:12 (kernel.ptx:40:3)"; without a thread "kernel".
std::string place_name(const ptx::Program& program, const FaultPlace& place);

}  // namespace weft::execute

#endif
