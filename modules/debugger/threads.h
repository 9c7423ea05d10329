// All resident threads of the GPU, by the numbers under which GDB knows them, with what GDB can read and
// write of them.
#ifndef WEFT_DEBUGGER_THREADS_H
#define WEFT_DEBUGGER_THREADS_H

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>

#include "debugger/agent_expression.h"
#include "debugger/sm_threads.h"
#include "debugger/target_registers.h"
#include "execute/system_memory.h"

namespace weft::debugger {

// The threads of a block have neighbouring numbers, from the first stop at which it is there until it leaves.
// Later blocks have others. (GDB keeps 32 bits of them, with a sign.)
using ThreadId = std::uint64_t;

class Threads {
 public:
  // SMs are added in the order of their numbers, before the first kernel.
  SmThreads& add_sm(SmEvents& events) {
    return sms_.emplace_back(events, static_cast<unsigned>(sms_.size()));
  }
  ThreadId id_of(const Thread& thread);
  // None: it is not resident, or has ended.
  Thread find(ThreadId id);
  // The thread of these coordinates on an SM; none: as above.
  static Thread find(SmThreads& sm, const FaultPlace& place);
  Thread any();  // the first; none: there is no thread
  void each(const std::function<void(const Thread&)>& visit);

  // "block (0,0,0) thread (1,0,0), SM 2 warp 0".
  static std::string place_of(const Thread& thread);
  static dispatch::Dim3 index_of(const Thread& thread);   // %tid
  static std::uint64_t address_of(const Thread& thread);  // of what it executes next

 private:
  std::deque<SmThreads> sms_;
  ThreadId next_ = 1;
};

// A thread's registers and memory.
class ThreadState final : public ThreadView {
 public:
  // `system`: memory outside the GPU, which can be read; nullptr: none.
  ThreadState(const Thread& thread, const TargetRegisters& registers, const execute::SystemMemory* system)
      : thread_(thread), registers_(registers), system_(system) {}

  std::optional<std::uint64_t> register_value(std::uint64_t number) const override;
  // False: it has no such register now, or it cannot be written.
  bool write_register(std::uint64_t number, std::uint64_t value) const;
  std::optional<std::uint64_t> memory(std::uint64_t address, unsigned bytes) const override;
  // As many bytes as there are from the address on, up to `count`.
  std::string read(std::uint64_t address, std::uint64_t count) const;
  // False: there is no memory, and nothing was written.
  bool write(std::uint64_t address, const std::string& bytes) const;

 private:
  std::uint8_t* byte_at(std::uint64_t address) const;
  const ptx::NamedRegister::Place* place_of(const TargetRegister& one) const;

  Thread thread_;
  const TargetRegisters& registers_;
  const execute::SystemMemory* system_;
};

}  // namespace weft::debugger

#endif
