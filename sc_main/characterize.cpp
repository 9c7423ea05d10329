// `weft characterize`: what the kernels of a workload do, as the papers' tables of benchmarks say it.
#include <unistd.h>

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <utility>

#include "execute/kernel.h"
#include "measures/measures.h"
#include "sc_main/options.h"
#include "sc_main/own_program.h"
#include "sc_main/raw_kernel.h"
#include "sm/instruction_profile.h"
#include "study/run/verification.h"
#include "study/session/session.h"
#include "study/terminal/table.h"

namespace weft::cli {
namespace {

using nlohmann::ordered_json;

// The launches of one kernel: which grids and blocks, and what an SM holds of the largest.
struct Launches {
  std::uint64_t count = 0;
  std::map<std::string, std::uint64_t> shapes;  // "(16,16) x (256)" -> how often
  std::uint64_t blocks = 0, threads = 0;        // over all of them
  std::uint32_t threads_per_block = 0;          // of the largest launch, as all below
  std::uint64_t most_blocks = 0;
  execute::Occupancy occupancy;
  std::uint64_t resident_blocks = 0;  // of an SM: its share of the grid, or what fits
};

std::string shape(const dispatch::Dim3& size) {
  std::string text = "(" + std::to_string(size[0]);
  if (size[1] != 1 || size[2] != 1) text += "," + std::to_string(size[1]);
  if (size[2] != 1) text += "," + std::to_string(size[2]);
  return text + ")";
}

class LaunchTable : public runtime::LaunchObserver {
 public:
  explicit LaunchTable(const GpuConfig& config) : config_(config) {}

