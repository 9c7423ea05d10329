// Executes instructions on the threads of one SM: registers, shared memory, and the image of device memory.
//
// Function only; time is the business of the units and the load-store unit. A memory instruction leaves
// behind the addresses that its lanes touched, for the coalescer and the bank-conflict logic.
#ifndef WEFT_SM_EXECUTOR_H
#define WEFT_SM_EXECUTOR_H

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "common/fault.h"
#include "sm/access_observer.h"
#include "sm/kernel.h"
#include "sm/register_file.h"
#include "sm/shared_storage.h"
#include "sm/system_memory.h"
#include "sm/warp_gatherings.h"
#include "texture/sample.h"
#include "texture/table.h"
#include "warp_formation/warp_formation.h"

namespace weft::sm {

class DeviceServices;

// Device memory as kernels reach it: the image (through DMI) and which pages are allocated.
struct DeviceMemoryView {
  std::uint8_t* image = nullptr;  // byte 0 of device memory; the SM asks for it through DMI
  std::uint64_t base = 0;         // device address of byte 0
  std::uint64_t bytes = 0;
  const std::uint8_t* mapped = nullptr;  // one byte per page, 0: not allocated
  unsigned page_shift = 12;
  DeviceServices* services = nullptr;       // of the device runtime; without: no output, an empty heap
  const texture::Table* objects = nullptr;  // textures and surfaces
  SystemMemory* system = nullptr;           // without: there is none
  bool untimed = false;  // no transactions follow: memory without direct access is reached at once, too
};

// A block that is resident in a slot.
struct ResidentBlock {
  bool live = false;
  std::uint16_t slot = 0;
  std::uint16_t first_chunk = 0;
  std::uint16_t domain = 0;
  std::uint32_t threads = 0;
  std::uint32_t live_threads = 0;
  dispatch::Dim3 index{};  // %ctaid
};

// Where lanes of one chunk went in one address space, one element each.
struct LaneAccess {
  ptx::Space space = ptx::Space::kGlobal;  // kGlobal, kShared, kConst, kParam, kLocal (an offset in device
                                           // memory); kTexture: nowhere, the texture unit answers by itself
  bool staged = false;  // system memory without direct access: Executor::staged() moves with transactions
  std::uint16_t chunk = 0;
  std::uint32_t mask = 0;
  std::uint32_t bytes = 4;          // per lane
  std::uint64_t low = 0, high = 0;  // smallest and largest address of the lanes in the mask
  std::array<std::uint64_t, isa::kLanes>
      address{};  // kShared: offset; kParam: in the parameters; else in device memory, or + kSystemSpace
};

// What one thread's transaction to system memory carries: the bytes, and the operands of an atomic.
struct StagedLane {
  alignas(16) std::array<std::uint8_t, 16> bytes{};
  std::array<std::uint64_t, 2> operand{};
};

class Executor {
 public:
  Executor(const Config& config, unsigned sm, double core_megahertz, RegisterFile& registers);

  void start_kernel(const Kernel& kernel, const DeviceMemoryView& memory);
  // Fills the special registers of the block's threads and clears its shared memory.
  void start_block(const ResidentBlock& block);

  // Threads of `group` whose guard holds.
  std::uint32_t guarded(const ptx::Instruction& in, const warp_formation::ThreadGroup& group) const {
    if (in.guard < 0) return group.mask;
    const std::uint32_t bits = registers_.predicate(group.chunk, static_cast<unsigned>(in.guard));
    return group.mask & (in.guard_negated ? ~bits : bits);
  }

  // `cycle`: the core cycle, for %clock.
  void arithmetic(const Operation& op, const warp_formation::Groups& groups, std::uint64_t cycle);

  // Reads or writes memory for all groups. `accesses()` then says where. False: a fault, explained by
  // `fault()`.
  bool memory(const Operation& op, ptx::Pc pc, const warp_formation::Groups& groups,
              const ResidentBlock& block);
  // Where a space of addresses lies: addresses low to low + bytes - 1, the first at `base`. Not for generic
  // and local addresses.
  struct Region {
    std::uint8_t* base = nullptr;
    std::uint64_t low = 0, bytes = 0;
    const char* name = nullptr;
  };
  Region region(ptx::Space space, const ResidentBlock& block);
  const LaneAccess* accesses() const { return accesses_.data(); }
  unsigned access_count() const { return access_count_; }
  const Fault& fault() const { return fault_; }
  // Byte 0 of the recorded addresses of a space, without direct access to system memory; nullptr: of
  // textures.
  const std::uint8_t* bytes_of(ptx::Space space, const ResidentBlock& block) const;
  // How often a kernel has used what is neither its registers nor its memory: a clock, system memory, the
  // device runtime, a surface.
  std::uint64_t outside_uses() const { return outside_uses_; }
  // Of an access that is `staged`: what goes along for a lane.
  const StagedLane& staged(const LaneAccess& access, unsigned lane) const {
    return staged_[static_cast<std::size_t>(&access - accesses_.data()) * isa::kLanes + lane];
  }
  // The bytes of a staged load have come: writes the thread's registers. Those of an atomic have been read:
  // changes them, and writes the registers. A store: nothing is left to do.
  void complete(const Operation& op, unsigned chunk, unsigned lane, StagedLane& staged);
  // Shows every access to `observer` before it happens; nullptr: to nobody.
  void observe(AccessObserver* observer) { observer_ = observer; }
  // Threads of group g of the last memory() that the observer kept from their access.
  std::uint32_t refused(unsigned g) const { return observer_ == nullptr ? 0 : refused_[g]; }

