/* Sleeps until the timer fires, several times, and checks the times and how often the handler ran. */
#include "soc.h"

static volatile unsigned fired;

static void on_timer(void *context) {
  ++*(volatile unsigned *)context;
  soc_set_timer(~0ull);
}

/* 0: right; else the exit code. */
static int one_sleep(unsigned number) {
  const uint64_t due = soc_nanoseconds() + 50000;
  soc_set_timer(due);
  while (fired < number) {
    soc_mask_interrupts();
    if (fired < number) soc_sleep();
    soc_unmask_interrupts();
  }
  const uint64_t now = soc_nanoseconds();
  if (now < due) return 2;
  if (now > due + 2000) return 3;
  return fired == number ? 0 : 4;
}

int main(void) {
  soc_print("start\n");
  soc_on_interrupt(SOC_SOURCE_TIMER, on_timer, (void *)&fired);
  soc_unmask_interrupts();
  for (unsigned number = 1; number <= 10; ++number) {
    const int wrong = one_sleep(number);
    if (wrong != 0) return wrong;
  }
  /* One that comes while the processor is busy. */
  soc_set_timer(soc_nanoseconds() + 30000);
  while (fired < 11) {
  }
  if (fired != 11) return 5;
  soc_print("fired ");
  soc_print_number(fired);
  soc_print("\n");
  return 0;
}
