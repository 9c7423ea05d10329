/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* Whether a packet is well-formed and names only memory and kernels of one context. */
#ifndef WEFT_CHECK_H
#define WEFT_CHECK_H

#include "weft_core_state.h"

/* A buffer of the context that holds all these bytes; NULL: none does. */
const weft_core_buffer* weft_check_buffer(const weft_context* context, uint64_t address, uint64_t bytes);

/* `packet` has 64 bytes. -EINVAL: it is malformed. -EACCES: an address is not the context's. */
int weft_check_packet(const weft_context* context, const void* packet);

#endif
