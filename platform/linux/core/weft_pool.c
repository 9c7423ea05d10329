// SPDX-License-Identifier: GPL-2.0 OR Apache-2.0
#include "weft_pool.h"

#include <errno.h>
#include <stddef.h>

#define PAGE_BYTES ((uint64_t)4096)

uint64_t weft_pages(uint64_t bytes) {
  return (bytes + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
}

int weft_pool_take(weft_pool* pool, weft_range* range, uint64_t bytes) {
  const uint64_t pages = weft_pages(bytes);
  uint64_t at = pool->address;
  weft_range** link = &pool->used;
  if (bytes == 0) return -EINVAL;
  if (pages == 0) return -ENOMEM;
  while (*link != NULL && (*link)->address - at < pages) {
    at = (*link)->address + (*link)->bytes;
    link = &(*link)->next;
  }
  if (pages > pool->address + pool->bytes - at) return -ENOMEM;
  range->address = at;
  range->bytes = pages;
  range->next = *link;
  *link = range;
  return 0;
}

void weft_pool_give(weft_pool* pool, weft_range* range) {
  weft_range** link = &pool->used;
  if (range->bytes == 0) return;
  while (*link != NULL && *link != range) link = &(*link)->next;
  if (*link != NULL) *link = range->next;
  range->bytes = 0;
}

unsigned char* weft_pool_data(const weft_pool* pool, uint64_t address) {
  return pool->data + (address - pool->address);
}

int weft_range_holds(const weft_range* range, uint64_t address, uint64_t bytes) {
  return address >= range->address && address - range->address <= range->bytes &&
         bytes <= range->bytes - (address - range->address);
}
