#include "runtime/characteristics.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "execute/kernel.h"
#include "measures/measures.h"
#include "weft/platform/gpu.h"

namespace weft::runtime {

using nlohmann::ordered_json;

namespace {

std::string shape(const dispatch::Dim3& size) {
  std::string text = "(" + std::to_string(size[0]);
  if (size[1] != 1 || size[2] != 1) text += "," + std::to_string(size[1]);
  if (size[2] != 1) text += "," + std::to_string(size[2]);
  return text + ")";
}

// Loads and stores that DWR would synchronise sub-warps at [DWR IV.A]: of global and local memory.
bool is_lat(const ptx::Instruction& in) {
  return (in.op == ptx::Opcode::kLd || in.op == ptx::Opcode::kSt) &&
         (in.space == ptx::Space::kGlobal || in.space == ptx::Space::kLocal ||
          in.space == ptx::Space::kGeneric);
}

// Instructions that reach device memory, textures included; parameters and constants are not counted.
bool is_device_memory(const ptx::Instruction& in) {
  return in.is_memory() && in.space != ptx::Space::kShared && in.space != ptx::Space::kParam &&
         in.space != ptx::Space::kConst;
}

struct Branch {
  ptx::Pc pc = 0;
  sm::InstructionCounts counts;
};

struct Sums {
  std::uint64_t threads = 0, executed = 0, issues = 0, places = 0;               // instructions
  std::uint64_t device_memory = 0, shared_memory = 0, branches = 0, parted = 0;  // warp instructions
  std::uint64_t lats = 0, scalars = 0;                                           // in the program
  std::uint64_t scalar_issues = 0;                                               // warp instructions
  std::vector<Branch> divergent;  // places where warps parted, the most frequent first
};

Sums sums_of(const sm::InstructionProfile::OfKernel& kernel) {
  Sums all;
  const ptx::Program& program = *kernel.program;
  for (ptx::Pc pc = 0; pc < program.code.size(); ++pc) {
    const ptx::Instruction& in = program.code[pc];
    const sm::InstructionCounts& counts = kernel.counts[pc];
    all.threads += counts.threads;
    all.executed += counts.executed;
    all.issues += counts.issues;
    all.places += counts.places;
    all.lats += is_lat(in) ? 1 : 0;
    if (in.scalar) {
      ++all.scalars;
      all.scalar_issues += counts.issues;
    }
    if (is_device_memory(in)) all.device_memory += counts.issues;
    if (in.is_memory() && in.space == ptx::Space::kShared) all.shared_memory += counts.issues;
    const bool conditional = in.is_branch() && in.guard >= 0;
    if (conditional || counts.parted != 0) {
      all.branches += counts.issues;
      all.parted += counts.parted;
    }
    if (counts.parted != 0) all.divergent.push_back({pc, counts});
  }
  std::stable_sort(all.divergent.begin(), all.divergent.end(),
                   [](const Branch& a, const Branch& b) { return a.counts.parted > b.counts.parted; });
  return all;
}

double share(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(whole);
}

// Under dynamic warp resizing: LATs that were ever in the ignore list of an SM, of the SM with most.
std::optional<std::uint64_t> ignored_lats(const statistics::Group& root) {
  std::optional<std::uint64_t> most;
  for (const statistics::Entry* entry : root.find({"sm", "warp_formation", "ignored_lats"}))
    most = std::max(most.value_or(0), static_cast<std::uint64_t>(entry->value()));
  return most;
}

}  // namespace

Characteristics::Characteristics(const GpuConfig& config) : config_(config) {}

void Characteristics::launching(const dispatch::Launch& launch, const LoadedModule& /*module*/) {
  Launches& launches = launches_[launch.program];
  ++launches.count;
  ++launches.shapes[shape(launch.grid) + " x " + shape(launch.block)];
  launches.blocks += launch.blocks();
  launches.threads += launch.blocks() * launch.threads_per_block();
  if (launch.blocks() < launches.most_blocks) return;
  launches.most_blocks = launch.blocks();
  launches.threads_per_block = launch.threads_per_block();
  launches.occupancy = execute::occupancy(launch, config_.sm, config_.warp_formation.warp_size);
  const std::uint64_t share = (launch.blocks() + config_.sm.count - 1) / config_.sm.count;
  launches.resident_blocks = std::min<std::uint64_t>(share, launches.occupancy.blocks);
}

ordered_json Characteristics::kernel_json(const sm::InstructionProfile::OfKernel& kernel) const {
  const Launches& launches = launches_.at(kernel.program);
  const Sums all = sums_of(kernel);
  const ptx::Program& program = *kernel.program;
  const std::uint64_t threads = launches.resident_blocks * launches.threads_per_block;
  ordered_json json;
  json["kernel"] = program.name;
  json["launches"] = launches.count;
  json["shapes"] = launches.shapes;
  json["thread_blocks"] = launches.blocks;
  json["threads"] = launches.threads;
  json["thread_instructions"] = all.threads;
  json["executed_thread_instructions"] = all.executed;
  json["warp_instructions"] = all.issues;
  const measures::Definition& efficiency = measures::get("simd_efficiency");
  json[efficiency.name] = measures::value_of(efficiency, [&all](const measures::Counter& counter) {
                            return std::optional(static_cast<double>(
                                &counter == &measures::kThreadPlaces ? all.places : all.threads));
                          }).value_or(0);
  json["branch_share"] = share(all.branches, all.issues);
  json["divergent_branch_share"] = share(all.parted, all.branches);
  json["device_memory_share"] = share(all.device_memory, all.issues);
  json["shared_memory_share"] = share(all.shared_memory, all.issues);
  json["static_lats"] = all.lats;
  json["static_instructions"] = program.code.size();
  json["registers_per_thread"] = program.registers_per_thread;
  if (config_.sm.scalarization.on()) {
    const std::uint64_t warp = config_.warp_formation.warp_size;
    json["scalars_per_warp"] = program.scalars_per_warp;
    json["registers_per_warp"] = warp * program.registers_per_thread + program.scalars_per_warp;
    json["unscalarized_registers_per_warp"] = warp * program.unscalarized_registers;
    json["static_scalar_share"] = share(all.scalars, program.code.size());
    json["executed_scalar_share"] = share(all.scalar_issues, all.issues);
  }
  json["spill_loads"] = program.spill_loads;
  json["spill_stores"] = program.spill_stores;
  json["spill_bytes_per_thread"] = program.spill_bytes;
  json["shared_bytes_per_block"] = launches.occupancy.shared_per_block;
  json["blocks_per_sm"] = launches.occupancy.blocks;
  json["limited_by"] = launches.occupancy.limit;
  json["resident_blocks_per_sm"] = launches.resident_blocks;
  json["resident_threads_per_sm"] = threads;
  json["resident_threads_per_scheduler"] = threads / config_.sm.schedulers;
  json["divergent_branches"] = ordered_json::array();
  for (const Branch& branch : all.divergent) {
    json["divergent_branches"].push_back({{"pc", branch.pc},
                                          {"place", program.place(branch.pc)},
                                          {"executed", branch.counts.issues},
                                          {"divergent", branch.counts.parted},
                                          {"threads", branch.counts.threads},
                                          {"taken", branch.counts.executed}});
  }
  return json;
}

ordered_json Characteristics::json(Device& device) const {
  ordered_json json{{"config", config_.name},
                    {"scheme", config_.warp_formation.scheme},
                    {"kernels", ordered_json::array()}};
  for (const auto& kernel : profile_.kernels()) json["kernels"].push_back(kernel_json(kernel));
  if (const auto ignored = ignored_lats(device.gpu().statistics())) json["ignored_lats"] = *ignored;
  return json;
}

}  // namespace weft::runtime
