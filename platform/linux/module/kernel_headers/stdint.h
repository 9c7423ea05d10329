/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* The kernel has no headers of C. These stand in for what the core and weft_registers.h include. */
#include <linux/types.h>
#ifndef UINT32_MAX
#define UINT32_MAX ((uint32_t)~0u)
#endif
