#include <cstdio>
#include <iostream>
#include <memory>

#include "execute/kernel.h"
#include "sc_main/options.h"
#include "weft/ptx/module.h"
#include "weft/runtime/device.h"
#include "workloads/workload.h"

namespace weft::cli {
namespace {

ptx::Scalarization read_scalarization(const std::string& text) {
  if (text.empty()) return ptx::Scalarization::kOff;
  if (text == "restricted") return ptx::Scalarization::kRestricted;
  if (text == "full") return ptx::Scalarization::kFull;
  throw InputError("--scalar", "found '" + text + "'; allowed: full, restricted");
}

// One line per kernel and kind of scalarization.
void print_table(const std::string& name, const ptx::Module& module, ptx::DecodeOptions decoding) {
  static constexpr const char* kNames[] = {"off", "restricted", "full"};
  const ptx::Symbols symbols = ptx::listing_symbols(module);
  for (const std::string& kernel : module.kernels) {
    for (std::size_t kind = 0; kind < 3; ++kind) {
      decoding.scalarization = static_cast<ptx::Scalarization>(kind);
      const ptx::Program program = ptx::decode(module, kernel, symbols, decoding);
      const ptx::ScalarCounts counts = ptx::count_scalars(program);
      char share[16];
      std::snprintf(share, sizeof share, "%.4f",
                    static_cast<double>(counts.scalar_instructions) / counts.instructions);
      std::cout << name << ',' << kernel << ',' << kNames[kind] << ',' << counts.instructions << ','
                << counts.scalar_instructions << ',' << share << ',' << program.registers_per_thread << ','
                << program.scalars_per_warp << ',' << counts.predicates_per_thread << ','
                << program.scalar_predicates << ',' << counts.registers << ',' << counts.with_predicates
                << '\n';
    }
  }
}

struct PtxSource {
  std::string name;  // of the workload, or the file
  ptx::Module module;
};

std::vector<PtxSource> read_sources(const std::string& file, const std::string& workload) {
  std::vector<PtxSource> sources;
  if (file.empty() == workload.empty())
    throw InputError("weft ptx", "expected either FILE or --workload NAME");
  if (!file.empty()) {
    sources.push_back({file, ptx::parse(runtime::read_text(file), file)});
    return sources;
  }
  std::vector<std::unique_ptr<workloads::Workload>> chosen;
  if (workload == "all")
    chosen = workloads::all();
  else
    chosen.push_back(workloads::find(workload));
  for (const auto& one : chosen) {
    const workloads::Code code = one->code();
    sources.push_back({one->name(), ptx::parse(code.ptx, code.file)});
  }
  return sources;
}

}  // namespace

ExitCode ptx(const Words& words) {
  std::string file, workload, scalar;
  bool table = false;
  std::uint64_t most_registers = ptx::DecodeOptions{}.max_registers;
  Options options("options");
  options.text("file", file, "FILE", "PTX file; --file can be left out")
      .text("workload", workload, "NAME", "instead of a file: the code of a workload, or of 'all'")
      .word("scalar", scalar, "full|restricted", "full",
            "show instructions and registers that a warp has once, and reasons why others are per thread; "
            "--scalar means --scalar=full")
      .flag("table", table, "instead of a listing, registers and scalar instructions of every kernel as CSV")
      .number("max-registers", most_registers, {ptx::kLeastRegisters, 255, 1, "registers"},
              "registers per thread; further registers are spilled to local memory (" +
                  std::to_string(most_registers) + ")");
  if (!parse(words, "weft ptx FILE|--workload NAME", options, "file")) return ExitCode::kDone;
  ptx::DecodeOptions decoding;
  decoding.max_registers = static_cast<std::uint32_t>(most_registers);
  decoding.scalarization = read_scalarization(scalar);
  if (table && !scalar.empty())
    throw InputError("--scalar", "is not allowed with --table, which shows every kind of scalarization");
  const std::vector<PtxSource> sources = read_sources(file, workload);
  if (table) {
    std::cout << "code,kernel,scalarization,instructions,scalar_instructions,scalar_share,"
                 "registers_per_thread,scalars_per_warp,predicates_per_thread,predicates_per_warp,"
                 "registers_per_warp,registers_and_predicates_per_warp\n";
    for (const PtxSource& source : sources) print_table(source.name, source.module, decoding);
    return ExitCode::kDone;
  }
  std::vector<std::string> refused;
  for (const PtxSource& source : sources)
    std::cout << ptx::describe(source.module, decoding, &refused, execute::check_executable);
  std::cout.flush();
  for (const std::string& why : refused) std::cerr << "weft: " << why << "\n";
  return refused.empty() ? ExitCode::kDone : ExitCode::kBadInput;
}

}  // namespace weft::cli
