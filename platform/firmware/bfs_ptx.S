// The kernels, as the workloads' build leaves them (BFS_PTX is its path).
  .section .rodata.ptx, "a"
  .globl bfs_ptx, bfs_ptx_end
bfs_ptx:
  .incbin BFS_PTX
bfs_ptx_end:
  .byte 0
