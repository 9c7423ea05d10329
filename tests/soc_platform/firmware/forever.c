/* Sleeps, and nothing will ever wake it. */
#include "soc.h"

int main(void) {
  soc_print("good night\n");
  for (;;) soc_sleep();
}
