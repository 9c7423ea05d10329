// Records golden vectors on the first NVIDIA GPU of this machine.
//
//   silicon_generate FILE.gz LIST [OPERANDS [K/N]]      e.g. tests/silicon/vectors/h200.gz table
//
// LIST is "table" (tests/conformance/opcodes.txt), "further" (further.txt beside it) or "warp"
// (warp_cases.h); K/N: of N parts of the list the Kth only, from 1, so that several processes share the work.
//
// Needs the driver (libcuda.so.1) and no CUDA toolkit.
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "conformance/table.h"
#include "silicon/cuda_machine.h"
#include "silicon/vectors.h"
#include "silicon/warp_cases.h"

namespace {

std::vector<std::string> opcodes_of(const std::string& list) {
  if (list == "further") return weft::test::conformance::read_further();
  if (list == "warp") return weft::test::silicon::warp_opcodes();
  std::vector<std::string> opcodes;
  if (list != "table") return opcodes;
  for (const auto& entry : weft::test::conformance::read_table()) opcodes.push_back(entry.opcode);
  return opcodes;
}

std::vector<std::string> part_of(const std::vector<std::string>& opcodes, std::size_t part,
                                 std::size_t parts) {
  std::vector<std::string> chosen;
  for (std::size_t i = part - 1; i < opcodes.size(); i += parts) chosen.push_back(opcodes[i]);
  return chosen;
}

}  // namespace

int main(int argc, char** argv) {
  using weft::test::silicon::CudaMachine;
  using weft::test::silicon::Recorded;
  using weft::test::silicon::Vectors;
  constexpr unsigned kOperands = 512, kUnit = 128;
  try {
    const unsigned long operands = argc >= 4 ? std::stoul(argv[3]) : kOperands;
    std::vector<std::string> opcodes = opcodes_of(argc >= 3 ? argv[2] : "");
    if (argc == 5) {
      const std::string share = argv[4];
      const std::size_t slash = share.find('/');
      const unsigned long part = std::stoul(share), parts = std::stoul(share.substr(slash + 1));
      opcodes = part >= 1 && part <= parts ? part_of(opcodes, part, parts) : std::vector<std::string>();
    }
    if (argc > 5 || opcodes.empty() || operands == 0 || operands % kUnit != 0) {
      std::cerr
          << "usage: silicon_generate FILE.gz table|further|warp [OPERANDS [K/N]]; operands per case, a "
             "multiple of 128; K/N from 1/N to N/N\n";
      return 2;
    }
    CudaMachine machine(weft::test::silicon::open_library("libcuda.so.1"));
    Vectors vectors = weft::test::silicon::record(machine, opcodes, static_cast<unsigned>(operands), 2026);
    vectors.gpu = machine.device().name;
    vectors.capability = machine.device().capability;
    vectors.driver = machine.device().driver;
    weft::test::silicon::write(vectors, argv[1]);
    std::size_t refused = 0;
    for (const Recorded& each : vectors.cases) {
      if (each.refused.empty()) continue;
      ++refused;
      std::cout << each.opcode << ": " << each.refused << '\n';
    }
    std::cout << vectors.cases.size() - refused << " cases recorded on " << vectors.gpu << ", " << refused
              << " refused by its driver\n";
  } catch (const std::exception& error) {
    std::cerr << "silicon_generate: " << error.what() << '\n';
    return 1;
  }
}
