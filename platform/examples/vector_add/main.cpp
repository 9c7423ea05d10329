// Two vectors are added on a simulated GPU: the smallest program on Weft's device API.
//
//   vector_add [PTX-FILE [CONFIGURATION]]
#include <cstdint>
#include <cstdio>
#include <systemc>
#include <vector>

#include "weft/platform/gpu_config.h"
#include "weft/runtime/device.h"

// Where CMakeLists.txt says that they are; without it both are named on the command line.
#ifndef PTX
#define PTX "vector_add.ptx"
#define CONFIG "dwr-tesla"
#endif

int sc_main(int argc, char* argv[]) try {
  constexpr std::uint32_t kElements = 100'000;
  std::vector<float> a(kElements), b(kElements), sum(kElements);
  for (std::uint32_t i = 0; i < kElements; ++i) {
    a[i] = static_cast<float>(i);
    b[i] = 0.5f * static_cast<float>(i);
  }

  weft::runtime::Device device(weft::load_config(argc > 2 ? argv[2] : CONFIG), {});
  constexpr std::uint64_t kBytes = kElements * sizeof(float);
  const auto device_a = device.allocate(kBytes);
  const auto device_b = device.allocate(kBytes);
  const auto device_sum = device.allocate(kBytes);
  device.copy_to(device_a, a.data(), kBytes);
  device.copy_to(device_b, b.data(), kBytes);
  auto& module = device.load_module_file(argc > 1 ? argv[1] : PTX);
  device.launch(module, "vector_add", {(kElements + 255) / 256, 1, 1}, {256, 1, 1},
                weft::runtime::Arguments().add(device_a).add(device_b).add(device_sum).add(kElements));
  device.synchronise();
  device.copy_from(sum.data(), device_sum, kBytes);

  std::uint32_t wrong = 0;
  for (std::uint32_t i = 0; i < kElements; ++i) wrong += sum[i] != a[i] + b[i];
  const weft::Totals totals = device.totals();
  std::printf("%u sums, %u wrong; %llu core cycles, %.1f thread instructions per cycle\n", kElements, wrong,
              static_cast<unsigned long long>(totals.cycles), totals["ipc"]);
  return wrong == 0 ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "vector_add: %s\n", error.what());
  return 2;
}
