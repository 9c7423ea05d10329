// Where the addresses of a kernel's threads lead: shared memory, parameters, device memory, each thread's
// local memory inside it, and the windows of generic addresses.
//
// Says where a space lies and whether an access may go there. Moves nothing but single words for the device
// runtime.
//
// Local memory is interleaved by 32-bit words, word-major, so that threads which access the same variable
// touch neighbouring addresses: for each word first the blocks in the first place of all SMs, then those in
// the second, and so on. Few blocks, too, are spread over all channels of the memory then, as in GPGPU-Sim.
#ifndef WEFT_EXECUTE_ADDRESS_SPACES_H
#define WEFT_EXECUTE_ADDRESS_SPACES_H

#include <array>
#include <cstdint>
#include <vector>

#include "execute/access.h"
#include "execute/access_record.h"
#include "execute/device_memory_view.h"
#include "execute/kernel.h"
#include "execute/shared_storage.h"
#include "isa/address_span.h"
#include "weft/machine/address_windows.h"

namespace weft::execute {

class AddressSpaces {
 public:
  // Of the threads of SM number `sm`.
  explicit AddressSpaces(unsigned sm) : sm_(sm) {}

  // Contents of shared memory become zero, with start_block those of one block's.
  void start_kernel(const Kernel& kernel, const DeviceMemoryView& memory);
  void start_block(const ResidentBlock& block) { state_.shared.clear(block.slot); }
  void reset() { state_ = State(); }

  // Addresses low to low + bytes - 1, the first at `base`. Not of generic and local addresses.
  struct Region {
    std::uint8_t* base = nullptr;
    std::uint64_t low = 0, bytes = 0;
    const char* name = nullptr;
  };
  Region region(ptx::Space space, const ResidentBlock& block);
  // Byte 0 of the recorded addresses of a space, without direct access to system memory; nullptr: of
  // textures.
  const std::uint8_t* bytes_of(ptx::Space space, const ResidentBlock& block) const;

  const DeviceMemoryView& memory() const { return state_.memory; }
  // Whether the page of an offset in device memory is allocated.
  bool is_mapped(std::uint64_t offset) const {
    return state_.memory.mapped[offset >> state_.memory.page_shift] != 0;
  }

  // The addresses of an instruction whose base is `base` (nullptr: 0), of the threads in `mask`, which is not
  // empty, and what they span. Constant addresses outside device memory are taken modulo 2^32.
  isa::AddressSpan addresses(const ptx::Instruction& in, const void* base, std::uint32_t mask,
                             std::uint64_t* address) const;

  // Records an access that is possible: inside its region, aligned, and allocated. `base` is byte 0 of the
  // recorded addresses. nullptr: it is not, and nothing is recorded. Not of generic and local addresses.
  LaneAccess* record(const Access& access, AccessRecord& record, std::uint8_t*& base);

  // Lanes whose generic address lies in one of the two windows.
  struct Windows {
    std::uint32_t shared = 0, local = 0;
  };
  Windows windows_of(const std::uint64_t* address) const;
  const machine::AddressWindows& map() const { return state_.map; }

  // Bytes of a thread's local memory; 0 if it does not lie in device memory.
  std::uint64_t local_bytes() const { return state_.local_bytes; }
  // Where a 32-bit word of a thread's local memory lies in device memory.
  std::uint64_t local_place(std::uint64_t word, unsigned chunk, unsigned lane) const {
    return state_.local_origin + (word * state_.positions + state_.first_position[chunk] + lane) * 4;
  }

  // Lanes of the mask whose element lies in a window of system memory.
  std::uint32_t in_system(std::uint32_t mask, const std::uint64_t* address, std::uint64_t size) const;

  // One thread's memory, for the device runtime.
  struct Thread {
    const ResidentBlock& block;
    unsigned chunk = 0, lane = 0;
  };
  // The host's bytes behind one aligned word (or part of it) at a generic address; nullptr: none.
  std::uint8_t* word_at(std::uint64_t address, unsigned bytes, const Thread& thread);
  // Up to 8 bytes at a generic address; false: there is no memory, and the value is 0 or a part of it.
  bool read(std::uint64_t address, unsigned bytes, std::uint64_t& value, const Thread& thread);
  // Writes 4 or 8 bytes of local memory, which are there.
  void write_local(std::uint64_t offset, unsigned bytes, std::uint64_t value, const Thread& thread);

 private:
  struct State {
    DeviceMemoryView memory;
    machine::AddressWindows map;
    SharedStorage shared;
    std::vector<std::uint8_t> parameters;
    std::uint64_t parameter_bytes = 0;
    // Of local memory, whose threads lie one after the other, those of all SMs.
    std::uint64_t positions = 0;                // thread positions of all SMs in this kernel
    std::vector<std::uint64_t> first_position;  // by chunk of this SM
    std::uint64_t local_origin = 0;             // where it begins in device memory
    std::uint64_t local_bytes = 0;              // of a thread
  };

  void start_local(const Kernel& kernel);

  const unsigned sm_;
  // By isa::AddressKind.
  const std::array<isa::AddressFunction, 3> spread_ = {isa::find_addresses(isa::AddressKind::kWide),
                                                       isa::find_addresses(isa::AddressKind::kLow),
                                                       isa::find_addresses(isa::AddressKind::kNarrow)};
  State state_;
};

}  // namespace weft::execute

#endif