  // A call leaves its way back in the link register.
  void link(const Operation& op, ptx::Pc pc, unsigned chunk, std::uint32_t mask);
  // Where a thread goes by a return, an indexed branch or a call through a register. kNoPc: nowhere, a fault
  // that `fault()` explains.
  ptx::Pc target(const Operation& op, ptx::Pc pc, unsigned chunk, unsigned lane, const ResidentBlock& block);
  // A kSystem instruction for the threads of the mask, in ascending order. False: a fault, or the end of the
  // kernel that the program asked for.
  bool system(const Operation& op, ptx::Pc pc, unsigned chunk, std::uint32_t mask,
              const ResidentBlock& block);

  // A warp-level primitive for all its participants in a chunk, which came from `count` places. False: the
  // observer wants the launch to end.
  bool across_lanes(const Participants* parts, unsigned count, unsigned chunk, const ResidentBlock& block);
  // The result of bar.red for these lanes: `votes` of `threads` predicates were true.
  void barrier_result(const Operation& op, unsigned chunk, std::uint32_t lanes, std::uint32_t votes,
                      std::uint32_t threads);
  // The value of a uniform 32-bit operand, for the first thread of the groups.
  std::uint32_t scalar(const Source& source, const warp_formation::Groups& groups) const;
  // 32 lanes of a 32-bit operand; nullptr: there is none.
  const std::uint32_t* words_of(const Source& source, unsigned chunk);
  std::uint32_t predicates_of(const Source& source, unsigned chunk);

  // A thread of a block in words, for messages: "thread (3,0,0) of block (1,2,0)".
  std::string thread_name(const ResidentBlock& block, unsigned chunk, unsigned lane) const;
  // "kernel: thread (3,0,0) of block (1,2,0), pc 7, file.cu:12 (kernel.ptx:40:3)"
  std::string place_name(ptx::Pc pc, unsigned chunk, unsigned lane, const ResidentBlock& block) const;

 private:
  // Checks an access and records it; nullptr: it cannot be. `base` is byte 0 of the recorded addresses.
  LaneAccess* check(const Operation& op, ptx::Space space, unsigned chunk, std::uint32_t mask,
                    const std::uint64_t* address, const ResidentBlock& block, std::uint8_t*& base);
  bool copy(const Operation& op, ptx::Pc pc, const warp_formation::Groups& groups,
            const ResidentBlock& block);
  const void* lanes_of(const Source& source, unsigned chunk);
  void addresses(const Operation& op, unsigned chunk, std::uint64_t* address);
  bool access(const Operation& op, ptx::Pc pc, ptx::Space space, unsigned chunk, std::uint32_t mask,
              const std::uint64_t* address, const ResidentBlock& block);
  bool reach(const Operation& op, ptx::Pc pc, ptx::Space space, unsigned chunk, std::uint32_t mask,
             const std::uint64_t* address, const ResidentBlock& block);
  // executor_unified.cpp
  std::uint32_t in_system(std::uint32_t mask, const std::uint64_t* address, std::uint64_t size) const;
  bool unified(const Operation& op, ptx::Pc pc, unsigned chunk, std::uint32_t mask,
               const std::uint64_t* address, const ResidentBlock& block);
  LaneAccess& record_system(const Operation& op, unsigned chunk, std::uint32_t mask,
                            const std::uint64_t* address);
  void in_region(const Operation& op, unsigned chunk, std::uint32_t mask, const std::uint64_t* address,
                 const SystemMemory::Region& region);
  void stage(const Operation& op, unsigned chunk, std::uint32_t mask, const std::uint64_t* address);
  void one_lane(const Operation& op, unsigned chunk, unsigned lane, std::uint8_t* bytes,
                const StagedLane* operands);
  bool move_untimed(const Operation& op, ptx::Pc pc, unsigned chunk, std::uint32_t mask,
                    const std::uint64_t* address, const ResidentBlock& block);
  bool local(const Operation& op, ptx::Pc pc, unsigned chunk, std::uint32_t mask,
             const std::uint64_t* address, const ResidentBlock& block);
  bool generic(const Operation& op, ptx::Pc pc, unsigned chunk, std::uint32_t mask,
               const std::uint64_t* address, const ResidentBlock& block);
  std::uint32_t permitted(const Operation& op, ptx::Pc pc, ptx::Space space, unsigned chunk,
                          std::uint32_t mask, const std::uint64_t* address, const ResidentBlock& block);
  std::uint64_t dynamic_value(ptx::Special special, std::uint64_t cycle) const;
  // executor_system.cpp
  std::uint8_t* generic_bytes(std::uint64_t address, unsigned bytes, unsigned chunk, unsigned lane,
                              const ResidentBlock& block);
  bool read_generic(std::uint64_t address, unsigned bytes, std::uint64_t& value, unsigned chunk,
                    unsigned lane, const ResidentBlock& block);
  std::uint64_t argument(std::uint64_t area, unsigned offset, unsigned bytes, unsigned chunk, unsigned lane,
                         const ResidentBlock& block);
  void set_result(std::uint64_t area, unsigned bytes, std::uint64_t value, unsigned chunk, unsigned lane,
                  const ResidentBlock& block);
  Fault system_call(ptx::SystemCall call, std::uint64_t area, unsigned chunk, unsigned lane,
                    const ResidentBlock& block);

