// A kernel as the SMs see it: the program with its functions looked up, its geometry, its occupancy. One
// launch makes one: as it is checked, and then it is what runs, on the SMs or without timing.
#ifndef WEFT_EXECUTE_KERNEL_H
#define WEFT_EXECUTE_KERNEL_H

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "datapath/datapath.h"
#include "execute/occupancy.h"
#include "isa/isa.h"
#include "weft/dispatch/launch.h"
#include "weft/machine/sm_config.h"
#include "weft/ptx/program.h"

namespace weft::execute {

// Throws InputError, with the place, for an instruction that has no function.
void check_executable(const ptx::Program& program);

// A source operand, ready for use.
struct Source {
  enum class Kind : std::uint8_t { kNone, kRow, kConstant, kPredicate, kDynamic };
  Kind kind = Kind::kNone;
  bool negated = false;
  std::uint16_t index = 0;         // predicate number, or the ptx::Special
  std::uint32_t offset = 0;        // kRow: words from the chunk's base
  const void* constant = nullptr;  // kConstant: 32 lanes
};

// Sources of a texture or surface instruction, which may have more than others.
using ImageSources = std::array<Source, ptx::kMaxSources>;

struct Operation : datapath::Demand {
  isa::LaneFunction function = nullptr;
  isa::MemoryFunction memory = nullptr;
  isa::MemoryFunction shared_memory =
      nullptr;  // the same in shared memory, which generic addresses may reach
  std::array<Source, 5> src{};
  std::array<std::int32_t, 4> dst{-1, -1, -1, -1};  // words from the chunk's base; -1: none
  std::array<std::int16_t, 2> dst_predicate{-1, -1};
  std::array<std::uint16_t, 18> keys{};  // scoreboard keys read or written
  std::uint8_t key_count = 0;
  std::uint8_t element_bytes = 0;       // memory: bytes of one element
  const ImageSources* image = nullptr;  // textures and surfaces: the sources, instead of `src`
};

// 32 lanes of a 64-bit constant.
struct WideConstant {
  alignas(64) std::array<std::uint64_t, isa::kLanes> lanes;
};

// What instructions on generic addresses take from the machine's map.
struct AddressConstants {
  explicit AddressConstants(const machine::AddressWindows& map);
  WideConstant shared, local, bytes, zero;
};

// The instructions of a program, ready for one machine.
struct OperationTable {
  // Throws InputError for an instruction that has no function. `parameter_window`: what cvta.param adds.
  OperationTable(std::shared_ptr<const ptx::Program> of, const machine::SmConfig& config,
                 const WideConstant* parameter_window);
  OperationTable(const OperationTable&) = delete;  // operations refer to the members below
  OperationTable& operator=(const OperationTable&) = delete;

  const AddressConstants addresses;
  std::shared_ptr<const ptx::Program> program;  // to which operations refer
  std::vector<Operation> operations;            // by PC
  std::deque<ImageSources> image_sources;
};

// Launches of one program that wait or run at the same time share its table: there may be thousands.
class OperationTables {
 public:
  std::shared_ptr<const OperationTable> of(const std::shared_ptr<const ptx::Program>& program,
                                           const machine::SmConfig& config);

 private:
  // A table that lives keeps its program, so that no other program has its address.
  std::map<const ptx::Program*, std::weak_ptr<const OperationTable>> tables_;
};

struct Kernel {
  // Throws InputError for what dispatch::check or occupancy refuse, and for an instruction that has no
  // function. Takes its table from `tables`, which are of this configuration; nullptr: makes its own.
  Kernel(const dispatch::Launch& launch, const machine::SmConfig& config, std::uint64_t warp_size,
         OperationTables* tables = nullptr);
  Kernel(const Kernel&) = delete;  // operations refer to parameter_window
  Kernel& operator=(const Kernel&) = delete;

  // Before it begins: where its parameters lie in device memory.
  void set_parameter_address(std::uint64_t address) {
    launch.parameter_address = address;
    parameter_window.lanes.fill(address);
  }

  WideConstant parameter_window{};  // where the parameters lie, for cvta.param
  dispatch::Launch launch;
  const ptx::Program& program;
  Occupancy occupancy;
  std::shared_ptr<const OperationTable> table;
  const std::vector<Operation>& operations;  // by PC
  datapath::BlockRegisters registers;        // of a block
  std::uint32_t threads = 0;                 // per block
  std::uint32_t chunks_per_block = 0;
  std::uint64_t shared_bytes = 0;      // per block: static, dynamic and reserved
  std::uint64_t own_shared_bytes = 0;  // of these, static and dynamic
  std::uint64_t reserved_shared = 0;   // where the reserved part would begin
  bool copies = false;                 // has cp.async
  std::uint64_t local_bytes = 0;       // per thread, with its stack
  std::uint64_t sms = 1;               // on which it may run
  const machine::AddressWindows addresses;

  std::uint32_t chunks_per_sm() const { return occupancy.resident * chunks_per_block; }
};

// Bytes of device memory that the kernel's local variables take on all SMs.
std::uint64_t local_area_bytes(const Kernel& kernel);
// The same of a launch, before there is a kernel. Throws InputError for what dispatch::check or occupancy
// refuse.
std::uint64_t local_area_bytes(const dispatch::Launch& launch, const machine::SmConfig& config,
                               std::uint64_t warp_size);

// Throws InputError unless the addresses that the launch gives lie in device memory, at [base, base + bytes):
// local_address with room for the local variables of all threads, and parameter_address and code_address,
// where they are not 0.
void check_addresses(const Kernel& kernel, std::uint64_t base, std::uint64_t bytes);

}  // namespace weft::execute

#endif