  void launching(const dispatch::Launch& launch, const runtime::LoadedModule&) override {
    Launches& launches = of_[launch.program.get()];
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
  void synchronised() override {}

  const Launches& of(const ptx::Program& program) const { return of_.at(&program); }

 private:
  const GpuConfig config_;
  std::map<const ptx::Program*, Launches> of_;
};

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

struct Characteristics {
  std::uint64_t threads = 0, executed = 0, issues = 0, places = 0;               // instructions
  std::uint64_t device_memory = 0, shared_memory = 0, branches = 0, parted = 0;  // warp instructions
  std::uint64_t lats = 0, scalars = 0;                                           // in the program
  std::uint64_t scalar_issues = 0;                                               // warp instructions
  std::vector<Branch> divergent;  // places where warps parted, the most frequent first
};

Characteristics characterise(const sm::InstructionProfile::OfKernel& kernel) {
  Characteristics all;
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

ordered_json kernel_json(const sm::InstructionProfile::OfKernel& kernel, const Launches& launches,
                         const GpuConfig& config) {
  const Characteristics all = characterise(kernel);
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
  if (config.sm.scalarization.on()) {
    const std::uint64_t warp = config.warp_formation.warp_size;
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
  json["resident_threads_per_scheduler"] = threads / config.sm.schedulers;
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

// Under dynamic warp resizing: LATs that were ever in the ignore list of an SM, of the SM with most.
std::optional<std::uint64_t> ignored_lats(const statistics::Group& root) {
  std::optional<std::uint64_t> most;
  for (const statistics::Entry* entry : root.find({"sm", "warp_formation", "ignored_lats"}))
    most = std::max(most.value_or(0), static_cast<std::uint64_t>(entry->value()));
  return most;
}

std::string percent(double value) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(1) << value * 100 << " %";
  return out.str();
}

void print_kernel(const ordered_json& kernel, std::size_t most_branches) {
  const auto line = [](const char* name) -> std::ostream& { return std::cout << label(name, 24, 2); };
  const Paint paint = Paint::of(STDOUT_FILENO);
  std::cout << "\n" << paint.heading("kernel " + kernel["kernel"].get<std::string>()) << "\n";
  line("launches") << kernel["launches"] << ":";
  std::size_t shapes = 0;
  for (const auto& [shape, count] : kernel["shapes"].items()) {
    if (++shapes > 4) {
      std::cout << " ... " << kernel["shapes"].size() << " different";
      break;
    }
    std::cout << " " << count << " of " << shape;
  }
  std::cout << "\n";
  line("thread instructions") << kernel["thread_instructions"] << " issued, "
                              << kernel["executed_thread_instructions"] << " executed (their guard holds)\n";
  line("warp instructions") << kernel["warp_instructions"] << "\n";
  line("SIMD efficiency") << percent(kernel["simd_efficiency"]) << "\n";
  line("branches") << percent(kernel["branch_share"]) << " of warp instructions; "
                   << percent(kernel["divergent_branch_share"]) << " of them diverge\n";
  line("memory") << percent(kernel["device_memory_share"]) << " device memory, "
                 << percent(kernel["shared_memory_share"]) << " shared memory, of warp instructions\n";
  line("static LATs") << kernel["static_lats"] << " of " << kernel["static_instructions"]
                      << " instructions\n";
  if (kernel.contains("scalars_per_warp")) {
    line("scalar instructions") << percent(kernel["static_scalar_share"]) << " of the program, "
                                << percent(kernel["executed_scalar_share"]) << " of those executed; "
                                << kernel["registers_per_warp"] << " registers of a warp ("
                                << kernel["scalars_per_warp"] << " of them once), without "
                                << kernel["unscalarized_registers_per_warp"] << "\n";
  }
  line("occupancy") << kernel["blocks_per_sm"]
                    << " blocks fit an SM (limit: " << kernel["limited_by"].get<std::string>() << "; "
                    << kernel["registers_per_thread"] << " registers, " << kernel["shared_bytes_per_block"]
                    << " bytes shared), " << kernel["resident_blocks_per_sm"]
                    << " resident: " << kernel["resident_threads_per_sm"] << " threads, "
                    << kernel["resident_threads_per_scheduler"] << " per scheduler\n";
  if (kernel["spill_bytes_per_thread"] != 0) {
    line("spilled registers") << kernel["spill_bytes_per_thread"] << " bytes per thread; "
                              << kernel["spill_loads"] << " loads, " << kernel["spill_stores"]
                              << " stores among the instructions\n";
  }
  const ordered_json& branches = kernel["divergent_branches"];
  if (branches.empty()) return;
  TextTable table(
      {{"executed", Align::kRight, 8}, {"diverge"}, {"taken"}, {"divergent branch", Align::kLeft}}, 0, 2);
  for (std::size_t i = 0; i < std::min(most_branches, branches.size()); ++i) {
    const ordered_json& branch = branches[i];
    table.row({branch["executed"].dump(), percent(share(branch["divergent"], branch["executed"])),
               percent(share(branch["taken"], branch["threads"])), branch["place"].get<std::string>()});
  }
  std::cout << table.text(0, paint);
  if (branches.size() > most_branches) {
    std::cout << "  further branches: " << branches.size() - most_branches << " (--branches)\n";
  }
}

ordered_json characteristics_json(const Outcome& outcome, const GpuConfig& config,
                                  const sm::InstructionProfile& profile, const LaunchTable& launches,
                                  runtime::Device& device) {
  ordered_json json;
  json["workload"] = outcome.workload;
  json["size"] = outcome.size;
  json["config"] = config.name;
  json["scheme"] = config.warp_formation.scheme;
  json["kernels"] = ordered_json::array();
  for (const auto& kernel : profile.kernels())
    json["kernels"].push_back(kernel_json(kernel, launches.of(*kernel.program), config));
  if (const auto ignored = ignored_lats(device.gpu().statistics())) json["ignored_lats"] = *ignored;
  return json;
}

// Runs the kernel, and compares its buffers with those of a functional run.
ExitCode execute(const RawKernel& kernel, const OwnProgram& program, const SessionOptions& options,
                 Session& session, Outcome& outcome) {
  Run run;
  program.make(run);
  run.config = options.config;
  run.overrides = options.overrides;
  Plan plan;
  PlanBuilder(plan).add({}, std::move(run), "weft characterize");
  return session.execute(outcome, [&](runtime::Device& device, Outcome& result) {
    kernel.keep_outputs(kernel.run(device, result), device, result);
    const std::string wrong = difference_from_functional_run(plan.runs[0], result.outputs);
    result.verified = wrong.empty();
    result.message = wrong.empty() ? "buffers equal those of a functional run" : wrong;
  });
}

}  // namespace

ExitCode characterize(const Words& words) {
  SessionOptions session_choice;
  OwnProgram program;
  std::string name, size;
  std::uint64_t most_branches = 10;
  Options options("options");
  options.text("workload", name, "NAME", "name (weft list workloads)")
      .text("size", size, "SIZE", "small, default, large, a paper's, or options: n=1000,degree=4")
      .text("config", session_choice.config, "NAME", "a name (weft list configs) or a JSON file")
      .list("set", session_choice.overrides, "PATH=VALUE", "override values of the configuration")
      .number("branches", most_branches, {0, UINT32_MAX, 1, "branches"},
              "divergent branches to print of each kernel (10)")
      .text("out", session_choice.out, "DIR", "folder for characteristics.json and the results of the run")
      .add(kernel_options(program.kernel, "; in place of a workload"));
  if (!parse(words,
             "weft characterize WORKLOAD [--size SIZE] [OPTIONS]\n"
             "       weft characterize --ptx FILE ... --grid x,y,z --block x,y,z [--kernel NAME] "
             "[--arg ARG ...] [OPTIONS]",
             options, "workload")) {
    return ExitCode::kDone;
  }
  program.check("weft characterize");
  if (program.given() == !name.empty())
    throw InputError("weft characterize", "needs a workload (weft list workloads) or --ptx FILE");
  std::unique_ptr<workloads::Workload> workload;
  std::optional<RawKernel> kernel;
  if (program.given()) {
    if (!size.empty()) throw InputError("--size", "found --ptx as well; allowed: one of the two");
    kernel.emplace(program.kernel);
    session_choice.one_launch = true;
  } else {
    workload = workloads::find(name);
    session_choice = with_settings(session_choice, *workload, size);
  }
  Outcome outcome = kernel ? kernel->outcome() : outcome_of(*workload, size);
  const GpuConfig config = config_of(session_choice);

  sm::InstructionProfile profile;
  LaunchTable launches(config);
  session_choice.quiet = true;
  session_choice.profile = &profile;
  session_choice.observer = &launches;
  session_choice.more_results = [&](const Outcome& ended, runtime::Device& device) -> std::vector<TextFile> {
    return {
        {"characteristics.json", text_of(characteristics_json(ended, config, profile, launches, device))}};
  };
  Session session(session_choice);
  const ExitCode code = kernel ? execute(*kernel, program, session_choice, session, outcome)
                               : session.execute(outcome, *workload);

  const Paint paint = Paint::of(STDOUT_FILENO);
  std::cout << outcome.workload;
  for (const auto& [option, value] : outcome.size) std::cout << " " << option << "=" << value;
  std::cout << " on " << config.name << ", scheme " << config.warp_formation.scheme << "; ";
  if (outcome.verified)
    std::cout << (*outcome.verified ? paint.good("verified") : paint.bad("WRONG")) << ": ";
  std::cout << outcome.message << "\n";

  const ordered_json json = characteristics_json(outcome, config, profile, launches, session.device());
  for (const ordered_json& kernel : json["kernels"]) print_kernel(kernel, most_branches);
  if (json.contains("ignored_lats"))
    std::cout << "\nignored LATs            " << json["ignored_lats"] << ", in the SM that ignored most\n";
  return code;
}

}  // namespace weft::cli
