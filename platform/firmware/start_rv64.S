# Start and interrupts on RV64, machine mode. All code is in instructions of 4 bytes (no C extension).
  .section .text.start, "ax"
  .globl _start
_start:
  la sp, soc_stack
  li t0, 0x6000            # mstatus.FS: floating point
  csrs mstatus, t0
  la t0, trap
  csrw mtvec, t0
  li t0, 1 << 9            # mie.SEIE: where the interrupt controller's line arrives
  csrw mie, t0
  la t0, soc_bss
  la t1, soc_end
1:
  sd zero, 0(t0)
  addi t0, t0, 8
  bltu t0, t1, 1b
  call main
  call soc_exit

  .balign 4
trap:
  addi sp, sp, -256
  .irp r, 1, 5, 6, 7, 10, 11, 12, 13, 14, 15, 16, 17, 28, 29, 30, 31
  sd x\r, 8 * \r(sp)
  .endr
  call soc_interrupt
  .irp r, 1, 5, 6, 7, 10, 11, 12, 13, 14, 15, 16, 17, 28, 29, 30, 31
  ld x\r, 8 * \r(sp)
  .endr
  addi sp, sp, 256
  mret
