/* SPDX-License-Identifier: GPL-2.0 OR Apache-2.0 */
/* Calls (ioctl) of the character device /dev/weft0, for the kernel module and the library.
 *
 * Addresses are those of packets and kernels. A buffer is mapped by mmap with its address as the offset:
 * mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, address).
 */
#ifndef WEFT_IOCTL_H
#define WEFT_IOCTL_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* NOLINTBEGIN(readability-identifier-naming,modernize-use-using): names and types of C */

#define WEFT_PAGE_BYTES 4096

struct weft_ioctl_info {
  __u64 device_base, device_bytes, system_bytes;
  __u32 version, sms, queues, interrupts;
};

struct weft_ioctl_cycles {
  __u64 cycles;
};

#define WEFT_IOCTL_SYSTEM 1
#define WEFT_IOCTL_DEVICE 2

struct weft_ioctl_buffer {
  __u32 kind;    /* in: WEFT_IOCTL_SYSTEM or _DEVICE */
  __u32 handle;  /* out */
  __u64 bytes;   /* in, out: rounded up to whole pages */
  __u64 address; /* out */
};

/* Of a buffer or a queue. */
struct weft_ioctl_handle {
  __u32 handle;
  __u32 reserved; /* 0 */
};

struct weft_ioctl_queue {
  __u32 packets;
  __u32 queue; /* out: handle */
  __u64 scratch_bytes, output_address, output_bytes, heap_address, heap_bytes;
};

struct weft_ioctl_kernel {
  __u64 ptx_address, ptx_bytes;
  __u64 name; /* pointer of the process */
  __u64 memory_address, memory_bytes;
  __u64 kernel; /* out: address of the kernel object */
  __u32 name_bytes;
  __u32 reserved; /* 0 */
};

struct weft_ioctl_kernel_handle {
  __u64 kernel;
};

struct weft_ioctl_submit {
  __u32 queue, count;
  __u64 packets; /* pointer of the process, to `count` packets of 64 bytes */
};

struct weft_ioctl_wait {
  __u64 seen;       /* in, out */
  __s32 timeout_ms; /* negative: no timeout */
  __u32 reserved;   /* 0 */
};

struct weft_ioctl_failure {
  __u32 queue; /* in */
  __u32 code, kind, pc;
  __u64 address;
  __u32 thread[3], block[3];
};

#define WEFT_IOCTL_TYPE 0xE7
#define WEFT_IOCTL_INFO _IOR(WEFT_IOCTL_TYPE, 0, struct weft_ioctl_info)
#define WEFT_IOCTL_CYCLES _IOR(WEFT_IOCTL_TYPE, 1, struct weft_ioctl_cycles)
#define WEFT_IOCTL_BUFFER_CREATE _IOWR(WEFT_IOCTL_TYPE, 2, struct weft_ioctl_buffer)
#define WEFT_IOCTL_BUFFER_DESTROY _IOW(WEFT_IOCTL_TYPE, 3, struct weft_ioctl_handle)
#define WEFT_IOCTL_QUEUE_CREATE _IOWR(WEFT_IOCTL_TYPE, 4, struct weft_ioctl_queue)
#define WEFT_IOCTL_QUEUE_DESTROY _IOW(WEFT_IOCTL_TYPE, 5, struct weft_ioctl_handle)
#define WEFT_IOCTL_KERNEL_CREATE _IOWR(WEFT_IOCTL_TYPE, 6, struct weft_ioctl_kernel)
#define WEFT_IOCTL_KERNEL_DESTROY _IOW(WEFT_IOCTL_TYPE, 7, struct weft_ioctl_kernel_handle)
#define WEFT_IOCTL_SUBMIT _IOW(WEFT_IOCTL_TYPE, 8, struct weft_ioctl_submit)
#define WEFT_IOCTL_WAIT _IOWR(WEFT_IOCTL_TYPE, 9, struct weft_ioctl_wait)
#define WEFT_IOCTL_FAILURE _IOWR(WEFT_IOCTL_TYPE, 10, struct weft_ioctl_failure)
#define WEFT_IOCTL_RESUME _IOW(WEFT_IOCTL_TYPE, 11, struct weft_ioctl_handle)

/* NOLINTEND(readability-identifier-naming,modernize-use-using) */

#endif
