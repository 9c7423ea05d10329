// Ends the machine with an exit code, by the port of QEMU's isa-debug-exit (cpu.qemu in
// configs/soc/linux.json).
#include <stdio.h>
#include <stdlib.h>
#include <sys/io.h>
#include <unistd.h>

enum { kPort = 0xf4, kMostCode = 127 };

int main(int count, char** words) {
  int code = count > 1 ? atoi(words[1]) : 0;
  if (code < 0 || code > kMostCode) code = kMostCode;  // QEMU's exit code has a bit of its own
  fflush(NULL);
  sync();
  if (ioperm(kPort, 1, 1) == 0) outb((unsigned char)code, kPort);
  perror("leave");
  return EXIT_FAILURE;
}
