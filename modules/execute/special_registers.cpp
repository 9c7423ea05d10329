#include "execute/special_registers.h"

namespace weft::execute {
namespace {

// Words of a special register that is constant for a thread; lane by lane.
struct SpecialContext {
  const Kernel& kernel;
  const ResidentBlock& block;
  const machine::SmConfig& config;
  unsigned sm;
};

std::uint32_t special_value(ptx::Special special, const SpecialContext& c, std::uint32_t thread) {
  const auto& block = c.kernel.launch.block;
  const auto& grid = c.kernel.launch.grid;
  const std::uint32_t lane = thread % isa::kLanes;
  switch (special) {
    case ptx::Special::kTidX:
      return thread % block[0];
    case ptx::Special::kTidY:
      return thread / block[0] % block[1];
    case ptx::Special::kTidZ:
      return thread / block[0] / block[1];
    case ptx::Special::kNtidX:
      return block[0];
    case ptx::Special::kNtidY:
      return block[1];
    case ptx::Special::kNtidZ:
      return block[2];
    case ptx::Special::kCtaidX:
      return c.block.index[0];
    case ptx::Special::kCtaidY:
      return c.block.index[1];
    case ptx::Special::kCtaidZ:
      return c.block.index[2];
    case ptx::Special::kNctaidX:
      return grid[0];
    case ptx::Special::kNctaidY:
      return grid[1];
    case ptx::Special::kNctaidZ:
      return grid[2];
    case ptx::Special::kLaneid:
      return lane;
    case ptx::Special::kWarpid:
      return (c.block.first_chunk * isa::kLanes + thread) / isa::kLanes;
    case ptx::Special::kNwarpid:
      return static_cast<std::uint32_t>(c.config.max_warps);
    case ptx::Special::kSmid:
      return c.sm;
    case ptx::Special::kNsmid:
      return static_cast<std::uint32_t>(c.config.count);
    case ptx::Special::kLanemaskEq:
      return 1u << lane;
    case ptx::Special::kLanemaskLt:
      return (1u << lane) - 1;
    case ptx::Special::kLanemaskLe:
      return (2u << lane) - 1;
    case ptx::Special::kLanemaskGt:
      return ~((2u << lane) - 1);
    case ptx::Special::kLanemaskGe:
      return ~((1u << lane) - 1);
    case ptx::Special::kDynamicSharedSize:
      return static_cast<std::uint32_t>(c.kernel.launch.dynamic_shared);
    case ptx::Special::kTotalSharedSize:
      return static_cast<std::uint32_t>(c.kernel.own_shared_bytes);
    case ptx::Special::kReservedSharedBegin:
    case ptx::Special::kReservedShared0:
    case ptx::Special::kReservedShared1:
      return static_cast<std::uint32_t>(c.kernel.reserved_shared);
    case ptx::Special::kReservedSharedEnd:
      return static_cast<std::uint32_t>(c.kernel.reserved_shared + ReservedShared::kUsed);
    case ptx::Special::kReservedSharedCap:
      return static_cast<std::uint32_t>(c.kernel.reserved_shared + ReservedShared::kBytes);
    default:
      return 0;  // %gridid, %envreg: no value is promised
  }
}

}  // namespace

void fill_special_registers(const Kernel& kernel, const ResidentBlock& block, const machine::SmConfig& config,
                            unsigned sm, RegisterFile& registers) {
  const SpecialContext context{kernel, block, config, sm};
  const auto& specials = kernel.program.special_rows;
  for (unsigned chunk = 0; chunk < kernel.chunks_per_block; ++chunk) {
    for (unsigned k = 0; k < specials.size(); ++k) {
      std::uint32_t* row = registers.row(block.chunk_of(chunk), kernel.program.register_rows + 2 * k);
      for (unsigned lane = 0; lane < isa::kLanes; ++lane)
        row[lane] = special_value(specials[k], context, chunk * isa::kLanes + lane);
    }
  }
}

}  // namespace weft::execute
