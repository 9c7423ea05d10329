// Configuration of a streaming multiprocessor (SM).
#ifndef WEFT_MACHINE_SM_CONFIG_H
#define WEFT_MACHINE_SM_CONFIG_H

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "weft/cache/cache_config.h"
#include "weft/common/config_visitor.h"
#include "weft/datapath/datapath_config.h"
#include "weft/machine/address_windows.h"
#include "weft/ptx/program.h"

namespace weft::machine {

// What an issue keeps for a cycle per beat: the unit that it goes to, or its scheduler's only port too.
enum class IssuePort : std::uint8_t { kPerUnit, kShared };

// Where instructions with one value for a warp execute: on the lanes, as if one thread were active, with
// their registers beside the others; or on a unit and a register file of their own, as AMD's GCN has.
enum class ScalarUnit : std::uint8_t { kLanes, kSeparate };

// Where the warps of a block go: all to one scheduler domain; or warp slot w to domain w modulo the domains,
// each of which is then a sub-core with a part of the registers.
enum class BlockPlacement : std::uint8_t { kDomain, kSubCores };

enum class Dependence : std::uint8_t {
  kBarrel,      // at most one instruction of a thread in flight
  kScoreboard,  // several; pending bits per (thread, register)
};
// Which threads of an issue the coalescer looks at together.
enum class CoalescerScope : std::uint8_t {
  kIssue,  // all of them
  kBeat,   // those whom the load-store unit serves in one cycle: memory_width neighbouring places of the warp
};
// The first-level cache of loads that say that nobody writes what they read (`ld.global.nc`).
enum class NcLoads : std::uint8_t { kL1d, kL1t };
// What the constant cache reads at once for all threads of an instruction.
enum class ConstantAccess : std::uint8_t { kWord, kLine };
enum class WriteHit : std::uint8_t { kUpdate, kInvalidate };
// When a data cache looks its tags up: at the beginning of its latency, which only hits then pay, or at the
// end.
enum class Lookup : std::uint8_t { kFirst, kLast };
enum class WritePolicy : std::uint8_t {
  kThrough,  // every store leaves the SM
  kBack,     // a store that hits makes its line dirty instead, which is written when it must be
};
// When a miss takes a line: at once, or when its data arrive. Streaming: when they arrive, with more MSHRs
// than the cache has sectors, so that lines never limit the misses under way.
enum class Allocation : std::uint8_t { kOnMiss, kOnFill, kStreaming };

// One first-level cache. Tags and states only: data lives in the memory image.
struct CacheConfig {
  bool enabled = true;
  cache::TagConfig tags{32, 4, 128};
  cache::MshrConfig mshrs{32, 8};
  std::uint64_t latency = 1;  // cycles from probe to data
  WriteHit write_hit = WriteHit::kUpdate;
  void describe(config::Visitor& v);
  void check(const std::string& where) const;
};
// One that may keep its lines for the next kernel.
struct KernelCacheConfig : CacheConfig {
  bool kept = false;
  void describe(config::Visitor& v);
};
struct DataCacheConfig : KernelCacheConfig {
  std::uint64_t sector_bytes = 0;  // fetched and written back at a time; 0: a line
  WritePolicy write_policy = WritePolicy::kThrough;
  cache::WriteMiss write_miss = cache::WriteMiss::kAround;
  bool merge_loads = true;  // of different instructions
  Lookup lookup = Lookup::kFirst;
  std::uint64_t banks = 1;  // each takes a request per cycle
  Allocation allocation = Allocation::kOnMiss;
  std::uint64_t write_ratio = 0;  // percent of the lines: fewer written ones make no room
  void describe(config::Visitor& v);
  void check(const std::string& where) const;
  std::uint64_t unit_bytes() const { return cache::bytes_of_sector(tags.line_bytes, sector_bytes); }
  bool fetches_lazily() const { return write_miss == cache::WriteMiss::kLazyFetch; }
  // What `mshr_entries` says, or what streaming needs.
  cache::MshrConfig outstanding() const;
};

// As many as the crossbar has places for (crossbar.h).
inline constexpr std::uint64_t kMostSms = 256;
// Most of an SM, and so of a block.
inline constexpr std::uint64_t kMostSharedBytes = std::uint64_t{1} << 24;

struct SmConfig {
  std::uint64_t count = 15;  // SMs
  std::uint64_t max_threads = 1536, max_blocks = 8, max_warps = 48;
  std::uint64_t registers = 32768;  // 32-bit
  std::uint64_t shared_bytes = 49152;
  std::uint64_t register_allocation_unit = 64;   // registers, per warp
  std::uint64_t registers_per_thread = 0;        // 0: what the register allocator needs
  std::uint64_t max_registers_per_thread = 255;  // what a program needs beyond is spilled to local memory
  std::uint64_t shared_allocation_unit = 128;    // bytes, per block
  // Registers per thread for occupancy as another compiler would count them: base + share x what Weft's
  // allocator needs, and more if the kernel calls functions.
  struct RegisterEstimate {
    bool enabled = false;
    double base = 0, share = 1, calls = 0;
    void describe(config::Visitor& v);
  } register_estimate;
  std::uint64_t reserved_shared_bytes = 0;       // of each block, for the system software
  std::uint64_t default_block_shared_bytes = 0;  // for CUDA programs that ask for no more; 0: no such limit

