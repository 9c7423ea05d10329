/* Client of the external-CPU protocol (modules/soc/external_protocol.h), in C99 for POSIX systems.
 *
 *   weft_external cpu;
 *   if (weft_external_connect(&cpu, "weft.socket") != 0) perror("connect");
 *   weft_external_write(&cpu, address, &value, 4);
 *   weft_external_advance(&cpu, 1000000, WEFT_EXTERNAL_UNTIL_INTERRUPT);
 *   if (cpu.interrupt) ...
 *
 * Functions return 0, a status of a reply (above 0), or -1 if the connection is broken (errno says why;
 * EPROTO: the other side does not speak this protocol).
 */
#ifndef WEFT_EXTERNAL_H
#define WEFT_EXTERNAL_H

#include <stddef.h>
#include <stdint.h>

#include "external_protocol.h"

/* NOLINTBEGIN(readability-identifier-naming,modernize-use-using): names and types of C */
typedef struct weft_external {
  int socket;
  uint32_t interrupt;   /* level of the interrupt line at the last reply */
  uint64_t picoseconds; /* simulated time then */
  /* The memory that both share; 0 if there is none. */
  unsigned char* memory;
  uint64_t memory_address, memory_bytes;
} weft_external;
/* NOLINTEND(readability-identifier-naming,modernize-use-using) */

int weft_external_connect(weft_external* cpu, const char* path);
/* Any length. */
int weft_external_read(weft_external* cpu, uint64_t address, void* data, size_t bytes);
int weft_external_write(weft_external* cpu, uint64_t address, const void* data, size_t bytes);
int weft_external_advance(weft_external* cpu, uint64_t nanoseconds, uint32_t flags);
void weft_external_disconnect(weft_external* cpu);

#endif
