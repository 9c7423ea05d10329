// Runs workloads on the first NVIDIA GPU of this machine, for a profiler to look at (README.md).
//
//   silicon_workloads FILE.json WORKLOAD[:SIZE] ...
//
// FILE.json: which launches belong to which workload, in order, and whether the results are right. Needs the
// driver (libcuda.so.1) and no CUDA toolkit.
#include <exception>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <systemc>

#include "silicon/replay.h"
#include "weft/platform/gpu_config.h"
#include "workloads/workload.h"

namespace {

constexpr std::uint64_t kBytes = std::uint64_t{3} << 30;

using nlohmann::ordered_json;
using weft::test::silicon::Replay;

ordered_json run(Replay& replay, weft::runtime::Device& device, const std::string& name,
                 const std::string& size) {
  const auto workload = weft::workloads::find(name);
  const weft::workloads::Code code = workload->code();
  ordered_json result{{"workload", name}, {"size", size}};
  try {
    replay.begin(code.ptx);
    const auto verdict =
        weft::workloads::run(*workload, device, weft::workloads::values_of(*workload, size), code);
    result["verified"] = verdict.verified;
    result["message"] = verdict.message;
  } catch (const std::exception& failure) {
    result["verified"] = false;
    result["message"] = failure.what();
  }
  result["launches"] = ordered_json::array();
  for (const auto& launch : replay.launches())
    result["launches"].push_back({launch.kernel, launch.blocks, launch.threads});
  device.reset();
  return result;
}

}  // namespace

int sc_main(int argc, char* argv[]) try {
  if (argc < 3) {
    std::cerr << "usage: silicon_workloads FILE.json WORKLOAD[:SIZE] ...\n";
    return 2;
  }
  Replay replay(weft::microbenchmarks::open_library("libcuda.so.1"), kBytes);
  weft::runtime::DeviceOptions options;
  options.functional.all = true;
  options.observer = &replay;
  weft::runtime::Device device(weft::load_config("gtx480", replay.settings()), options);
  replay.observe(device);
  ordered_json all{{"gpu", replay.driver().device().name}, {"driver", replay.driver().device().driver}};
  all["columns"] = {"kernel", "blocks", "threads of a block"};
  all["runs"] = ordered_json::array();
  for (int i = 2; i < argc; ++i) {
    const std::string argument = argv[i];
    const std::size_t colon = argument.find(':');
    const std::string size = colon == std::string::npos ? "default" : argument.substr(colon + 1);
    all["runs"].push_back(run(replay, device, argument.substr(0, colon), size));
    const ordered_json& last = all["runs"].back();
    std::cout << argument << ": " << last["launches"].size() << " launches, "
              << (last["verified"].get<bool>() ? "verified: " : "wrong: ")
              << last["message"].get<std::string>() << std::endl;
    std::ofstream(argv[1]) << all.dump(1) << '\n';
  }
  return 0;
} catch (const std::exception& failure) {
  std::cerr << "silicon_workloads: " << failure.what() << '\n';
  return 1;
}
