// Records golden vectors on the first NVIDIA GPU of this machine.
//
//   silicon_generate FILE.gz [OPERANDS]      e.g. tests/silicon/vectors/h200.gz
//
// Needs the driver (libcuda.so.1) and no CUDA toolkit.
#include <exception>
#include <iostream>
#include <string>

#include "silicon/cuda_machine.h"
#include "silicon/vectors.h"

int main(int argc, char** argv) {
  using namespace weft::test::silicon;
  constexpr unsigned kOperands = 512, kUnit = 128;
  try {
    const unsigned long operands = argc == 3 ? std::stoul(argv[2]) : kOperands;
    if (argc < 2 || argc > 3 || operands == 0 || operands % kUnit != 0) {
      std::cerr << "usage: silicon_generate FILE.gz [OPERANDS]; operands per case, a multiple of 128\n";
      return 2;
    }
    CudaMachine machine(open_library("libcuda.so.1"));
    Vectors vectors = record(machine, static_cast<unsigned>(operands), 2026);
    vectors.gpu = machine.device().name;
    vectors.capability = machine.device().capability;
    vectors.driver = machine.device().driver;
    write(vectors, argv[1]);
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