  std::uint64_t lane_value(const Source& source, bool wide, unsigned chunk, unsigned lane) const;
  // Where a 32-bit word of a thread's local memory lies in device memory.
  std::uint64_t local_place(std::uint64_t word, unsigned chunk, unsigned lane) const;
  // The registers and constants that a memory instruction names; base, offset and lanes are the caller's.
  isa::MemoryLanes memory_operands(const Operation& op, unsigned chunk);
  void transfer(isa::MemoryFunction function, const Operation& op, unsigned chunk, std::uint32_t mask,
                std::uint8_t* base, const std::uint64_t* offset);
  LaneAccess& record(ptx::Space space, unsigned chunk, std::uint32_t mask, std::uint32_t bytes);
  // Textures and surfaces (executor_image.cpp).
  struct ImageLanes;
  bool image(const Operation& op, ptx::Pc pc, const warp_formation::Groups& groups,
             const ResidentBlock& block);
  bool image_object(ImageLanes& lanes, unsigned lane);
  std::uint64_t reference(std::uint64_t value) const;
  bool fetch(ImageLanes& lanes, unsigned lane);
  bool query(ImageLanes& lanes, unsigned lane);
  bool surface(ImageLanes& lanes, unsigned lane);
  bool touch(ImageLanes& lanes, unsigned lane, unsigned number, std::uint64_t address, unsigned bytes);
  bool texel_permitted(const ImageLanes& lanes, unsigned lane, std::uint64_t address, unsigned bytes);
  void observe_shuffle(const isa::Lanes& lanes, const Participants* parts, unsigned count, unsigned chunk,
                       const ResidentBlock& block);
  bool goes_on();
  bool refuse_image(const ImageLanes& lanes, unsigned lane, FaultKind kind, const std::string& what);

  // executor_faults.cpp. Leave the fault of the first lane of the mask that cannot do its access; false.
  bool refuse(const Operation& op, ptx::Pc pc, unsigned chunk, std::uint32_t mask,
              const std::uint64_t* address, std::uint64_t low, std::uint64_t bytes, const char* what,
              const ResidentBlock& block);
  bool refuse_space(const Operation& op, ptx::Pc pc, unsigned chunk, unsigned lane, std::uint64_t address,
                    const ResidentBlock& block);
  bool overflows_stack(ptx::Space space, std::uint64_t address, std::uint64_t bytes) const;
  bool refuse(const Operation& op, ptx::Pc pc, ptx::Space space, unsigned chunk, std::uint32_t mask,
              const std::uint64_t* address, const ResidentBlock& block) {
    const Region where = region(space, block);
    return refuse(op, pc, chunk, mask, address, where.low, where.bytes, where.name, block);
  }

  const Config& config_;
  const unsigned sm_;
  const double nanoseconds_per_cycle_;
  RegisterFile& registers_;
  const Kernel* kernel_ = nullptr;
  DeviceMemoryView memory_;
  SharedStorage shared_;
  std::vector<std::uint8_t> parameters_;
  std::uint32_t positions_ = 0;     // thread positions of this SM in this kernel
  std::uint64_t local_origin_ = 0;  // where their local memory begins in device memory
  std::uint64_t local_bytes_ = 0;   // of a thread; 0 if it does not lie in device memory
  std::vector<LaneAccess> accesses_;
  unsigned access_count_ = 0;
  std::vector<StagedLane> staged_;  // by access and lane
  AccessObserver* observer_ = nullptr;
  std::array<std::uint32_t, warp_formation::kMaxGroups> refused_{};  // by group of the instruction
  unsigned group_ = 0;                                               // that is being executed
  std::uint64_t outside_uses_ = 0;
  Fault fault_;
};

// Bytes of device memory that the kernel's local variables take on all SMs.
std::uint64_t local_area_bytes(const Kernel& kernel, const Config& config);

// Throws InputError unless the addresses that the launch gives lie in device memory, at [base, base + bytes):
// local_address with room for the local variables of all threads, and parameter_address and code_address,
// where they are not 0.
void check_addresses(const Kernel& kernel, const Config& config, std::uint64_t base, std::uint64_t bytes);

}  // namespace weft::sm

#endif
