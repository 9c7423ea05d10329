// --check memory: every byte that a thread accesses belongs to a live allocation or variable (not only to a
// mapped page), to its block's shared or its own local memory; addresses are aligned; what is read has been
// written, and not by an asynchronous copy that nobody has waited for.
//
// Two bits per byte of device memory (may be accessed; has been written), one per byte of shared and of local
// memory of the resident threads. A refused access does not happen: the thread goes on, a register that would
// have been loaded keeps its value.
#ifndef WEFT_CHECK_MEMORY_CHECKER_H
#define WEFT_CHECK_MEMORY_CHECKER_H

#include <cstdint>
#include <vector>

#include "check/allocation_log.h"
#include "check/copies_under_way.h"
#include "check/report.h"
#include "execute/access_observer.h"
#include "weft/memory/memory_image.h"

namespace weft::check {

class MemoryChecker {
 public:
  // Device memory: addresses base to base + bytes - 1.
  MemoryChecker(std::uint64_t base, std::uint64_t bytes, const AllocationLog& allocations, ReportLog& log);

  // The range becomes accessible, unwritten; or inaccessible. Also for who allocates on behalf of a kernel.
  void allocated(std::uint64_t address, std::uint64_t bytes);
  void freed(std::uint64_t address, std::uint64_t bytes);
  // The host has written the range.
  void written(std::uint64_t address, std::uint64_t bytes);
  void reset();

  void kernel_started(const execute::Kernel& kernel, unsigned sms);
  void block_started(unsigned sm, const execute::ResidentBlock& block);
  std::uint32_t access(const execute::ObservedAccess& access);
  // Groups of asynchronous copies are closed, or waited for.
  void ordered(const execute::ObservedOrder& order);
  // Bytes of a thread's local memory, by the device runtime.
  void result_written(unsigned sm, const execute::ResidentBlock& block, std::uint32_t thread,
                      std::uint64_t offset, std::uint64_t bytes);

 private:
  // One bit per byte of something.
  struct Bits {
    std::uint64_t* words = nullptr;
    std::uint64_t bytes = 0;
    // `size` is a power of two up to 16 and `offset` a multiple of it, so the bits lie in one word.
    static std::uint64_t mask(std::uint64_t offset, std::uint64_t size) {
      return ((std::uint64_t{1} << size) - 1) << (offset % 64);
    }
    bool all(std::uint64_t offset, std::uint64_t size) const {
      const std::uint64_t wanted = mask(offset, size);
      return (words[offset / 64] & wanted) == wanted;
    }
    void set(std::uint64_t offset, std::uint64_t size) { words[offset / 64] |= mask(offset, size); }
    // Any range.
    void fill(std::uint64_t offset, std::uint64_t count, bool value);
  };
  struct Slot {
    std::vector<std::uint64_t> shared, local;  // local: local_words_ per thread
    CopiesUnderWay copies;
  };

  Slot& slot_of(unsigned sm, const execute::ResidentBlock& block);
  bool check_lane(const execute::ObservedAccess& access, unsigned lane, Bits& written, const Bits* accessible,
                  std::uint64_t offset);
  void check_copies(const execute::ObservedAccess& access, unsigned lane, CopiesUnderWay& copies);
  void report(const char* kind, const execute::ObservedAccess& access, unsigned lane);
  std::string place(const execute::ObservedAccess& access, unsigned lane) const;

  const std::uint64_t base_;
  const AllocationLog& allocations_;
  ReportLog& log_;
  memory::MemoryImage accessible_memory_, written_memory_;
  Bits accessible_, written_;
  std::vector<Slot> slots_;
  unsigned slots_per_sm_ = 0;
  std::uint64_t shared_bytes_ = 0, own_shared_bytes_ = 0, local_bytes_ = 0, local_words_ = 0;
};

}  // namespace weft::check

#endif
