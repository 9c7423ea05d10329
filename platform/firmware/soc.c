#include "soc.h"

static struct {
  soc_handler handler;
  void* context;
} handlers[SOC_SOURCES];

extern char soc_end[]; /* of the linker script */

/* Called by the trap entry (start_*.S). */
void soc_interrupt(void) {
  for (;;) {
    const uint32_t claimed = soc_read32(SOC_INTERRUPTS_BASE + SOC_INTERRUPTS_CLAIM);
    if (claimed == 0) return;
    if (claimed <= SOC_SOURCES && handlers[claimed - 1].handler != 0)
      handlers[claimed - 1].handler(handlers[claimed - 1].context);
    soc_write32(SOC_INTERRUPTS_BASE + SOC_INTERRUPTS_CLAIM, claimed);
  }
}

void soc_on_interrupt(unsigned source, soc_handler handler, void* context) {
  const uint64_t enable = SOC_INTERRUPTS_BASE + SOC_INTERRUPTS_ENABLE;
  handlers[source].handler = handler;
  handlers[source].context = context;
  soc_write32(enable, soc_read32(enable) | 1u << source);
}

uint64_t soc_nanoseconds(void) {
  const uint64_t low = soc_read32(SOC_TIMER_BASE + SOC_TIMER_TIME_LO);
  return (uint64_t)soc_read32(SOC_TIMER_BASE + SOC_TIMER_TIME_HI) << 32 | low;
}

void soc_set_timer(uint64_t nanoseconds) {
  /* Never in between, whatever the order of the halves. */
  soc_write32(SOC_TIMER_BASE + SOC_TIMER_COMPARE_HI, 0xffffffff);
  soc_write32(SOC_TIMER_BASE + SOC_TIMER_COMPARE_LO, (uint32_t)nanoseconds);
  soc_write32(SOC_TIMER_BASE + SOC_TIMER_COMPARE_HI, (uint32_t)(nanoseconds >> 32));
}

void soc_print(const char* text) {
  while (*text != 0) soc_write32(SOC_UART_BASE + SOC_UART_DATA, (unsigned char)*text++);
}

void soc_print_number(uint64_t value) {
  char digits[24];
  char* at = digits + sizeof digits;
  *--at = 0;
  do {
    *--at = (char)('0' + value % 10);
    value /= 10;
  } while (value != 0);
  soc_print(at);
}

uint64_t soc_ram_bytes(void) {
  return (uint64_t)soc_read32(SOC_SYSTEM_BASE + SOC_SYSTEM_RAM_PAGES) * 4096;
}

void* soc_free_memory(void) {
  return soc_end;
}

void soc_exit(int code) {
  soc_write32(SOC_SYSTEM_BASE + SOC_SYSTEM_EXIT, (uint32_t)code);
  soc_mask_interrupts();
  for (;;) soc_sleep();
}
