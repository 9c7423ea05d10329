/* A hundred million turns of a loop, to measure how fast the host CPU is simulated. */
#include "soc.h"

int main(void) {
  const uint64_t begin = soc_nanoseconds();
  uint64_t sum = 0;
  for (uint64_t i = 0; i < 100000000; ++i) {
    sum += i ^ (sum >> 3);
    __asm__ volatile("" : "+r"(sum));
  }
  soc_print("spun for ");
  soc_print_number(soc_nanoseconds() - begin);
  soc_print(" ns\n");
  return 0;
}
