// What a memory instruction takes, from its addresses: requests for blocks of memory, cycles of the banks of
// shared memory, cycles of the texture unit.
//
// Lanes that each run a warp of their own give the addresses of an instruction group by group. Its words in
// shared memory and its texels then get their cycles at once (lane_calendar.h).
#ifndef WEFT_SM_MEMORY_INTAKE_H
#define WEFT_SM_MEMORY_INTAKE_H

#include <cstdint>
#include <vector>

#include "bus/clock_domain.h"
#include "execute/executor.h"
#include "sm/coalescer.h"
#include "sm/lane_calendar.h"
#include "sm/memory_requests.h"
#include "sm/outgoing_queue.h"
#include "sm/shared_banks.h"
#include "sm/sm_observer.h"
#include "sm/system_accesses.h"
#include "weft/common/statistics.h"
#include "weft/machine/sm_config.h"

namespace weft::sm {

class MemoryIntake {
 public:
  // `lanes`: that each run a warp of their own, `lane_width` places wide.
  MemoryIntake(const machine::SmConfig& config, MemoryRequests& requests, SystemAccesses& system,
               OutgoingQueue& outgoing, unsigned lanes, unsigned lane_width);

  void reset() { calendar_.reset(); }
  void start_kernel(std::uint64_t parameter_offset) { coalescer_.start_kernel(parameter_offset); }

  // Beside what the instruction now has in `requests`.
  struct Taken {
    bool goes_on = true;                       // to the queue of the load-store unit
    bool has_banks = false;                    // its words have their banks already ...
    Cycle banks = 0;                           // ... the last one in this cycle
    std::uint32_t bank_cycles = 0;             // in which nobody had a bank yet
    std::uint32_t texture_address_cycles = 0;  // likewise, of the texture unit
  };
  // Of an instruction with the addresses that the executor recorded for the groups of its issue; `times` says
  // when they are known.
  Taken take(Cycle now, std::uint32_t index, const ptx::Instruction& in,
             const warp_formation::ThreadGroup* groups, const execute::LaneAccess* accesses, unsigned count,
             const datapath::Times& times);

  // So far.
  SmObserver::Requests taken() const {
    return {coalescer_.threads(), coalescer_.requests(), shared_accesses_, shared_conflict_cycles_};
  }
  void bind(statistics::Group& group);

 private:
  using Instruction = MemoryRequests::Instruction;

  void carry_writes(std::uint32_t index);
  void take_banks(Instruction& instruction, std::uint32_t cycles);
  void take_banks_in_turn(Instruction& instruction, const LaneWork& work, bool atomic, Taken& taken);
  void take_textures(Instruction& instruction, const LaneWork& work, Taken& taken);
  void answer_without_memory(Instruction& instruction, const execute::LaneAccess& access);

  const machine::SmConfig& config_;
  MemoryRequests& requests_;
  OutgoingQueue& outgoing_;
  Coalescer coalescer_;
  SharedBanks banks_;
  LaneCalendar calendar_;
  std::uint64_t texture_fetches_ = 0, texture_texels_ = 0;
  std::uint64_t shared_accesses_ = 0, shared_conflict_cycles_ = 0;
  std::vector<std::uint64_t> conflict_histogram_;
};

}  // namespace weft::sm

#endif
