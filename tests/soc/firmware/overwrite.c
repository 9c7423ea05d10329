/* A device copies one function's code over another's, which has run before. */
#include "soc.h"

#define COPIER SOC_GPU_BASE /* the test puts it there: FROM, TO, BYTES */

/* Each with a cache line of its own: 64 bytes can be copied. */
__attribute__((noinline, aligned(64), section(".text.first"))) int first(void) {
  return 1;
}
__attribute__((noinline, aligned(64), section(".text.second"))) int second(void) {
  return 2;
}
__attribute__((noinline, aligned(64), section(".text.third"), used)) int third(void) {
  return 3;
}

static volatile int done;

static void on_copy(void *context) {
  (void)context;
  soc_read32(COPIER); /* lets the line fall */
  done = 1;
}

int main(void) {
  int (*volatile call)(void) = first;
  if (call() != 1) return 2;
  if (second() != 2) return 3;
  soc_on_interrupt(SOC_SOURCE_GPU, on_copy, 0);
  soc_unmask_interrupts();
  soc_write32(COPIER + 0, (uint32_t)(uintptr_t)second);
  soc_write32(COPIER + 4, (uint32_t)(uintptr_t)first);
  soc_write32(COPIER + 8, 64);
  if (call() != 1) return 4; /* it takes a microsecond */
  while (!done) {
    soc_mask_interrupts();
    if (!done) soc_sleep();
    soc_unmask_interrupts();
  }
  return call() == 2 ? 0 : 5;
}
