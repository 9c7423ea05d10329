#include "weft/machine/sm_config.h"

#include <algorithm>
#include <charconv>
#include <sstream>

#include "common/bits.h"
#include "common/config_origins.h"
#include "weft/common/error.h"
#include "weft/ptx/module.h"

namespace weft::machine {
namespace {

constexpr std::array<const char*, static_cast<std::size_t>(ptx::Latency::kCount)> kLatencyKeys = {
    "int_add",    "int_mul",    "int_div",    "float_add", "float_mul", "float_fma", "float_div",
    "double_add", "double_mul", "double_div", "sfu",       "move",      "warp"};

std::string found(std::uint64_t value) {
  return "found " + std::to_string(value);
}

// Bounds of what a cache costs the simulator: together the ranges of its keys would allow 1 GB of tags an SM.
constexpr std::uint64_t kMostLines = 1u << 16;
constexpr std::uint64_t kMostWaiting = 1u << 18;
constexpr std::uint64_t kMostStreaming = 1u << 20;

}  // namespace

// The defaults of gtx480; the machines of the papers say their own.
SmConfig::SmConfig() {
  const auto set = [this](ptx::Latency kind, std::uint64_t cycles, std::uint64_t interval) {
    auto& entry = latency[static_cast<std::size_t>(kind)];
    entry.cycles = cycles;
    entry.interval = interval;
  };
  set(ptx::Latency::kIntAdd, 4, 1);
  set(ptx::Latency::kIntMul, 13, 2);
  set(ptx::Latency::kIntDiv, 145, 8);
  set(ptx::Latency::kFloatAdd, 4, 1);
  set(ptx::Latency::kFloatMul, 5, 1);
  set(ptx::Latency::kFloatFma, 5, 1);
  set(ptx::Latency::kFloatDiv, 39, 4);
  set(ptx::Latency::kDoubleAdd, 8, 8);
  set(ptx::Latency::kDoubleMul, 8, 8);
  set(ptx::Latency::kDoubleDiv, 330, 130);
  set(ptx::Latency::kSfu, 8, 1);
  set(ptx::Latency::kMove, 4, 1);
  set(ptx::Latency::kWarp, 24, 1);
}

void CacheConfig::describe(config::Visitor& v) {
  v.boolean("enabled", enabled, "false: every access goes to the memory system");
  v.integer("sets", tags.sets, {1, 1u << 16}, "sets", "number of sets");
  v.integer("ways", tags.ways, {1, 1024}, "ways", "associativity");
  v.integer("line_bytes", tags.line_bytes, {16, 1024}, "bytes", "line size, a power of two");
  tags.describe_parts(v);
  v.integer("mshr_entries", mshrs.entries, {1, 4096}, "entries", "lines that can be outstanding");
  v.integer("mshr_merges", mshrs.merges, {1, 4096}, "requests", "requests that can wait for one line");
  v.integer("latency", latency, {1, 1000}, "cycles", "probe to data on a hit");
  config::choice(v, "write_hit", write_hit,
                 {{"update", WriteHit::kUpdate}, {"invalidate", WriteHit::kInvalidate}},
                 "effect of a written-through store on a line that is present");
}

void KernelCacheConfig::describe(config::Visitor& v) {
  CacheConfig::describe(v);
  v.boolean("kept", kept,
            "a kernel finds the lines of the previous kernel; false: the cache is empty at a launch");
}

void DataCacheConfig::describe(config::Visitor& v) {
  KernelCacheConfig::describe(v);
  config::choice(v, "write_policy", write_policy,
                 {{"through", WritePolicy::kThrough}, {"back", WritePolicy::kBack}},
                 "stores that hit: each store is sent on, or its line is written back when it is evicted, "
                 "and at the end of a kernel unless kept");
  v.integer("sector_bytes", sector_bytes, {0, 1024}, "bytes",
            "bytes fetched and written back at a time, a power of two; 0: whole lines");
  config::choice(
      v, "write_miss", write_miss,
      {{"around", cache::WriteMiss::kAround},
       {"fetch", cache::WriteMiss::kFetch},
       {"no_fetch", cache::WriteMiss::kNoFetch},
       {"lazy_fetch", cache::WriteMiss::kLazyFetch}},
      "a store whose sector is absent takes no place in the cache; or it takes one and fetches the "
      "sector, unless it writes all of it; or it takes one without a fetch; or without a fetch, and a load "
      "fetches the sector unless all of its bytes have been written");
  v.boolean("merge_loads", merge_loads,
            "a load that misses waits for another instruction's fetch of its line; false: the load has its "
            "own fetch and MSHR");
  config::choice(v, "lookup", lookup, {{"first", Lookup::kFirst}, {"last", Lookup::kLast}},
                 "when tags are looked up: when a request arrives (misses and stores leave at once), or at "
                 "the end of the latency (misses and stores wait for it, too)");
  v.integer("banks", banks, {1, 32}, "banks",
            "banks, over which neighbouring blocks of coalescer.block_bytes are spread; each takes a request "
            "per cycle; a power of two, more than one with lookup=last only");
  config::choice(v, "allocation", allocation,
                 {{"on_miss", Allocation::kOnMiss},
                  {"on_fill", Allocation::kOnFill},
                  {"streaming", Allocation::kStreaming}},
                 "when a load that misses takes a line: at once; when its data arrive; or when they arrive, "
                 "with four MSHRs per sector of the cache instead of mshr_entries");
  v.integer("write_ratio", write_ratio, {0, 100}, "percent",
            "lines that stores have written make no room while fewer than this share of the lines is "
            "written; 0: they do as others");
}

cache::MshrConfig DataCacheConfig::outstanding() const {
  cache::MshrConfig outstanding = mshrs;
  constexpr std::uint64_t kEntriesPerSector = 4;
  if (allocation == Allocation::kStreaming)
    outstanding.entries = kEntriesPerSector * tags.sets * tags.ways * (tags.line_bytes / unit_bytes());
  return outstanding;
}

void DataCacheConfig::check(const std::string& where) const {
  CacheConfig::check(where);
  cache::check_sectors(where, tags.line_bytes, sector_bytes);
  if (!is_power_of_two(banks))
    throw InputError(where + "/banks", found(banks) + "; allowed: powers of two from 1 to 32");
  if (!enabled) return;
  if (banks > 1 && (lookup != Lookup::kLast || latency == 1)) {
    throw config::RuleError(where + "/banks", {where + "/lookup", where + "/latency"},
                            found(banks) + " with lookup = " + (lookup == Lookup::kLast ? "last" : "first") +
                                " and latency = " + std::to_string(latency) +
                                "; allowed: 1, or lookup = last with a latency of at least 2");
  }
  if (allocation == Allocation::kStreaming) outstanding().check(where + "/mshr", kMostStreaming);
  const char* const policy = allocation == Allocation::kOnFill ? "on_fill" : "streaming";
  if (allocation != Allocation::kOnMiss &&
      (write_policy != WritePolicy::kThrough || write_miss != cache::WriteMiss::kAround)) {
    throw config::RuleError(where + "/allocation", {where + "/write_policy", where + "/write_miss"},
                            std::string("found ") + policy +
                                "; allowed: on_miss, or write_policy = through with write_miss = around, "
                                "because a line that comes with its data cannot wait until another one is "
                                "written back, and takes no bytes before");
  }
  if (!fetches_lazily()) return;
  if (unit_bytes() > cache::kMostMaskedBytes) {
    throw config::RuleError(where + "/write_miss", {where + "/sector_bytes", where + "/line_bytes"},
                            "found lazy_fetch with sectors of " + std::to_string(unit_bytes()) +
                                " bytes; allowed with sectors of up to " +
                                std::to_string(cache::kMostMaskedBytes) + " bytes");
  }
  if (write_hit != WriteHit::kUpdate) {
    throw config::RuleError(where + "/write_miss", {where + "/write_hit"},
                            "found lazy_fetch with write_hit = invalidate; allowed with write_hit = update");
  }
  if (!merge_loads) {
    throw config::RuleError(where + "/write_miss", {where + "/merge_loads"},
                            "found lazy_fetch with merge_loads = false; allowed with merge_loads = true");
  }
}

void CacheConfig::check(const std::string& where) const {
  tags.check(where, kMostLines);
  mshrs.check(where + "/mshr", kMostWaiting);
}

void SmConfig::OperationLatency::describe(config::Visitor& v) {
  v.integer("cycles", cycles, {1, 1000}, "cycles", "execution latency");
  v.integer("interval", interval, {1, 1000}, "cycles", "initiation interval per beat");
}

void SmConfig::OwnLatency::describe(config::Visitor& v) {
  v.integer("cycles", cycles, {0, 1000}, "cycles",
            "execution latency; 0: latency and interval of the kind above that they count as");
  v.integer("interval", interval, {1, 1000}, "cycles", "initiation interval per beat");
}

void SmConfig::Barrier::describe(config::Visitor& v) {
  v.integer(
      "latency", latency, {0, 1000}, "cycles",
      "cycles until a warp's barrier instruction takes effect, after its resolution as a branch and after "
      "those before it");
  v.integer("interval", interval, {0, 1000}, "cycles",
            "cycles between two warps at the barriers of the SM; 0: any number at a time");
}

void SmConfig::RegisterEstimate::describe(config::Visitor& v) {
  v.boolean(
      "enabled", enabled,
      "registers per thread for occupancy are estimated, as another compiler would count them; not with "
      "registers_per_thread or scalarization");
  v.real("base", base, {0, 64}, "registers", "registers that every kernel takes");
  v.real("share", share, {0.1, 4}, "", "further registers for each register of Weft's allocator");
  v.real("calls", calls, {0, 64}, "registers", "further registers of a kernel that calls functions");
}

void SmConfig::Scalarization::describe(config::Visitor& v) {
  config::choice(v, "kind", kind,
                 {{"off", ptx::Scalarization::kOff},
                  {"restricted", ptx::Scalarization::kRestricted},
                  {"full", ptx::Scalarization::kFull}},
                 "which instructions execute once per warp: none; those with one value where threads cannot "
                 "have diverged; also those of diverged threads");
  config::choice(v, "unit", unit, {{"lanes", ScalarUnit::kLanes}, {"separate", ScalarUnit::kSeparate}},
                 "where scalar instructions execute: on the lanes, or on a unit with its own registers");
  v.integer("registers", registers, {1, 1u << 24}, "registers",
            "32-bit scalar registers of an SM with unit=separate, in addition to sm.registers");
}

void SmConfig::SharedMemory::describe(config::Visitor& v) {
  v.integer("banks", banks, {1, 64}, "banks", "shared-memory banks");
  v.integer("bank_bytes", bank_bytes, {4, 8}, "bytes", "bytes that a bank delivers in a cycle");
  v.integer("latency", latency, {1, 500}, "cycles", "latency from load to use without conflicts");
  v.integer("latency_64", latency_64, {0, 500}, "cycles",
            "the same for elements of 64 bits; 0: latency, and a cycle for each further pass over the banks");
  v.integer(
      "latency_128", latency_128, {0, 500}, "cycles",
      "the same for elements of 128 bits; 0: latency, and a cycle for each further pass over the banks");
}

void SmConfig::UnifiedL1::describe(config::Visitor& v) {
  v.integer("bytes", bytes, {0, kMostSharedBytes}, "bytes",
            "memory that the data cache and shared memory divide anew for each kernel; l1d.ways are those "
            "of all of it; 0: each has its own");
  v.text("shared_options_kb", shared_options_kb,
         "sizes in KB that shared memory may take of it, ascending, such as 0, 8, 16, 32, 64, 100; a kernel "
         "gets the smallest that its resident blocks need");
}

std::vector<std::uint64_t> SmConfig::UnifiedL1::shared_options(const std::string& where) const {
  std::vector<std::uint64_t> options;
  std::istringstream list(shared_options_kb);
  for (std::string word; std::getline(list, word, ',');) {
    const std::size_t first = word.find_first_not_of(' '), last = word.find_last_not_of(' ');
    std::uint64_t kilobytes = 0;
    const char* const end = word.data() + last + 1;
    const bool number = first != std::string::npos &&
                        std::from_chars(word.data() + first, end, kilobytes).ptr == end &&
                        kilobytes <= kMostSharedBytes / 1024;
    if (!number || (!options.empty() && kilobytes * 1024 <= options.back())) {
      throw InputError(where, "found '" + shared_options_kb +
                                  "'; allowed: sizes in KB, ascending, separated by commas, such as "
                                  "0, 8, 16, 32, 64, 100");
    }
    options.push_back(kilobytes * 1024);
  }
  if (options.empty()) throw InputError(where, "found no size; allowed: sizes in KB, such as 0, 16, 64");
  return options;
}

std::uint64_t SmConfig::UnifiedL1::option_for(std::uint64_t shared_bytes) const {
  const std::vector<std::uint64_t> options = shared_options("shared_options_kb");
  const auto found = std::lower_bound(options.begin(), options.end(), shared_bytes);
  return found == options.end() ? options.back() : *found;
}

std::uint64_t SmConfig::UnifiedL1::cache_ways(std::uint64_t ways, std::uint64_t option) const {
  return on() ? (2 * ways * (bytes - option) + bytes) / (2 * bytes) : ways;
}

void SmConfig::Texture::describe(config::Visitor& v) {
  v.integer("latency", latency, {1, 10000}, "cycles",
            "latency from the texels in the texture cache to the filtered value");
  v.integer("threads_per_cycle", threads_per_cycle, {1, 64}, "threads",
            "threads whose texels get addresses in a cycle, with up to four texels per thread");
}

void SmConfig::Coalescer::describe(config::Visitor& v) {
  v.integer("block_bytes", block_bytes, {16, 1024}, "bytes",
            "accesses to one aligned block become one request");
  config::choice(v, "scope", scope, {{"issue", CoalescerScope::kIssue}, {"beat", CoalescerScope::kBeat}},
                 "threads coalesced together: those of an issue, or of a beat of the load-store unit "
                 "(memory_width neighbouring places of the warp)");
  v.integer(
      "width_threads", width_threads, {0, 32}, "threads",
      "neighbouring places of the warp that are coalesced together, with scope issue only; 0: as scope says");
}

void SmConfig::Observe::describe(config::Visitor& v) {
  v.boolean("lane_oracle", lane_oracle, "count the lane activity that no regrouping of threads can exceed");
  v.boolean("stalled_threads", stalled_threads,
            "count what threads wait for in cycles without an active lane");
  v.boolean("events", events,
            "count operations, register rows and words of shared memory, from which energy is computed");
  v.boolean("instructions", instructions,
            "count issues, threads, cycles and memory requests of each instruction of the kernels");
  v.boolean("lanes", lanes, "count issue conflicts and active lanes, if lanes run their own warps");
}

void SmConfig::describe(config::Visitor& v) {
  v.integer("count", count, {1, kMostSms}, "SMs", "number of SMs");
  v.integer("max_threads", max_threads, {1, 4096}, "threads", "resident threads of an SM");
  v.integer("max_blocks", max_blocks, {1, 64}, "blocks", "resident thread blocks of an SM");
  v.integer("max_warps", max_warps, {1, 512}, "warps", "resident warps of an SM");
  v.integer("registers", registers, {64, 1u << 22}, "registers", "32-bit registers of an SM");
  v.integer("shared_bytes", shared_bytes, {0, kMostSharedBytes}, "bytes", "shared memory of an SM");
  v.integer("register_allocation_unit", register_allocation_unit, {1, 4096}, "registers",
            "a warp's registers are rounded up to this");
  v.integer("registers_per_thread", registers_per_thread, {0, 255}, "registers",
            "registers per thread for occupancy, instead of the register allocator's number; nothing is "
            "spilled; 0: as allocated");
  v.integer("max_registers_per_thread", max_registers_per_thread, {ptx::kLeastRegisters, 255}, "registers",
            "registers beyond this number are spilled to local memory; not with registers_per_thread");
  config::group(v, "register_estimate", register_estimate,
                "registers per thread as another compiler would count them");
  v.integer("shared_allocation_unit", shared_allocation_unit, {1, 65536}, "bytes",
            "a block's shared memory is rounded up to this");
  v.integer("reserved_shared_bytes", reserved_shared_bytes, {0, 65536}, "bytes",
            "shared memory that each block needs beside its own, for the system software");
  v.integer("default_block_shared_bytes", default_block_shared_bytes, {0, kMostSharedBytes}, "bytes",
            "shared memory of a block of a CUDA program that asks for no more "
            "(cudaFuncAttributeMaxDynamicSharedMemorySize); 0: as much as an SM has");
  v.integer("schedulers", schedulers, {1, 16}, "schedulers", "warp schedulers of an SM");
  v.integer("schedulers_per_domain", schedulers_per_domain, {1, 16}, "schedulers",
            "schedulers that share one warp-formation unit; divides schedulers");
  config::choice(v, "block_placement", block_placement,
                 {{"domain", BlockPlacement::kDomain}, {"sub_cores", BlockPlacement::kSubCores}},
                 "where the warps of a block go: all to one scheduler domain; or warp slot w (32 threads) to "
                 "domain w modulo the domains, each of which is a sub-core with its part of the registers");
  v.integer("issue_width", issue_width, {1, 8}, "instructions", "issues of one scheduler in a cycle");
  config::choice(
      v, "issue_port", issue_port, {{"per_unit", IssuePort::kPerUnit}, {"shared", IssuePort::kShared}},
      "what an issue occupies for a cycle per beat: its unit only, or also its scheduler's only port");
  v.boolean("issue_alignment", issue_alignment,
            "schedulers issue only in cycles that are multiples of the beats of a warp");
  v.integer("simd_groups", simd_groups, {1, 16}, "groups", "SIMD groups for arithmetic");
  v.integer("simd_width", simd_width, {4, 32}, "lanes", "lanes of a SIMD group: 4, 8, 16 or 32");
  v.integer("sfu_groups", sfu_groups, {1, 16}, "groups", "special-function units");
  v.integer("sfu_width", sfu_width, {1, 32}, "lanes", "lanes of a special-function unit");
  v.integer("memory_width", memory_width, {1, 64}, "lanes", "lanes of the load-store unit");
  v.boolean("bind_groups", bind_groups, "scheduler i issues only to SIMD group i modulo simd_groups");
  v.integer("pipeline_depth", pipeline_depth, {1, 200}, "stages",
            "issue to write-back at execution latency 1");
  v.integer("branch_latency", branch_latency, {1, 200}, "cycles",
            "scoreboard: issue of a branch to its resolution (barrel: the pipeline depth)");
  config::choice(v, "dependence", dependence,
                 {{"barrel", Dependence::kBarrel}, {"scoreboard", Dependence::kScoreboard}},
                 "dependence model");
  v.integer("fetch_width", fetch_width, {1, 16}, "instructions", "instructions of one fetch");
  v.integer("instruction_buffer", instruction_buffer, {1, 32}, "instructions",
            "instruction buffer of a warp");
  v.begin("latency", "execution latency and initiation interval by kind of operation");
  for (std::size_t i = 0; i < latency.size(); ++i)
    config::group(v, kLatencyKeys[i], latency[i], kLatencyKeys[i]);
  config::group(v, "other", other_latency,
                "logic, shifts, comparisons, selections, moves, conversions, signs");
  for (std::size_t i = 0; i < class_latency.size(); ++i)
    config::group(v, datapath::kOperationClassKeys[i], class_latency[i],
                  datapath::kOperationClassMeanings[i]);
  v.end();
  config::choice(v, "integer_multiply_unit", integer_multiply_unit,
                 {{"lanes", ptx::Unit::kSp}, {"sfu", ptx::Unit::kSfu}},
                 "where int_mul operations execute: on the lanes, or on the special-function units, as in "
                 "GPGPU-Sim 3.x");
  config::group(v, "barrier", barrier, "barriers of thread blocks");
  config::group(v, "shared_memory", shared_memory, "shared memory");
  config::group(v, "unified_l1", unified_l1, "one memory for the data cache and shared memory");
  config::group(v, "coalescer", coalescer, "coalescer");
  config::group(v, "observe", observe, "statistics that cost time");
  config::group(v, "texture", texture, "texture unit");
  config::group(v, "l1i", l1i, "instruction cache");
  config::group(v, "l1d", l1d, "data cache");
  config::group(v, "l1c", l1c, "constant cache");
  config::group(v, "l1t", l1t, "texture cache");
  config::choice(v, "nc_loads", nc_loads, {{"l1d", NcLoads::kL1d}, {"l1t", NcLoads::kL1t}},
                 "ld.global.nc goes through the data cache, as other loads do, or through the texture cache");
  config::choice(v, "constant_access", constant_access,
                 {{"word", ConstantAccess::kWord}, {"line", ConstantAccess::kLine}},
                 "what the constant cache reads in a cycle for all threads that need it: 32 bits (an "
                 "element, if wider), or a line");
  v.boolean(
      "system_cached", system_cached,
      "loads of system memory go through the data cache, which does not see writes of other bus masters");
  v.integer("request_sectors", request_sectors, {1, 4}, "sectors",
            "neighbouring blocks of coalescer.block_bytes, in an aligned group of so many, that one request "
            "reads for an instruction; a power of two");
  v.integer("memory_queue", memory_queue, {1, 256}, "instructions",
            "memory instructions in the load-store unit");
  v.integer("miss_queue", miss_queue, {1, 256}, "requests", "requests waiting for the crossbar");
  v.integer("response_queue", response_queue, {1, 256}, "responses",
            "responses waiting for the load-store unit");
}

void SmConfig::check(const std::string& where) const {
  if (simd_width < 4 || simd_width > 32 || !is_power_of_two(simd_width)) {
    throw InputError(where + "/simd_width", found(simd_width) + "; allowed: 4, 8, 16 and 32");
  }
  if (schedulers % schedulers_per_domain != 0) {
    throw config::RuleError(
        where + "/schedulers_per_domain", {where + "/schedulers"},
        found(schedulers_per_domain) + ", must divide schedulers = " + std::to_string(schedulers));
  }
  if (register_estimate.enabled && (registers_per_thread != 0 || scalarization.on())) {
    throw config::RuleError(where + "/register_estimate/enabled",
                            {where + "/registers_per_thread", "/scalarization/kind"},
                            "found true; allowed without registers_per_thread and scalarization");
  }
  if (bind_groups && simd_groups < schedulers) {
    throw config::RuleError(where + "/bind_groups", {where + "/simd_groups", where + "/schedulers"},
                            "found true with " + std::to_string(simd_groups) + " SIMD groups for " +
                                std::to_string(schedulers) +
                                " schedulers; allowed with at least one group per scheduler");
  }
  if (datapath.units.enabled) {
    const std::string units = "/datapath/units/enabled";
    if (bind_groups) {
      throw config::RuleError(where + "/bind_groups", {units},
                              "found true with datapath.units.enabled = true; allowed: false, because units "
                              "of sub-cores are bound by their count");
    }
    if (integer_multiply_unit != ptx::Unit::kSp) {
      throw config::RuleError(where + "/integer_multiply_unit", {units},
                              "found sfu with datapath.units.enabled = true; allowed: lanes, because "
                              "datapath.units.routes.int_mul names the units");
    }
  }
  if (issue_port == IssuePort::kShared && issue_width != 1) {
    throw config::RuleError(where + "/issue_width", {where + "/issue_port"},
                            found(issue_width) + " with issue_port = shared; allowed: 1");
  }
  if (!is_power_of_two(coalescer.block_bytes)) {
    throw InputError(where + "/coalescer/block_bytes",
                     found(coalescer.block_bytes) + "; allowed: powers of two from 16 to 1024");
  }
  if (!is_power_of_two(request_sectors)) {
    throw InputError(where + "/request_sectors", found(request_sectors) + "; allowed: 1, 2 and 4");
  }
  if (coalescer.width_threads != 0 && coalescer.scope != CoalescerScope::kIssue) {
    throw config::RuleError(where + "/coalescer/width_threads", {where + "/coalescer/scope"},
                            found(coalescer.width_threads) + " with scope = beat; allowed: 0");
  }
  check_data_cache(where);
  if (nc_loads == NcLoads::kL1t && !l1t.enabled) {
    throw config::RuleError(where + "/nc_loads", {where + "/l1t/enabled"},
                            "found l1t with l1t.enabled = false; allowed: l1d");
  }
  if (shared_memory.bank_bytes != 4 && shared_memory.bank_bytes != 8) {
    throw InputError(where + "/shared_memory/bank_bytes",
                     found(shared_memory.bank_bytes) + "; allowed: 4 and 8");
  }
  if (!is_power_of_two(shared_memory.banks)) {
    throw InputError(where + "/shared_memory/banks",
                     found(shared_memory.banks) + "; allowed: powers of two up to 64");
  }
  if (instruction_buffer < fetch_width) {
    throw config::RuleError(
        where + "/instruction_buffer", {where + "/fetch_width"},
        found(instruction_buffer) + "; allowed: at least fetch_width = " + std::to_string(fetch_width));
  }
  l1i.check(where + "/l1i");
  l1d.check(where + "/l1d");
  check_unified_l1(where);
  l1c.check(where + "/l1c");
  l1t.check(where + "/l1t");
}

// What concerns the data cache and the parts around it.
void SmConfig::check_data_cache(const std::string& where) const {
  if (l1d.enabled && l1d.unit_bytes() < coalescer.block_bytes) {
    throw config::RuleError(where + (l1d.sector_bytes == 0 ? "/l1d/line_bytes" : "/l1d/sector_bytes"),
                            {where + "/coalescer/block_bytes"},
                            found(l1d.unit_bytes()) + "; allowed: at least coalescer.block_bytes = " +
                                std::to_string(coalescer.block_bytes));
  }
  if (l1d.enabled && l1d.sector_bytes != 0 && system_cached) {
    throw config::RuleError(where + "/l1d/sector_bytes", {where + "/system_cached"},
                            found(l1d.sector_bytes) + " with system_cached = true; allowed: 0");
  }
  const char* const no_system_lines = l1d.allocation != Allocation::kOnMiss ? "/l1d/allocation"
                                      : l1d.fetches_lazily()                ? "/l1d/write_miss"
                                                                            : nullptr;
  if (l1d.enabled && system_cached && no_system_lines != nullptr) {
    throw config::RuleError(where + "/system_cached", {where + no_system_lines},
                            "found true; allowed with l1d.allocation = on_miss and without "
                            "l1d.write_miss = lazy_fetch");
  }
  if (l1d.enabled && l1d.write_miss == cache::WriteMiss::kFetch && !l1d.merge_loads) {
    throw config::RuleError(
        where + "/l1d/write_miss", {where + "/l1d/merge_loads"},
        "found fetch with merge_loads = false; allowed: around, no_fetch, because loads would "
        "not find the fetch of a store");
  }
  const std::uint64_t places =  // what one request may send: itself, a fetch, or what is written back before
      l1d.write_policy == WritePolicy::kBack
          ? 1 + cache::most_write_backs(l1d.tags.line_bytes, l1d.sector_bytes)
      : l1d.write_miss == cache::WriteMiss::kFetch ? 2
                                                   : 1;
  if (l1d.enabled && miss_queue < places) {
    throw config::RuleError(
        where + "/miss_queue",
        {where + "/l1d/write_policy", where + "/l1d/write_miss", where + "/l1d/sector_bytes"},
        found(miss_queue) + "; allowed: at least " + std::to_string(places) +
            ", for a request and the write-backs or the fetch that go with it");
  }
}

void SmConfig::check_unified_l1(const std::string& where) const {
  const std::string part = where + "/unified_l1", list = part + "/shared_options_kb";
  if (default_block_shared_bytes > shared_bytes) {
    throw config::RuleError(where + "/default_block_shared_bytes", {where + "/shared_bytes"},
                            found(default_block_shared_bytes) +
                                "; allowed: up to shared_bytes = " + std::to_string(shared_bytes));
  }
  if (!unified_l1.on()) return;
  const std::vector<std::uint64_t> options = unified_l1.shared_options(list);
  if (!l1d.enabled || l1d.kept) {
    throw config::RuleError(part + "/bytes", {where + "/l1d/enabled", where + "/l1d/kept"},
                            found(unified_l1.bytes) +
                                "; allowed: 0, or a data cache that is enabled and not kept, because its "
                                "lines are lost when its size changes");
  }
  if (options.back() != shared_bytes) {
    throw config::RuleError(
        list, {where + "/shared_bytes"},
        "found " + std::to_string(options.back() / 1024) +
            " as the largest size; allowed: that of shared_bytes = " + std::to_string(shared_bytes));
  }
  if (options.back() > unified_l1.bytes || unified_l1.cache_ways(l1d.tags.ways, options.back()) == 0) {
    throw config::RuleError(list, {part + "/bytes", where + "/l1d/ways"},
                            "found " + std::to_string(options.back() / 1024) +
                                " as the largest size; allowed: sizes that leave one of l1d.ways = " +
                                std::to_string(l1d.tags.ways) +
                                " of unified_l1.bytes = " + std::to_string(unified_l1.bytes));
  }
}

}  // namespace weft::machine
