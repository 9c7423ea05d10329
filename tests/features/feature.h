// A CUDA program of this folder on a small GPU.
#ifndef WEFT_TESTS_FEATURES_FEATURE_H
#define WEFT_TESTS_FEATURES_FEATURE_H

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "platform/gpu_bench.h"
#include "weft/runtime/device.h"

namespace weft::test {

inline std::string feature_text(const std::string& name) {
  return runtime::read_text(std::string(WEFT_FEATURES_FOLDER) + "/" + name + ".ptx");
}

// Device and module of one program.
struct Feature {
  explicit Feature(const std::string& name, const std::vector<std::string>& overrides = {},
                   const runtime::DeviceOptions& options = {})
      : device(load_config("gtx480", with(overrides)), options),
        module(device.load_module(feature_text(name), name + ".ptx")) {}

  static std::vector<std::string> with(std::vector<std::string> overrides) {
    overrides.insert(overrides.begin(), {"sm.count=2", "dram.bytes=268435456", "watchdog.cycles=200000"});
    return overrides;
  }

  // Runs kernel(out) and returns out, one int per thread, which begins as `initial`.
  std::vector<std::int32_t> run(const std::string& kernel, std::uint32_t blocks, std::uint32_t threads,
                                std::vector<std::int32_t> initial = {}) {
    initial.resize(std::size_t{blocks} * threads);
    const auto out = device.allocate(initial.size() * 4);
    device.copy_to(out, initial.data(), initial.size() * 4);
    device.launch(module, kernel, {blocks, 1, 1}, {threads, 1, 1}, runtime::Arguments().add(out));
    device.synchronise();
    device.copy_from(initial.data(), out, initial.size() * 4);
    return initial;
  }

  runtime::Device device;
  runtime::LoadedModule& module;
};

inline std::vector<std::int32_t> expected(std::size_t threads, const std::function<std::int32_t(int)>& of) {
  std::vector<std::int32_t> values;
  for (std::size_t t = 0; t < threads; ++t) values.push_back(of(static_cast<int>(t)));
  return values;
}

// What a launch that faults says.
inline std::string fault_of(const std::function<void()>& run) {
  try {
    run();
  } catch (const SimulatedFault& fault) {
    return fault.what();
  }
  ADD_FAILURE() << "no fault";
  return "";
}

}  // namespace weft::test

#endif
