/* What compilers call without being asked, where there is no C library (AArch64). */
#include <stddef.h>

void* memcpy(void* to, const void* from, size_t bytes) {
  unsigned char* out = to;
  const unsigned char* in = from;
  while (bytes-- != 0) *out++ = *in++;
  return to;
}

void* memset(void* to, int value, size_t bytes) {
  unsigned char* out = to;
  while (bytes-- != 0) *out++ = (unsigned char)value;
  return to;
}
