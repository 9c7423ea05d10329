/* How the library reaches the driver. Tests put a driver in the same process in the place of Linux. */
#ifndef WEFT_DEVICE_CALLS_H
#define WEFT_DEVICE_CALLS_H

#include "weft_device.h"

/* NOLINTBEGIN(readability-identifier-naming,modernize-use-using): names and types of C */

#ifdef __cplusplus
extern "C" {
#endif

/* Functions that return int return a negative number of errno.h in case of an error. */
typedef struct weft_device_calls {
  void* context;                                /* first argument of the functions */
  int (*open)(void* context, const char* path); /* a file, from 0 on */
  void (*close)(void* context, int file);
  int (*call)(void* context, int file, unsigned long request, void* argument); /* of weft_ioctl.h */
  /* `wanted`: the place where the process would like to see it, if that is free; NULL: anywhere. */
  int (*map)(void* context, int file, uint64_t address, uint64_t bytes, void* wanted, void** data);
  void (*unmap)(void* context, void* data, uint64_t bytes);
} weft_device_calls;

int weft_device_open_by(weft_device** device, const char* path, const weft_device_calls* calls);

#ifdef __cplusplus
}
#endif

/* NOLINTEND(readability-identifier-naming,modernize-use-using) */

#endif
