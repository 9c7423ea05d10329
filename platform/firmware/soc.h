/* What programs on the SoC's host CPU use: registers, output, interrupts, time, the end. Bare metal, one
 * core. */
#ifndef WEFT_FIRMWARE_SOC_H
#define WEFT_FIRMWARE_SOC_H

#include <stdint.h>

#include "soc_map.h"

static inline uint32_t soc_read32(uint64_t address) {
  return *(volatile uint32_t*)(uintptr_t)address;
}
static inline void soc_write32(uint64_t address, uint32_t value) {
  *(volatile uint32_t*)(uintptr_t)address = value;
}

/* The processor's own interrupt mask; all are masked at the start. */
static inline void soc_unmask_interrupts(void) {
#ifdef __riscv
  __asm__ volatile("csrsi mstatus, 8" ::: "memory");
#else
  __asm__ volatile("msr daifclr, #2" ::: "memory");
#endif
}
static inline void soc_mask_interrupts(void) {
#ifdef __riscv
  __asm__ volatile("csrci mstatus, 8" ::: "memory");
#else
  __asm__ volatile("msr daifset, #2" ::: "memory");
#endif
}
/* Sleeps until an interrupt is pending, masked or not. */
static inline void soc_sleep(void) {
  __asm__ volatile("wfi" ::: "memory");
}

/* Lets a source of the interrupt controller through; `handler` is called with interrupts masked. */
typedef void (*soc_handler)(void* context);
void soc_on_interrupt(unsigned source, soc_handler handler, void* context);

uint64_t soc_nanoseconds(void);
/* An interrupt of SOC_SOURCE_TIMER at this time; ~0: never. */
void soc_set_timer(uint64_t nanoseconds);

void soc_print(const char* text);
void soc_print_number(uint64_t value);
uint64_t soc_ram_bytes(void);
/* The first address of RAM that the program does not use. */
void* soc_free_memory(void);
/* Ends the simulation. */
void soc_exit(int code) __attribute__((noreturn));

int main(void);

#endif
