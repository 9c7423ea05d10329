// --check race: two threads access the same byte of shared or global memory in one launch, one of them
// writes, not both are atomic, and no barrier orders them.
//
// Ordered are: what one thread does; what lies on two sides of a barrier that both threads pass (bar.sync,
// bar.arrive and bar.sync, bar.warp.sync); what one thread releases and another acquires (releases.h);
// launches. Two threads of one warp are not ordered by running in the same instruction. Atomics and accesses
// with .volatile, .relaxed, .acquire, .release never race with each other (PTX ISA, memory consistency model:
// morally strong operations).
//
// Each word remembers its last write and its last read, and of each the last one by another thread; bytes
// apart where a page sees narrower accesses. So a race is found if its first access is still one of those.
#ifndef WEFT_CHECK_RACE_CHECKER_H
#define WEFT_CHECK_RACE_CHECKER_H

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "check/allocation_log.h"
#include "check/releases.h"
#include "check/report.h"
#include "check/sync_clock.h"
#include "execute/access_observer.h"

namespace weft::check {

class RaceChecker {
 public:
  RaceChecker(std::uint64_t base, std::uint64_t bytes, const AllocationLog& allocations, ReportLog& log);

  // The range is new: what was accessed there before races with nothing any more.
  void allocated(std::uint64_t address, std::uint64_t bytes);
  void reset();
  void kernel_started(const execute::Kernel& kernel, unsigned sms);
  void block_started(unsigned sm, const execute::ResidentBlock& block);
  void access(const execute::ObservedAccess& access, std::uint32_t mask);
  void barrier_arrived(unsigned sm, const execute::ResidentBlock& block, unsigned barrier, unsigned chunk,
                       std::uint32_t mask, bool waits);
  void barrier_released(unsigned sm, const execute::ResidentBlock& block, unsigned barrier, bool whole);
  void warp_synchronised(unsigned sm, const execute::ResidentBlock& block, unsigned chunk,
                         std::uint32_t mask);
  // Threads execute a fence.
  void ordered(const execute::ObservedOrder& order);

 private:
  // Who accessed a cell, and when.
  struct Mark {
    std::uint64_t block = 0;
    SyncClock::Clock clock = 0;  // 0: nobody
    ptx::Pc pc = 0;
    std::uint16_t thread = 0;
    bool strong = false;  // atomic, volatile ...
  };
  struct Cell {
    // The last one, and before it the last one of another thread.
    std::array<Mark, 2> writes, reads;
  };
  // A page of cells, of words until an access is narrower.
  struct Page {
    std::uint64_t launch = 0;  // of which its cells are
    unsigned shift = 2;
    std::vector<Cell> cells;
  };
  static constexpr unsigned kPageBytes = 512;
  struct Slot {
    SyncClock clock;
    std::uint64_t block = 0;
    std::vector<Page> shared;
    BlockReleases releases;
    ReleasedWords released;  // of shared memory
  };

  Slot& slot_of(unsigned sm, const execute::ResidentBlock& block);
  Page* page_of(const execute::ObservedAccess& access, std::uint64_t offset);
  void prepare(Page& page, std::uint64_t size);
  void check(const execute::ObservedAccess& access, unsigned lane, Cell& cell, const Mark& now,
             std::uint32_t mask);
  bool ordered(const Slot& slot, const Mark& before, const Mark& now) const;
  ReleasedWords& words_of(const execute::ObservedAccess& access);
  void hand_over(const execute::ObservedAccess& access, unsigned lane, std::uint64_t offset);
  void report(const execute::ObservedAccess& access, unsigned lane, const Mark& before, bool before_writes,
              std::uint32_t mask);
  bool writes_equal(const execute::ObservedAccess& access, unsigned lane, const Mark& before,
                    std::uint32_t mask) const;
  static void remember(std::array<Mark, 2>& marks, const Mark& now);

  const std::uint64_t base_;
  const AllocationLog& allocations_;
  ReportLog& log_;
  std::vector<std::unique_ptr<Page>> pages_;  // of device memory, made when touched
  std::vector<Slot> slots_;
  ReleasedWords released_;  // of device memory, in this launch
  unsigned slots_per_sm_ = 0;
  std::uint64_t launch_ = 0;
  std::array<std::uint32_t, 3> grid_{1, 1, 1};  // of the running launch
};

}  // namespace weft::check

#endif
