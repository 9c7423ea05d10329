// Special registers that keep their value while a block is resident (%tid, %ctaid, %laneid ...).
#ifndef WEFT_EXECUTE_SPECIAL_REGISTERS_H
#define WEFT_EXECUTE_SPECIAL_REGISTERS_H

#include "execute/access.h"
#include "execute/kernel.h"
#include "execute/register_file.h"
#include "weft/machine/sm_config.h"

namespace weft::execute {

// Writes those that the program reads, for all threads of the block.
void fill_special_registers(const Kernel& kernel, const ResidentBlock& block, const machine::SmConfig& config,
                            unsigned sm, RegisterFile& registers);

}  // namespace weft::execute

#endif
