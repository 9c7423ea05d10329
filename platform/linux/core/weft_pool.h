/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* A pool of pages: ranges by first fit. The owner of a range keeps its node. */
#ifndef WEFT_POOL_H
#define WEFT_POOL_H

#include <stdint.h>

/* NOLINTBEGIN(readability-identifier-naming,modernize-use-using): names and types of C */

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_range {
  uint64_t address, bytes;
  struct weft_range* next; /* the used range behind it */
} weft_range;

typedef struct weft_pool {
  uint64_t address, bytes;
  unsigned char* data; /* of the first byte */
  weft_range* used;    /* by address */
} weft_pool;

/* Whole pages; 0 if `bytes` is 0 or beyond 64 bits. */
uint64_t weft_pages(uint64_t bytes);
/* -ENOMEM: no room for so many pages; -EINVAL: no bytes. */
int weft_pool_take(weft_pool* pool, weft_range* range, uint64_t bytes);
/* Nothing, if the range has no bytes. */
void weft_pool_give(weft_pool* pool, weft_range* range);
unsigned char* weft_pool_data(const weft_pool* pool, uint64_t address);

/* Whether [address, address + bytes) lies in the range. */
int weft_range_holds(const weft_range* range, uint64_t address, uint64_t bytes);

#ifdef __cplusplus
}
#endif

/* NOLINTEND(readability-identifier-naming,modernize-use-using) */

#endif
