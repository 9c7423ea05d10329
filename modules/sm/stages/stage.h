// How an instruction goes through an SM: fetch, issue, operands, execute, memory, commit. Each stage has a
// class of its own, takes an instruction once, and hands it to the next one through what stands here, so that
// no stage knows another one. sm.cpp puts them together.
#ifndef WEFT_SM_STAGES_STAGE_H
#define WEFT_SM_STAGES_STAGE_H

#include <cstdint>

#include "bus/clock_domain.h"
#include "datapath/datapath.h"
#include "sm/in_flight.h"

namespace weft::sm {

// Takes an instruction that was issued.
class IssueSink {
 public:
  // `id`: of its record in InFlightTable, with its threads. `scheduler`: of the SM. `offer`: as the scheme
  // gave it.
  virtual void take(Cycle now, std::uint16_t id, unsigned scheduler, const warp_formation::Issue& offer) = 0;

 protected:
  ~IssueSink() = default;
};

// Takes an instruction whose operands are read. `times`: the datapath's.
class ExecutionSink {
 public:
  virtual void take(Cycle now, std::uint16_t id, const datapath::Times& times) = 0;

 protected:
  ~ExecutionSink() = default;
};

// ... a memory instruction.
class MemorySink : public ExecutionSink {
 public:
  // Threads of the instruction synchronise, or order their accesses to system memory.
  virtual void order(const InFlight& flight) = 0;

 protected:
  ~MemorySink() = default;
};

// Takes instructions at the end of their execution.
class Completion {
 public:
  // Its results are in the registers; `times` says when they may be used. Its threads go on.
  virtual void finish(Cycle now, std::uint16_t id, const datapath::Times& times) = 0;
  // What becomes of its threads is found out in cycle `at`. It has this one thing to come.
  virtual void resolve_at(Cycle now, std::uint16_t id, Cycle at) = 0;
  // A memory instruction is on its way: its threads go on, or at the end of the barrel.
  virtual void sent(Cycle now, std::uint16_t id) = 0;
  // Threads of a load have their data. Nothing of the instruction is left in the memory stage.
  virtual void arrived(Cycle now, std::uint16_t id, unsigned chunk, std::uint32_t threads) = 0;
  virtual void left_memory(std::uint16_t id) = 0;

 protected:
  ~Completion() = default;
};

// What the issue stage asks of memory.
class MemoryRoom {
 public:
  virtual bool can_accept() const = 0;
  // Whether threads of the offer have to wait for accesses to system memory: the group that does; its count:
  // none does.
  virtual unsigned held_group(const ptx::Instruction& in, const warp_formation::Issue& offer) const = 0;

 protected:
  ~MemoryRoom() = default;
};

}  // namespace weft::sm

#endif
