// Interrupts and shared memory for a guest of stock QEMU, without KVM: the other side of `-device
// ivshmem-doorbell` (QEMU's docs/specs/ivshmem-spec.rst, protocol version 0). The guest sees a PCI device
// 1af4:1110 whose BAR 2 is the memory, at the speed of its own, and whose MSI-X vectors are rung here.
#ifndef WEFT_SOC_QEMU_DOORBELLS_H
#define WEFT_SOC_QEMU_DOORBELLS_H

#include <cstdint>
#include <string>
#include <vector>

namespace weft::soc {

class QemuDoorbells {
 public:
  static constexpr unsigned kMostVectors = 64;

  // `memory` is the descriptor of a file whose size is a power of two, and belongs to the caller. Throws
  // InputError if the host has no descriptors left.
  QemuDoorbells(int memory, unsigned vectors);
  ~QemuDoorbells();
  QemuDoorbells(const QemuDoorbells&) = delete;
  QemuDoorbells& operator=(const QemuDoorbells&) = delete;

  // What QEMU must inherit, and the words of its command line.
  int inherited() const { return theirs_; }
  std::vector<std::string> arguments() const;
  void started();  // QEMU has it

  // Raises the interrupt of a vector once. An interrupt that the guest has not taken yet stays one.
  void ring(unsigned vector);

 private:
  void tell(std::int64_t value, int descriptor);

  int ours_ = -1, theirs_ = -1;
  std::vector<int> vectors_;  // eventfd(2)
};

}  // namespace weft::soc

#endif
