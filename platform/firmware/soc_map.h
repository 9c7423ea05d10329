/* The memory map of the SoC, for firmware and for the simulator: see platform/README.md. */
#ifndef WEFT_SOC_MAP_H
#define WEFT_SOC_MAP_H

#define SOC_RAM_BASE 0x80000000
#define SOC_RAM_MOST_BYTES 0x80000000

#define SOC_UART_BASE 0x10000000
#define SOC_INTERRUPTS_BASE 0x10001000
#define SOC_TIMER_BASE 0x10002000
#define SOC_SYSTEM_BASE 0x10003000
#define SOC_DEVICE_BYTES 0x1000

/* Registers and aperture of the GPU: weft_registers.h. */
#define SOC_GPU_BASE 0x1000000000

#define SOC_UART_DATA 0x0
#define SOC_INTERRUPTS_ENABLE 0x4
#define SOC_INTERRUPTS_CLAIM 0x8
#define SOC_TIMER_TIME_LO 0x0
#define SOC_TIMER_TIME_HI 0x4
#define SOC_TIMER_COMPARE_LO 0x8
#define SOC_TIMER_COMPARE_HI 0xc
#define SOC_SYSTEM_EXIT 0x0
#define SOC_SYSTEM_RAM_PAGES 0x4

/* Sources of the interrupt controller, from 0. */
#define SOC_SOURCE_GPU 0
#define SOC_SOURCE_TIMER 1
#define SOC_SOURCES 2

#endif
