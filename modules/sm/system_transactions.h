// Accesses of an SM to system memory, from the issue of their instruction to the answer of their transaction.
//
// One access is what the threads of one instruction do to one block. A store has its bytes from its issue on,
// and they are in memory when it is answered; a load's registers are written from the bytes that come back;
// an atomic's operation is done at the port to system memory, between its read and its write.
//
//   access = open(...); join(access, ...)         // at issue
//   if (can_start(access)) { started(access); ... }  // it may be sent: nothing it depends on is under way
//   payload(request, port) ... answered(payload)  // or fill(access, bytes): a load served by a cache
//   close(access)
//
// Memory may do transactions in any order, so who needs an order waits here (`can_start`): an access to bytes
// that another one under way writes, or that it writes and another one reads, if both are of one warp's
// threads, or of one block's that has synchronised in between. Instructions that order the accesses of a
// thread (`holds`) wait until those that were issued before are done.
#ifndef WEFT_SM_SYSTEM_TRANSACTIONS_H
#define WEFT_SM_SYSTEM_TRANSACTIONS_H

#include <array>
#include <cstdint>
#include <functional>
#include <tlm>
#include <vector>

#include "bus/memory_transaction.h"
#include "execute/executor.h"
#include "execute/system_memory.h"
#include "sm/in_flight.h"
#include "sm/memory_port.h"
#include "sm/outgoing_queue.h"
#include "sm/system_accesses.h"
#include "weft/common/fault.h"

namespace weft::sm {

class SystemTransactions final : public SystemAccesses, private AtomicOperation {
 public:
  // Blocks of `block_bytes`, a power of two.
  SystemTransactions(execute::Executor& executor, const InFlightTable& in_flight,
                     const std::vector<execute::ResidentBlock>& blocks, std::uint64_t block_bytes)
      : executor_(executor), in_flight_(in_flight), blocks_(blocks), block_bytes_(block_bytes) {}

  void start_kernel(execute::SystemMemory* memory, unsigned chunks, unsigned slots);
  // As after construction. No payload refers to an access any more.
  void reset() { state_ = State(); }

  // The accesses that are opened from now on are of the next instruction.
  void next_instruction() { ++state_.instruction; }
  // An access of the issue to the block at `block` (+ kSystemSpace). Returns its number.
  std::uint32_t open(std::uint16_t issue, std::uint64_t block) override;
  // These lanes, whose elements lie in the block, take part in it.
  void join(std::uint32_t access, const execute::LaneAccess& lanes, std::uint32_t mask) override;
  void close(std::uint32_t access) override;
  // A store is done with when it is answered; who closes it earlier means that it was not sent.
  bool can_start(std::uint32_t access) const override;
  void started(std::uint32_t access) override;

  // Threads of the block have synchronised with each other.
  void synchronised(unsigned slot) {
    if (busy()) ++state_.epochs[slot];
  }
  // Whether an instruction of these threads has to wait: behind an access of theirs that acquires, or one
  // that releases behind any of theirs.
  bool holds(unsigned chunk, std::uint32_t mask, bool releases) const {
    const Chunk& of = state_.chunks[chunk];
    return ((of.acquiring.any | (releases ? of.open.any : 0)) & mask) != 0;
  }
  bool busy() const { return state_.open != 0; }

  // The transaction that stands for a request.
  tlm::tlm_generic_payload& payload(const OutgoingRequest& request, MemoryPort& port);
  // The answer has come: registers are written where it carries them. A fault: it is an error.
  Fault answered(const tlm::tlm_generic_payload& payload);
  // The bytes of a load's block, which a cache has.
  void fill(std::uint32_t access, const std::uint8_t* bytes) override;

  // Told of chunks whose access is done, and of accesses after which cached bytes are void.
  std::function<void(unsigned domain, unsigned chunk)> on_closed;
  std::function<void()> on_acquired;
  // Accesses opened so far.
  std::uint64_t opened() const { return state_.opened; }

 private:
  struct Access {
    const execute::Operation* op = nullptr;
    ptx::Pc pc = 0;
    std::uint32_t warp = 0;           // InFlight::warp
    bool writes = false;              // a store or an atomic
    bool under_way = false;           // since `started`
    std::uint64_t address = 0;        // of the block
    std::uint64_t instruction = 0;    // the number of its instruction
    std::uint32_t epoch = 0;          // of its block
    execute::ResidentBlock resident;  // as it was: it may be gone when a store is answered
    unsigned lanes = 0;               // of `parts`
    std::vector<execute::SystemLanes> parts;
    std::vector<std::uint8_t> bytes, enables;  // of the block
  };
  // Accesses by thread of a chunk.
  struct Threads {
    std::array<std::uint16_t, isa::kLanes> accesses{};
    std::uint32_t any = 0;  // threads that have one
    void add(std::uint32_t mask) {
      any |= mask;
      for (; mask != 0; mask &= mask - 1) ++accesses[static_cast<unsigned>(__builtin_ctz(mask))];
    }
    void remove(std::uint32_t mask) {
      for (; mask != 0; mask &= mask - 1) {
        if (--accesses[static_cast<unsigned>(__builtin_ctz(mask))] == 0) any &= ~(mask & ~(mask - 1));
      }
    }
  };
  struct Chunk {
    Threads open, acquiring;
  };
  struct State {
    execute::SystemMemory* memory = nullptr;
    std::vector<Access> accesses;
    std::vector<std::uint32_t> free, under_way;
    std::vector<Chunk> chunks;
    std::vector<std::uint32_t> epochs;  // by slot
    std::uint64_t opened = 0, open = 0, instruction = 0;
  };

  void apply(std::uint32_t access, std::uint64_t address, unsigned char* bytes, unsigned count) override;
  bool ordered(const Access& first, const Access& second) const;
  void transfer(Access& access);
  Fault refused(const Access& access, const tlm::tlm_generic_payload& payload) const;
  static bool is_load(const Access& access) { return access.op->instruction->op == ptx::Opcode::kLd; }

  execute::Executor& executor_;
  const InFlightTable& in_flight_;
  const std::vector<execute::ResidentBlock>& blocks_;
  const std::uint64_t block_bytes_;
  State state_;
};

}  // namespace weft::sm

#endif
