/* What the host CPU runs, in C: it would be the same on an instruction-set simulator or on silicon. */
#ifndef PROGRAM_H
#define PROGRAM_H

#include "weft_driver.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Runs a kernel twice as one queue's packets. Returns the number of wrong results, or an error below 0. */
int program_run(const weft_io* io, const char* ptx, uint64_t ptx_bytes);
/* The interrupt handler. */
void program_interrupt(void);

#ifdef __cplusplus
}
#endif

#endif