  std::uint64_t schedulers = 2, schedulers_per_domain = 2, issue_width = 1;
  BlockPlacement block_placement = BlockPlacement::kDomain;
  std::uint64_t domains() const { return schedulers / schedulers_per_domain; }
  // Over which the warps of a block are spread.
  std::uint64_t sub_cores() const { return block_placement == BlockPlacement::kSubCores ? domains() : 1; }
  IssuePort issue_port = IssuePort::kPerUnit;
  bool issue_alignment = false;  // schedulers issue only at multiples of the beats of a warp
  std::uint64_t simd_groups = 2, simd_width = 32;
  std::uint64_t sfu_groups = 1, sfu_width = 8;
  std::uint64_t memory_width = 32;   // lanes of the load-store unit
  bool bind_groups = false;          // scheduler i issues only to SIMD group i mod simd_groups
  std::uint64_t pipeline_depth = 6;  // stages from issue to write-back at an execution latency of 1
  std::uint64_t branch_latency = 2;  // scoreboard: cycles from issue until a branch is resolved
  Dependence dependence = Dependence::kScoreboard;
  datapath::Config datapath;  // described apart: the key `datapath`
  struct Scalarization {
    ptx::Scalarization kind = ptx::Scalarization::kOff;
    ScalarUnit unit = ScalarUnit::kLanes;
    std::uint64_t registers = 65536;  // of the separate file, 32-bit
    bool on() const { return kind != ptx::Scalarization::kOff; }
    bool separate() const { return on() && unit == ScalarUnit::kSeparate; }
    void describe(config::Visitor& v);
  } scalarization;  // described apart: the key `scalarization`

  AddressWindows addresses;    // described apart: the key `addresses`
  bool system_cached = false;  // loads of system memory go through the first-level caches

  std::uint64_t fetch_width = 2;         // instructions per fetch
  std::uint64_t instruction_buffer = 2;  // instructions per context

  struct OperationLatency {
    std::uint64_t cycles = 4,
                  interval = 1;  // execution latency; cycles between two instructions on the unit, per beat
    void describe(config::Visitor& v);
  };
  std::array<OperationLatency, static_cast<std::size_t>(ptx::Latency::kCount)> latency{};
  // 0 cycles: as of its kind.
  struct OwnLatency : OperationLatency {
    OwnLatency() : OperationLatency{0, 1} {}
    bool given() const { return cycles != 0; }
    void describe(config::Visitor& v);
  };
  OwnLatency other_latency;  // of datapath::is_other
  std::array<OwnLatency, datapath::kOperationClasses> class_latency;
  ptx::Unit integer_multiply_unit = ptx::Unit::kSp;  // or kSfu
  const OperationLatency& latency_of(ptx::Latency kind) const {
    return latency[static_cast<std::size_t>(kind)];
  }
  const OperationLatency& latency_of(const ptx::Instruction& in) const {
    const datapath::OperationClass own = datapath::class_of(in);
    if (own != datapath::OperationClass::kNone && class_latency[static_cast<std::size_t>(own)].given())
      return class_latency[static_cast<std::size_t>(own)];
    return other_latency.given() && datapath::is_other(in) ? other_latency : latency_of(in.latency);
  }
  // Threads whose single-precision operations can begin in a cycle.
  std::uint64_t arithmetic_lanes() const {
    return datapath.units.enabled ? datapath.units.single_lanes() : simd_groups * simd_width;
  }
  ptx::Unit unit_of(const ptx::Instruction& in) const {
    return in.latency == ptx::Latency::kIntMul ? integer_multiply_unit : in.unit;
  }

