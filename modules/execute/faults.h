// The fault that ends a kernel, in words: which thread, where in the program, what it did, and what is
// allowed.
//
// Functions that refuse leave the fault and return false, so that an instruction can end with
// `return faults.refuse(...)`.
#ifndef WEFT_EXECUTE_FAULTS_H
#define WEFT_EXECUTE_FAULTS_H

#include <cstdint>
#include <string>

#include "execute/access.h"
#include "execute/address_spaces.h"
#include "weft/common/fault.h"

namespace weft::execute {

class Faults {
 public:
  explicit Faults(const AddressSpaces& spaces) : spaces_(spaces) {}

  void start_kernel(const Kernel& kernel) { state_ = {&kernel, {}}; }
  void reset() { state_ = State(); }
  const Fault& fault() const { return state_.fault; }

  // Of the first lane that cannot do its access: it is outside of the region, in a page of device memory that
  // is not allocated, or not aligned.
  bool refuse(const Access& access, const AddressSpaces::Region& region);
  // Of an atomic that reaches local memory through a generic address.
  bool refuse_local(const Access& access, unsigned lane);
  // Of a thread, in the caller's words; they follow the place. `address`: that it accessed, if it did.
  bool refuse(FaultKind kind, const Access& access, unsigned lane, const std::string& what,
              std::uint64_t address = 0) {
    state_.fault = at(kind, {access.pc, access.chunk, lane, access.block}, what);
    state_.fault.address = address;
    return false;
  }
  // Of no thread.
  bool refuse(FaultKind kind, const std::string& text) {
    state_.fault = {kind, text};
    return false;
  }

  // A thread at an instruction.
  struct Place {
    ptx::Pc pc;
    unsigned chunk, lane;
    const ResidentBlock& block;
  };
  // A fault there; the words follow the place.
  Fault at(FaultKind kind, const Place& place, const std::string& what) const;

  // A thread of a block in words, for messages: "thread (3,0,0) of block (1,2,0)".
  std::string thread_name(const ResidentBlock& block, unsigned chunk, unsigned lane) const;
  // "kernel: thread (3,0,0) of block (1,2,0), pc 7, file.cu:12 (kernel.ptx:40:3)"
  std::string place_name(ptx::Pc pc, unsigned chunk, unsigned lane, const ResidentBlock& block) const;

 private:
  dispatch::Dim3 thread_index(const ResidentBlock& block, unsigned chunk, unsigned lane) const;
  bool overflows_stack(ptx::Space space, std::uint64_t address, std::uint64_t bytes) const;

  struct State {
    const Kernel* kernel = nullptr;
    Fault fault;
  };
  const AddressSpaces& spaces_;
  State state_;
};

}  // namespace weft::execute

#endif
