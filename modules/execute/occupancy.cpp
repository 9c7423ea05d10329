#include "execute/occupancy.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "execute/access.h"
#include "isa/isa.h"
#include "machine/datapath_of.h"
#include "weft/common/error.h"

namespace weft::execute {
namespace {

// A sum that wrapped around would pass for a small block.
std::uint64_t saturating_add(std::uint64_t a, std::uint64_t b) {
  std::uint64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  const std::uint64_t rest = value % unit;
  return rest == 0 ? value : saturating_add(value, unit - rest);
}

// A block in the units in which an SM gives its resources.
struct Shares {
  std::uint64_t threads = 0, warps = 0, shared = 0, scalars = 0;  // scalars: registers of a warp
  datapath::RegisterFit registers;
};

Shares shares_of(const BlockNeeds& needs, const machine::SmConfig& config, std::uint64_t warp_size) {
  Shares shares;
  shares.threads = needs.threads;
  shares.warps = (needs.threads + warp_size - 1) / warp_size;
  shares.registers = datapath_of(config)->fit(
      {needs.threads, needs.registers_per_thread, warp_size, 0, needs.scalars_per_warp});
  shares.scalars = needs.scalars_per_warp;
  const SharedLayout shared = shared_layout(needs);
  shares.shared = round_up(std::max(shared.bytes, saturating_add(shared.own, config.reserved_shared_bytes)),
                           config.shared_allocation_unit);
  return shares;
}

// " and 9 for the warp"
std::string scalars_text(const BlockNeeds& needs) {
  return needs.scalars_per_warp == 0 ? ""
                                     : " and " + std::to_string(needs.scalars_per_warp) + " for the warp";
}

std::uint64_t domains_of(const machine::SmConfig& config) {
  return config.domains();
}

// Threads are held in warps: a domain has room for so many of them.
std::uint64_t warps_per_domain(const machine::SmConfig& config, std::uint64_t warp_size) {
  return std::min(config.max_threads / warp_size, config.max_warps) / domains_of(config);
}

// Sub-core d has every n-th warp of 32 threads of a block, and makes its own warps of them.
std::uint64_t most_warps_of_sub_core(std::uint64_t threads, const machine::SmConfig& config,
                                     std::uint64_t warp_size) {
  const std::uint64_t chunks = (threads + isa::kLanes - 1) / isa::kLanes, n = config.sub_cores();
  const std::uint64_t most = std::min((chunks + n - 1) / n * isa::kLanes, threads);
  return (most + warp_size - 1) / warp_size;
}

// Blocks in the first slots that sub-cores have room for, with `room` warps each.
std::uint64_t blocks_over_sub_cores(std::uint64_t threads, std::uint64_t room,
                                    const machine::SmConfig& config, std::uint64_t warp_size) {
  std::vector<std::uint64_t> taken(config.sub_cores(), 0);
  ResidentBlock block;
  block.threads = static_cast<std::uint32_t>(threads);
  block.domain_count = static_cast<std::uint16_t>(taken.size());
  for (std::uint64_t slot = 0; slot < config.max_blocks; ++slot) {
    block.domain = static_cast<std::uint16_t>(slot * block.warps() % taken.size());
    for (unsigned part = 0; part < block.parts(); ++part) {
      std::uint64_t& warps = taken[block.domain_of_part(part)];
      warps += (block.part(part).threads + warp_size - 1) / warp_size;
      if (warps > room) return slot;
    }
  }
  return UINT64_MAX;
}

struct Fit {
  std::uint64_t blocks = UINT64_MAX;
  const char* limit = "";
  std::uint64_t has = 0, needs = 0;  // of `limit`, where no block fits
};

Fit fit(const Shares& block, const machine::SmConfig& config, std::uint64_t warp_size) {
  Fit result;
  const auto allow = [&](const char* name, std::uint64_t fits, std::uint64_t has, std::uint64_t needs) {
    if (result.blocks == 0) return;  // the first resource that is missing is the one to be named
    if (fits < result.blocks) result = {fits, name, has, needs};
  };
  const auto limit = [&](const char* name, std::uint64_t has, std::uint64_t needs) {
    allow(name, needs == 0 ? UINT64_MAX : has / needs, has, needs);
  };
  limit("threads", config.max_threads, block.threads);
  limit("warps", config.max_warps, block.warps);
  allow("registers", block.registers.blocks, config.registers, block.registers.needed);
  allow("scalar registers", block.registers.scalar_blocks, config.scalarization.registers,
        block.registers.scalars_needed);
  limit("bytes of shared memory", config.shared_bytes, block.shared);
  limit("blocks", config.max_blocks, 1);
  const std::uint64_t room = warps_per_domain(config, warp_size);
  if (config.sub_cores() > 1) {
    const std::uint64_t blocks = blocks_over_sub_cores(block.threads, room, config, warp_size);
    if (blocks == 0)
      limit("warps of one sub-core", room, most_warps_of_sub_core(block.threads, config, warp_size));
    if (blocks < result.blocks) {
      result.blocks = blocks;
      result.limit = "warps of the sub-cores";
    }
    return result;
  }
  // A block stays in one domain.
  if (block.warps > room) limit("warps of one scheduler domain", room, block.warps);
  const std::uint64_t by_domain = room / block.warps * domains_of(config);
  if (by_domain < result.blocks) {
    result.blocks = by_domain;
    result.limit = "warps of the scheduler domains";
  }
  return result;
}

// "; allowed with --set sm.max_threads=2048": with these settings one block fits.
std::string settings_that_fit(const Shares& block, const machine::SmConfig& config, std::uint64_t warp_size) {
  // Ranges of the keys (sm_config.cpp).
  constexpr std::uint64_t kMostThreads = 4096, kMostWarps = 512, kMostShared = 1u << 24;
  std::string settings;
  bool possible = true;
  const auto set = [&](const char* key, std::uint64_t value) {
    settings += std::string(" sm.") + key + "=" + std::to_string(value);
  };
  const bool spread = config.sub_cores() > 1;
  std::uint64_t warps =  // of one domain
      spread ? most_warps_of_sub_core(block.threads, config, warp_size) : block.warps;
  std::uint64_t domains = domains_of(config);
  if (domains > 1 && (warps * warp_size * domains > kMostThreads || warps * domains > kMostWarps)) {
    set("schedulers_per_domain", config.schedulers);
    domains = 1;
    warps = block.warps;
  }
  const std::uint64_t threads = std::max(block.threads, warps * warp_size * domains);
  if (threads > config.max_threads) set("max_threads", threads);
  if (warps * domains > config.max_warps) set("max_warps", warps * domains);
  possible = possible && threads <= kMostThreads && warps * domains <= kMostWarps;
  if (block.shared > config.shared_bytes) {
    if (config.unified_l1.on()) set("unified_l1.bytes", 0);
    set("shared_bytes", block.shared);
    possible = possible && block.shared <= kMostShared;
  }
  if (block.registers.scalar_blocks == 0)
    settings += " scalarization.registers=" + std::to_string(block.registers.scalars_needed);
  if (block.registers.blocks == 0) {
    const std::uint32_t fewer = most_registers(block.threads, 1, config, warp_size, block.scalars);
    if (config.registers_per_thread != 0 && fewer != 0) {
      set("registers_per_thread", fewer);
    } else {
      set("registers", block.registers.needed);
    }
  }
  if (!possible) return "; no setting allows such a block";
  return settings.empty() ? "" : "; allowed with --set" + settings;
}

}  // namespace

bool ReservedShared::is_used_by(const ptx::Program& program) {
  const auto& specials = program.special_rows;
  return std::any_of(specials.begin(), specials.end(), [](ptx::Special special) {
    return special >= ptx::Special::kReservedSharedBegin && special <= ptx::Special::kReservedShared1;
  });
}

SharedLayout shared_layout(const BlockNeeds& needs) {
  SharedLayout layout;
  layout.own =
      saturating_add(round_up(needs.static_shared, needs.dynamic_shared != 0 ? 16 : 1), needs.dynamic_shared);
  layout.reserved = round_up(layout.own, ReservedShared::kAlignment);
  layout.bytes = needs.reserved_shared ? saturating_add(layout.reserved, ReservedShared::kBytes) : layout.own;
  return layout;
}

namespace {

bool calls_functions(const ptx::Program& program) {
  return std::any_of(program.code.begin(), program.code.end(),
                     [](const ptx::Instruction& in) { return in.op == ptx::Opcode::kCall; });
}

constexpr std::uint64_t kWarp = 32;  // threads; compilers know no other size

// What the estimate says, but no more than lets a block fit that the program's own registers let fit, or the
// blocks that .minnctapersm asks for: a compiler keeps within both.
std::uint64_t estimated_registers(const ptx::Program& program, std::uint64_t threads,
                                  const machine::SmConfig& config) {
  const machine::SmConfig::RegisterEstimate& estimate = config.register_estimate;
  const double registers = estimate.base + estimate.share * program.registers_per_thread +
                           (calls_functions(program) ? estimate.calls : 0);
  const auto rounded = static_cast<std::uint64_t>(std::lround(std::max(1.0, registers)));
  const std::uint64_t whole = std::max(threads, program.min_blocks > 1 ? declared_most_threads(program) : 1);
  const std::uint64_t fits = most_registers(whole, std::max(1u, program.min_blocks), config, kWarp);
  const std::uint64_t most = std::min<std::uint64_t>(
      config.max_registers_per_thread, std::max<std::uint64_t>(fits, program.registers_per_thread));
  return std::min(rounded, most);
}

}  // namespace

BlockNeeds needs_of(const ptx::Program& program, std::uint64_t threads, std::uint64_t dynamic_shared,
                    const machine::SmConfig& config) {
  BlockNeeds needs;
  needs.threads = threads;
  needs.registers_per_thread = config.registers_per_thread != 0 ? config.registers_per_thread
                                                                : std::max(1u, program.registers_per_thread);
  needs.scalars_per_warp = program.scalars_per_warp;
  if (config.registers_per_thread != 0 && program.unscalarized_registers != 0) {
    // What the configuration says is of a program without scalarization: scaled, both files are as much
    // smaller as this program's.
    const auto scaled = [&](std::uint64_t registers) {
      const std::uint64_t without = program.unscalarized_registers;
      return (registers * config.registers_per_thread + without - 1) / without;
    };
    needs.registers_per_thread = std::max<std::uint64_t>(1, scaled(program.registers_per_thread));
    needs.scalars_per_warp = scaled(program.scalars_per_warp);
  }
  if (config.register_estimate.enabled)
    needs.registers_per_thread = estimated_registers(program, threads, config);
  needs.static_shared = program.shared_bytes;
  needs.dynamic_shared = dynamic_shared;
  needs.reserved_shared = ReservedShared::is_used_by(program);
  return needs;
}

Occupancy occupancy(const dispatch::Launch& launch, const machine::SmConfig& config,
                    std::uint64_t warp_size) {
  const std::string kernel = "kernel " + launch.program->name;
  dispatch::check_block(launch);
  const BlockNeeds needs =
      needs_of(*launch.program, launch.threads_per_block(), launch.dynamic_shared, config);
  const Shares block = shares_of(needs, config, warp_size);
  const auto refuse = [&](std::uint64_t asked, const std::string& what, std::uint64_t has) {
    throw InputError(kernel, "a block does not fit an SM: it needs " + std::to_string(asked) + " " + what +
                                 ", the SM has " + std::to_string(has) +
                                 settings_that_fit(block, config, warp_size));
  };
  // Each by itself, in the user's numbers, before they are rounded and added.
  for (const auto& [what, bytes] :
       {std::pair("static", needs.static_shared), std::pair("dynamic", needs.dynamic_shared)}) {
    if (bytes > config.shared_bytes)
      refuse(bytes, std::string("bytes of ") + what + " shared memory", config.shared_bytes);
  }
  const Fit found = fit(block, config, warp_size);
  if (found.blocks == 0 && block.registers.warp > block.registers.slice) {
    const datapath::RegisterFit& registers = block.registers;
    const std::string part = config.sub_cores() > 1 ? "sub-core" : "lane";
    throw InputError(kernel, "a warp does not fit a " + part + ": with " +
                                 std::to_string(needs.registers_per_thread) + " registers for each thread" +
                                 scalars_text(needs) + " it takes " + std::to_string(registers.warp) +
                                 ", a " + part + " has " + std::to_string(registers.slice) + " (" +
                                 std::to_string(config.registers) + " over " +
                                 std::to_string(registers.slices) + " " + part + "s)" +
                                 settings_that_fit(block, config, warp_size));
  }
  if (found.blocks == 0) {
    const bool registers = needs.scalars_per_warp != 0 && block.registers.blocks == 0;
    refuse(found.needs,
           found.limit + (registers && found.needs == block.registers.needed
                              ? " (" + std::to_string(needs.registers_per_thread) + " for each thread" +
                                    scalars_text(needs) + ")"
                              : std::string()),
           found.has);
  }
  Occupancy result;
  result.blocks = static_cast<std::uint32_t>(found.blocks);
  result.resident = result.blocks;
  if (block.registers.resident != 0) {
    Shares most = block;
    most.registers.blocks = block.registers.resident;
    result.resident = static_cast<std::uint32_t>(fit(most, config, warp_size).blocks);
  }
  result.limit = found.limit;
  result.registers_per_block = block.registers.needed;
  result.shared_per_block = block.shared;
  if (config.unified_l1.on()) {
    const auto percent = static_cast<std::uint64_t>(std::clamp(launch.preferred_shared_percent, 0, 100));
    const std::uint64_t preferred = (config.shared_bytes * percent + 99) / 100;
    result.shared_option = config.unified_l1.option_for(std::max(block.shared * result.resident, preferred));
  }
  return result;
}

std::uint64_t blocks_that_fit(const BlockNeeds& needs, const machine::SmConfig& config,
                              std::uint64_t warp_size) {
  if (needs.threads == 0 || needs.threads > dispatch::kMostBlockThreads) return 0;
  return fit(shares_of(needs, config, warp_size), config, warp_size).blocks;
}

std::uint32_t most_threads(const BlockNeeds& needs, const machine::SmConfig& config,
                           std::uint64_t warp_size) {
  BlockNeeds block = needs;
  // A block that fits still does with fewer threads.
  std::uint64_t fits = 0, too_many = std::uint64_t{dispatch::kMostBlockThreads} + 1;
  while (too_many - fits > 1) {
    block.threads = (fits + too_many) / 2;
    (blocks_that_fit(block, config, warp_size) != 0 ? fits : too_many) = block.threads;
  }
  return static_cast<std::uint32_t>(fits);
}

std::uint64_t declared_most_threads(const ptx::Program& program) {
  return std::min(program.most_threads(), dispatch::kMostBlockThreads);
}

std::uint64_t most_dynamic_shared(const BlockNeeds& needs, std::uint64_t blocks,
                                  const machine::SmConfig& config) {
  if (blocks == 0) return 0;
  std::uint64_t share =
      config.shared_bytes / blocks / config.shared_allocation_unit * config.shared_allocation_unit;
  const std::uint64_t plain = share - std::min(share, config.reserved_shared_bytes);
  if (needs.reserved_shared) {
    share -= std::min(share, ReservedShared::kBytes);
    share -= share % ReservedShared::kAlignment;
  }
  share = std::min(share, plain);
  const std::uint64_t fixed = round_up(needs.static_shared, 16);
  return share > fixed ? share - fixed : 0;
}

std::uint32_t most_registers(std::uint64_t threads, std::uint64_t blocks, const machine::SmConfig& config,
                             std::uint64_t warp_size, std::uint64_t scalars_per_warp) {
  if (threads == 0 || blocks == 0) return 0;
  const auto datapath = datapath_of(config);
  // What fits still does with fewer registers.
  std::uint64_t fits = 0, too_many = config.registers + 1;
  while (too_many - fits > 1) {
    const std::uint64_t registers = (fits + too_many) / 2;
    const bool enough = datapath->fit({threads, registers, warp_size, 0, scalars_per_warp}).blocks >= blocks;
    (enough ? fits : too_many) = registers;
  }
  return static_cast<std::uint32_t>(fits);
}

ptx::DecodeOptions decode_options(const machine::SmConfig& config) {
  ptx::DecodeOptions options;
  options.spill = config.registers_per_thread == 0;
  options.scalarization = config.scalarization.kind;
  if (options.spill) options.max_registers = static_cast<std::uint32_t>(config.max_registers_per_thread);
  return options;
}

std::uint32_t registers_to_fit(const ptx::Program& program, std::uint64_t threads,
                               const machine::SmConfig& config, std::uint64_t warp_size) {
  if (config.registers_per_thread != 0 || program.registers_per_thread <= ptx::kLeastRegisters) return 0;
  // What does not fit a lane is refused: what to spill there is for who writes the program to say.
  const datapath::RegisterFit whole = datapath_of(config)->fit(
      {threads, program.registers_per_thread, warp_size, 0, program.scalars_per_warp});
  if (whole.warp > whole.slice) return 0;
  std::uint64_t blocks = 1;
  if (program.min_blocks > 1) {
    // As far as an SM could hold so many blocks if they had no registers.
    threads = std::max(threads, declared_most_threads(program));
    BlockNeeds needs = needs_of(program, threads, 0, config);
    needs.registers_per_thread = 0;
    blocks = std::clamp<std::uint64_t>(blocks_that_fit(needs, config, warp_size), 1, program.min_blocks);
  }
  const std::uint32_t most = most_registers(threads, blocks, config, warp_size, program.scalars_per_warp);
  return program.registers_per_thread <= most ? 0 : std::max(most, ptx::kLeastRegisters);
}

}  // namespace weft::execute