  // Barrier instructions arrive one after the other at a unit of the SM, and take effect some cycles later.
  struct Barrier {
    std::uint64_t latency = 0;   // cycles from a warp's turn to its effect
    std::uint64_t interval = 0;  // cycles between two turns; 0: any number at a time
    void describe(config::Visitor& v);
  } barrier;
  struct SharedMemory {
    std::uint64_t banks = 32, bank_bytes = 4, latency = 26;
    std::uint64_t latency_64 = 0, latency_128 = 0;  // of wider elements; 0: more passes only
    // Without conflicts, of elements of so many bytes; 0: as that of a word, and a cycle per further pass.
    std::uint64_t latency_of(std::uint64_t bytes) const {
      return bytes == 8 ? latency_64 : bytes == 16 ? latency_128 : 0;
    }
    void describe(config::Visitor& v);
  } shared_memory;
  // One memory for the data cache and shared memory, divided anew for each kernel.
  struct UnifiedL1 {
    std::uint64_t bytes = 0;        // 0: data cache and shared memory are apart
    std::string shared_options_kb;  // what shared memory may take of it, ascending: "0, 8, 16, 32, 64, 100"
    bool on() const { return bytes != 0; }
    // In bytes. Throws InputError for a text that is no such list.
    std::vector<std::uint64_t> shared_options(const std::string& where) const;
    // The smallest option that has so many bytes; the largest if none has.
    std::uint64_t option_for(std::uint64_t shared_bytes) const;
    // What is left for the data cache: so many of `ways`, rounded to the nearest.
    std::uint64_t cache_ways(std::uint64_t ways, std::uint64_t option) const;
    void describe(config::Visitor& v);
  } unified_l1;
  struct Coalescer {
    std::uint64_t block_bytes = 128;
    CoalescerScope scope = CoalescerScope::kIssue;
    std::uint64_t width_threads = 0;  // neighbouring places of the warp; 0: as the scope says
    void describe(config::Visitor& v);
  } coalescer;
  // Places of the warp whose accesses are coalesced together; 0: all of the issue.
  // Of 32 positions, of all blocks that may be resident together.
  unsigned chunks() const { return static_cast<unsigned>((max_threads + 31 * max_blocks) / 32); }
  // On which lane of its row a thread runs.
  warp_formation::LanePermuter home() const {
    return {datapath.lane_permutation, static_cast<unsigned>(simd_width), chunks()};
  }
  std::uint64_t coalescer_places() const {
    return coalescer.scope == CoalescerScope::kBeat ? memory_width : coalescer.width_threads;
  }
  // Reads of an instruction are one request within aligned blocks of so many bytes; 0: each is one.
  std::uint64_t joined_bytes() const {
    return request_sectors == 1 ? 0 : request_sectors * coalescer.block_bytes;
  }
  // Statistics that cost time, off by default.
  struct Observe {
    bool lane_oracle = false;
    bool stalled_threads = false;
    bool lanes = false;
    bool events = false;
    bool instructions = false;
    void describe(config::Visitor& v);
  } observe;
  struct Texture {
    std::uint64_t latency = 32;           // cycles from the texels to the filtered value
    std::uint64_t threads_per_cycle = 4;  // addresses of fetches, of up to four texels each
    void describe(config::Visitor& v);
  } texture;
  KernelCacheConfig l1i;
  DataCacheConfig l1d;
  KernelCacheConfig l1c, l1t;
  NcLoads nc_loads = NcLoads::kL1d;
  ConstantAccess constant_access = ConstantAccess::kWord;
  std::uint64_t request_sectors = 1;  // neighbouring blocks of the coalescer in one read of an instruction
  std::uint64_t memory_queue = 4;     // memory instructions waiting in the load-store unit
  std::uint64_t miss_queue = 8;       // requests waiting for the crossbar
  std::uint64_t response_queue = 8;   // responses waiting for the load-store unit

  SmConfig();
  void describe(config::Visitor& v);
  void check(const std::string& where) const;

 private:
  void check_data_cache(const std::string& where) const;
  void check_unified_l1(const std::string& where) const;
};

}  // namespace weft::machine

#endif
