/* How a process outside the simulation acts as the host CPU of an SoC: messages over a Unix stream socket.
 * C99; all numbers little endian.
 *
 * A message is { uint32_t type; uint32_t bytes; } and then `bytes` bytes. The client sends requests and gets
 * one reply for each, of type request | WEFT_EXTERNAL_REPLY. Simulated time passes only while a request is
 * worked on: an access takes the time of its transaction, ADVANCE what it asks for. The rest of the time the
 * simulation waits for the client, so that the same requests always give the same replies.
 *
 *   request   content                                        content of the reply, after weft_external_state
 *   HELLO     { uint32_t magic, version; } first of all      { uint64_t memory_address, memory_bytes; }
 *   READ      { uint64_t address; uint32_t bytes; }          the bytes; none if status is not OK
 *   WRITE     { uint64_t address; } and the bytes            nothing
 *   ADVANCE   { uint64_t nanoseconds; uint32_t flags; }      nothing
 *
 * With the reply to HELLO comes a file descriptor (SCM_RIGHTS) of the memory that the bus has at
 * memory_address, to be mapped shared; memory_bytes is 0 if there is none. What the client writes there is
 * seen by the simulation as soon as the next request arrives, and the other way round. A message that breaks
 * these rules gets a reply of status MALFORMED, and the connection ends.
 */
#ifndef WEFT_EXTERNAL_PROTOCOL_H
#define WEFT_EXTERNAL_PROTOCOL_H

#include <stdint.h>

#define WEFT_EXTERNAL_MAGIC 0x31585457 /* the letters WTX1 */
#define WEFT_EXTERNAL_VERSION 1

#define WEFT_EXTERNAL_HELLO 1
#define WEFT_EXTERNAL_READ 2
#define WEFT_EXTERNAL_WRITE 3
#define WEFT_EXTERNAL_ADVANCE 4
#define WEFT_EXTERNAL_REPLY 0x80000000u

#define WEFT_EXTERNAL_MOST_DATA 4096                  /* bytes of one READ or WRITE, at least 1 */
#define WEFT_EXTERNAL_MOST_NANOSECONDS 1000000000000u /* of one ADVANCE */
#define WEFT_EXTERNAL_UNTIL_INTERRUPT 1u              /* flag of ADVANCE: ends early when the line is high */

/* Status of a reply. */
#define WEFT_EXTERNAL_OK 0
#define WEFT_EXTERNAL_MALFORMED 1
#define WEFT_EXTERNAL_ADDRESS_ERROR 2 /* nothing there */
#define WEFT_EXTERNAL_COMMAND_ERROR 3 /* not allowed there */
#define WEFT_EXTERNAL_BURST_ERROR 4   /* not with this length */
#define WEFT_EXTERNAL_BUS_ERROR 5

/* NOLINTBEGIN(readability-identifier-naming): names of C. */
struct weft_external_header {
  uint32_t type, bytes;
};

/* First content of every reply. */
struct weft_external_state {
  uint32_t status;
  uint32_t interrupt;   /* level of the interrupt line */
  uint64_t picoseconds; /* simulated time */
};

/* NOLINTEND(readability-identifier-naming) */
#endif
