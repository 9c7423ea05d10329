// Records what the first NVIDIA GPU of this machine does.
//
//   silicon_generate FILE.gz table|further|warp [OPERANDS [K/N]]     golden vectors
//   silicon_generate FILE.gz divergence|shapes [LEVEL [TARGET]]      threads that execute together
//
// "table" is tests/conformance/opcodes.txt, "further" further.txt beside it, "warp" warp_cases.h,
// "divergence" and "shapes" divergence_kernels.h. K/N: of N parts of the list the Kth only, from 1, so that
// several processes share the work. LEVEL: optimisation of the driver's compiler, 0 to 4, or -1 for its
// default. TARGET: .target of the modules, e.g. sm_60.
//
// Needs the driver (libcuda.so.1) and no CUDA toolkit.
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "conformance/table.h"
#include "silicon/cuda_machine.h"
#include "silicon/divergence.h"
#include "silicon/vectors.h"
#include "silicon/warp_cases.h"

namespace {

using weft::test::silicon::CudaMachine;
using Words = std::vector<std::string>;

std::vector<std::string> opcodes_of(const std::string& list) {
  if (list == "further") return weft::test::conformance::read_further();
  if (list == "warp") return weft::test::silicon::warp_opcodes();
  std::vector<std::string> opcodes;
  if (list != "table") return opcodes;
  for (const auto& entry : weft::test::conformance::read_table()) opcodes.push_back(entry.opcode);
  return opcodes;
}

std::vector<std::string> part_of(const std::vector<std::string>& opcodes, const std::string& share) {
  const std::size_t slash = share.find('/');
  const unsigned long part = std::stoul(share), parts = std::stoul(share.substr(slash + 1));
  std::vector<std::string> chosen;
  if (part < 1 || part > parts) return chosen;
  for (std::size_t i = part - 1; i < opcodes.size(); i += parts) chosen.push_back(opcodes[i]);
  return chosen;
}

int usage() {
  std::cerr << "usage: silicon_generate FILE.gz table|further|warp [OPERANDS [K/N]]; operands per case, a "
               "multiple of 128; K/N from 1/N to N/N\n"
               "       silicon_generate FILE.gz divergence|shapes [LEVEL [TARGET]]; of optimisation, 0 to 4, "
               "or -1; "
               "sm_60\n";
  return 2;
}

CudaMachine gpu() {
  return CudaMachine(weft::test::silicon::open_library("libcuda.so.1"));
}

template <class Recorded>
void describe(Recorded& recorded, const CudaMachine& machine) {
  recorded.gpu = machine.device().name;
  recorded.capability = machine.device().capability;
  recorded.driver = machine.device().driver;
}

std::string name_of(const weft::test::silicon::Recorded& recorded) {
  return recorded.opcode;
}
std::string name_of(const weft::test::silicon::KernelTrace& kernel) {
  return kernel.name;
}

template <class Cases>
void report(const Cases& cases, const std::string& gpu, const char* const what) {
  std::size_t refused = 0;
  for (const auto& each : cases) {
    if (each.refused.empty()) continue;
    ++refused;
    std::cout << name_of(each) << ": " << each.refused << '\n';
  }
  std::cout << cases.size() - refused << ' ' << what << " recorded on " << gpu << ", " << refused
            << " refused by its driver\n";
}

int record_vectors(const Words& words) {
  constexpr unsigned kOperands = 512, kUnit = 128;
  const unsigned long operands = words.size() >= 3 ? std::stoul(words[2]) : kOperands;
  std::vector<std::string> opcodes = opcodes_of(words[1]);
  if (words.size() == 4) opcodes = part_of(opcodes, words[3]);
  if (words.size() > 4 || opcodes.empty() || operands == 0 || operands % kUnit != 0) return usage();
  CudaMachine machine = gpu();
  auto vectors = weft::test::silicon::record(machine, opcodes, static_cast<unsigned>(operands), 2026);
  describe(vectors, machine);
  weft::test::silicon::write(vectors, words[0]);
  report(vectors.cases, vectors.gpu, "cases");
  return 0;
}

int record_divergence(const Words& words) {
  if (words.size() > 4) return usage();
  CudaMachine machine = gpu();
  const int level = words.size() >= 3 ? std::stoi(words[2]) : -1;
  if (level >= 0) machine.set_optimisation(level);
  if (words.size() == 4) machine.set_target(words[3]);
  weft::test::silicon::Limits limits;
  limits.bound = 1u << 17;
  auto divergence = record(machine, weft::test::silicon::divergence_kernels(words[1]), limits);
  describe(divergence, machine);
  divergence.optimisation = level;
  divergence.target = machine.header().substr(machine.header().find("sm_"));
  divergence.target.pop_back();
  write(divergence, words[0]);
  report(divergence.kernels, divergence.gpu, "kernels");
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const Words words(argv + 1, argv + argc);
  if (words.size() < 2) return usage();
  try {
    if (words[1] == "divergence" || words[1] == "shapes") return record_divergence(words);
    return record_vectors(words);
  } catch (const std::exception& error) {
    std::cerr << "silicon_generate: " << error.what() << '\n';
    return 1;
  }
}
