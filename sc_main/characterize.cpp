// `weft characterize`: what the kernels of a workload or a program do, as the papers' tables of benchmarks
// say it.
#include <unistd.h>

#include <algorithm>
#include <iomanip>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <utility>

#include "common/demangle.h"
#include "runtime/characteristics.h"
#include "sc_main/options.h"
#include "sc_main/own_program.h"
#include "sc_main/raw_kernel.h"
#include "study/page/instruction_lines.h"
#include "study/run/result_run.h"
#include "study/run/results_folder.h"
#include "study/run/verification.h"
#include "study/session/interrupt.h"
#include "study/session/session.h"
#include "study/terminal/table.h"

namespace weft::cli {
namespace {

using nlohmann::ordered_json;

double share(const ordered_json& part, const ordered_json& whole) {
  return whole == 0 ? 0.0 : part.get<double>() / whole.get<double>();
}

std::string percent(double value) {
  std::ostringstream out;
  out << std::fixed << std::setprecision(1) << value * 100 << " %";
  return out.str();
}

void print_kernel(const ordered_json& kernel, std::size_t most_branches) {
  const auto line = [](const char* name) -> std::ostream& { return std::cout << label(name, 24, 2); };
  const Paint paint = Paint::of(STDOUT_FILENO);
  std::cout << "\n" << paint.heading("kernel " + demangled_name(kernel["kernel"].get<std::string>())) << "\n";
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

// What ran, and how it ended: the first line.
struct Head {
  std::string program, config, scheme;
  std::optional<bool> verified;
  std::string message;
};

void print(const Head& head, const ordered_json& characteristics, std::uint64_t most_branches) {
  const Paint paint = Paint::of(STDOUT_FILENO);
  std::cout << head.program << " on " << head.config << ", scheme " << head.scheme << "; ";
  if (head.verified) std::cout << (*head.verified ? paint.good("verified") : paint.bad("WRONG")) << ": ";
  std::cout << head.message << "\n";
  const auto kernels = characteristics.find("kernels");
  if (kernels == characteristics.end()) return;
  for (const ordered_json& kernel : *kernels) print_kernel(kernel, most_branches);
  if (kernels->empty()) std::cout << "\nno kernel ran\n";
  if (characteristics.contains("ignored_lats")) {
    std::cout << "\nignored LATs            " << characteristics["ignored_lats"]
              << ", in the SM that ignored most\n";
  }
}

// The run of a program of one's own, and the functional run with which it is compared.
Plan plan_of(const OwnProgram& program, const SessionOptions& options) {
  Run run;
  program.make(run);
  run.config = options.config;
  run.overrides = options.overrides;
  Plan plan;
  PlanBuilder(plan).add({}, std::move(run), "weft characterize");
  return plan;
}

// Runs the kernel, and compares its buffers with those of a functional run.
ExitCode execute(const RawKernel& kernel, const OwnProgram& program, const SessionOptions& options,
                 Session& session, Outcome& outcome) {
  const Plan plan = plan_of(program, options);
  return session.execute(outcome, [&](runtime::Device& device, Outcome& result) {
    kernel.keep_outputs(kernel.run(device, result), device, result);
    const std::string wrong = difference_from_functional_run(plan.runs[0], result.outputs);
    result.verified = wrong.empty();
    result.message = wrong.empty() ? "buffers equal those of a functional run" : wrong;
  });
}

// In a process of its own, in which the CUDA libraries count.
ExitCode characterize_cuda(const OwnProgram& program, const SessionOptions& options,
                           std::uint64_t most_branches) {
  const std::string machine = config_of(options).name;
  const Plan plan = plan_of(program, options);
  const Run& run = plan.runs[0];
  catch_interrupts();
  const ResultsFolder folder(options.out, "characterize");
  const RunEnd end = run_verified(run, folder.path(), {"--characteristics"});
  Head head{run.program, machine, run.scheme, {}, end.text()};
  if (end.done() || end.state == RunEnd::State::kWrong) head.verified = end.done();
  if (end.done()) head.message = "output, exit code and copies equal those of a functional run";
  if (end.state == RunEnd::State::kWrong) head.message = end.reason;
  ordered_json characteristics;
  if (end.done() || end.state == RunEnd::State::kWrong || end.state == RunEnd::State::kFault)
    characteristics = read_whole_json(folder.path() + "/characteristics.json");
  print(head, characteristics, most_branches);
  return static_cast<ExitCode>(end.code);
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
  if (!parse(take_cuda_program(words, program),
             "weft characterize WORKLOAD [--size SIZE] [OPTIONS]\n"
             "       weft characterize --ptx FILE ... --grid x,y,z --block x,y,z [--kernel NAME] "
             "[--arg ARG ...] [OPTIONS]\n"
             "       weft characterize [OPTIONS] -- PROGRAM [ARGUMENTS]",
             options, "workload")) {
    return ExitCode::kDone;
  }
  program.check("weft characterize");
  if (program.given() == !name.empty()) {
    throw InputError("weft characterize",
                     "needs a workload (weft list workloads), --ptx FILE or -- ./program; one of the three");
  }
  if (program.given() && !size.empty())
    throw InputError("--size", "found " + program.option() + " as well; allowed: one of the two");
  if (!program.cuda.empty()) return characterize_cuda(program, session_choice, most_branches);

  std::unique_ptr<workloads::Workload> workload;
  std::optional<RawKernel> kernel;
  if (program.given()) {
    kernel.emplace(program.kernel);
    session_choice.one_launch = true;
  } else {
    workload = workloads::find(name);
    session_choice = with_settings(session_choice, *workload, size);
  }
  Outcome outcome = kernel ? kernel->outcome() : outcome_of(*workload, size);
  const GpuConfig config = config_of(session_choice);

  runtime::Characteristics characteristics(config);
  const auto json_of = [&](const Outcome& of, runtime::Device& device) {
    ordered_json json{{"workload", of.workload}, {"size", of.size}};
    json.update(characteristics.json(device));
    return json;
  };
  session_choice.quiet = true;
  session_choice.profile = &characteristics.profile();
  session_choice.observer = &characteristics;
  session_choice.more_results = [&](const Outcome& ended, runtime::Device& device) -> std::vector<TextFile> {
    return {{"characteristics.json", text_of(json_of(ended, device))}};
  };
  Session session(session_choice);
  const ExitCode code = kernel ? execute(*kernel, program, session_choice, session, outcome)
                               : session.execute(outcome, *workload);
  Head head{outcome.workload, config.name, config.warp_formation.scheme, outcome.verified, outcome.message};
  for (const auto& [option, value] : outcome.size)
    head.program.append(" ").append(option).append("=").append(std::to_string(value));
  print(head, json_of(outcome, session.device()), most_branches);
  return code;
}

}  // namespace weft::cli
