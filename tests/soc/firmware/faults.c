/* What a program must not do: the test says which by the number of RAM pages. */
#include "soc.h"

int main(void) {
  switch (soc_ram_bytes() / 4096 % 4) {
    case 0:
      soc_read32(SOC_UART_BASE + 0x100); /* no such register */
      break;
    case 1:
      soc_read32(0x40000000); /* nothing there */
      break;
    case 2:
#ifdef __riscv
      __asm__ volatile("ecall");
#else
      __asm__ volatile("svc #0");
#endif
      break;
    default:
      soc_write32(SOC_SYSTEM_BASE + SOC_SYSTEM_RAM_PAGES, 1); /* read only */
  }
  return 0;
}
