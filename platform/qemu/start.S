# A multiboot image: QEMU's loader enters in 32-bit protected mode, flat, without paging.
  .section .multiboot, "a"
  .balign 4
  .long 0x1badb002, 0, -0x1badb002

  .section .text, "ax"
  .globl _start
_start:
  cli
  mov $stack, %esp
  call main
  mov $0xf4, %edx          # isa-debug-exit
  outl %eax, %dx
1:
  hlt
  jmp 1b

  .section .rodata.ptx, "a"
  .globl bfs_ptx, bfs_ptx_end
bfs_ptx:
  .incbin BFS_PTX
bfs_ptx_end:

  .section .bss
  .balign 16
  .skip 0x10000
stack:
  .section .note.GNU-stack, "", @progbits
