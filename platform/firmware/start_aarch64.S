// Start and interrupts on AArch64, exception level 1.
  .section .text.start, "ax"
  .globl _start
_start:
  ldr x0, =soc_stack
  mov sp, x0
  ldr x0, =vectors
  msr vbar_el1, x0
  isb
  ldr x0, =soc_bss
  ldr x1, =soc_end
1:
  str xzr, [x0], #8
  cmp x0, x1
  b.lo 1b
  bl main
  bl soc_exit

  // Of the sixteen entries only the interrupt of the own level with its own stack pointer (number 5) is used.
  .balign 2048
vectors:
  .rept 5
  b .
  .balign 128
  .endr
  b interrupt
  .balign 128
  .rept 10
  b .
  .balign 128
  .endr

interrupt:
  sub sp, sp, #176
  stp x0, x1, [sp, #0]
  stp x2, x3, [sp, #16]
  stp x4, x5, [sp, #32]
  stp x6, x7, [sp, #48]
  stp x8, x9, [sp, #64]
  stp x10, x11, [sp, #80]
  stp x12, x13, [sp, #96]
  stp x14, x15, [sp, #112]
  stp x16, x17, [sp, #128]
  stp x18, x30, [sp, #144]
  bl soc_interrupt
  ldp x0, x1, [sp, #0]
  ldp x2, x3, [sp, #16]
  ldp x4, x5, [sp, #32]
  ldp x6, x7, [sp, #48]
  ldp x8, x9, [sp, #64]
  ldp x10, x11, [sp, #80]
  ldp x12, x13, [sp, #96]
  ldp x14, x15, [sp, #112]
  ldp x16, x17, [sp, #128]
  ldp x18, x30, [sp, #144]
  add sp, sp, #176
  eret
