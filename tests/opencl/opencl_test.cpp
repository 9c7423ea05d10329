// The same OpenCL C on two engines that share no code: an OpenCL implementation for the CPU, and Weft with
// PTX that clang made of it. All buffers must agree afterwards, those that are only read too.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <set>

#include "opencl/kernel_case.h"
#include "opencl/native.h"
#include "weft/platform/gpu_config.h"
#include "weft/runtime/device.h"

namespace weft::opencl {
namespace {

constexpr const char* kConfig = "gtx480";

std::string read_source(const std::string& name) {
  return runtime::read_text(std::string(WEFT_OPENCL_SOURCES) + "/" + name + ".cl");
}

std::vector<Bytes> run_on_weft(const KernelCase& test) {
  runtime::Device device(load_config(kConfig, {"sm.count=3"}), {});
  auto& module = device.load_module_file(std::string(WEFT_OPENCL_PTX) + "/" + test.name + ".ptx");
  const ptx::Program& program = device.program(module, test.name);
  const std::uint64_t first_dynamic = (program.shared_bytes + 15) / 16 * 16;
  std::uint64_t dynamic = 0;
  std::vector<runtime::Address> buffers;
  runtime::Arguments arguments;
  for (const Argument& argument : test.arguments) {
    switch (argument.kind) {
      case Argument::Kind::kValue:
        arguments.add_bytes(argument.bytes);
        break;
      case Argument::Kind::kLocal:
        arguments.add(first_dynamic + dynamic);
        dynamic += (argument.local + 15) / 16 * 16;
        break;
      case Argument::Kind::kBuffer:
        buffers.push_back(device.allocate(argument.bytes.size()));
        device.copy_to(buffers.back(), argument.bytes.data(), argument.bytes.size());
        arguments.add(buffers.back());
        break;
    }
  }
  const auto count = [](std::size_t n) { return static_cast<std::uint32_t>(n); };
  const auto groups = [&](int axis) { return count(test.global[axis] / test.local[axis]); };
  device.launch(module, test.name, {groups(0), groups(1), groups(2)},
                {count(test.local[0]), count(test.local[1]), count(test.local[2])}, arguments, dynamic);
  device.synchronise();
  std::vector<Bytes> results;
  for (const Argument& argument : test.arguments) {
    if (argument.kind != Argument::Kind::kBuffer) continue;
    Bytes bytes(argument.bytes.size());
    device.copy_from(bytes.data(), buffers[results.size()], bytes.size());
    results.push_back(std::move(bytes));
  }
  return results;
}

// The distance from a value to the next larger one of its binade, in the sense of OpenCL 7.4.
double ulp_of(float value) {
  const float size = std::max(std::fabs(value), std::numeric_limits<float>::min());
  return std::ldexp(1.0, std::ilogb(size) - 23);
}

void expect_close(const Bytes& weft, const Bytes& native, const std::vector<double>& ulps,
                  const std::string& where) {
  std::vector<float> a(weft.size() / 4), b(native.size() / 4);
  std::memcpy(a.data(), weft.data(), weft.size());
  std::memcpy(b.data(), native.data(), native.size());
  const std::size_t part = a.size() / ulps.size();
  std::vector<double> largest(ulps.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    const double distance = std::fabs(double{a[i]} - b[i]) / ulp_of(b[i]);
    // Written so that a NaN fails.
    EXPECT_TRUE(distance <= ulps[i / part])
        << where << ": part " << i / part << ", element " << i % part << ": Weft has " << a[i]
        << ", the native engine " << b[i] << ", " << distance << " ulps apart; allowed: " << ulps[i / part];
    largest[i / part] = std::max(largest[i / part], distance);
  }
  for (std::size_t p = 0; p < ulps.size(); ++p) {
    ::testing::Test::RecordProperty("ulps_of_part_" + std::to_string(p), std::to_string(largest[p]));
  }
}

void expect_equal(const Bytes& weft, const Bytes& native, const std::string& where) {
  if (weft == native) return;
  std::size_t at = 0;
  while (weft[at] == native[at]) ++at;
  ADD_FAILURE() << where << " differs first at byte " << at << " of " << weft.size() << ": Weft has "
                << int{weft[at]} << ", the native engine " << int{native[at]};
}

// A name that gtest can print.
struct Named {
  std::string name;
};
void PrintTo(const Named& named, std::ostream* out) {
  *out << named.name;
}
std::vector<Named> names() {
  std::vector<Named> result;
  for (const KernelCase& test : all_cases()) result.push_back({test.name});
  return result;
}
KernelCase case_of(const std::string& name) {
  for (KernelCase& test : all_cases()) {
    if (test.name == name) return test;
  }
  throw std::runtime_error("no case " + name);
}

TEST(OpenClKernels, EachFileHasACase) {
  std::set<std::string> files, cases;
  for (const auto& entry : std::filesystem::directory_iterator(WEFT_OPENCL_SOURCES)) {
    files.insert(entry.path().stem().string());
  }
  for (const Named& named : names()) cases.insert(named.name);
  EXPECT_EQ(files, cases);
  EXPECT_GE(cases.size(), 20u);
}

class OpenCl : public ::testing::TestWithParam<Named> {
 protected:
  static void SetUpTestSuite() { setenv("POCL_CACHE_DIR", WEFT_OPENCL_CACHE, 0); }
};

TEST_P(OpenCl, AgreesWithTheNativeEngine) {
  const std::string version = native_version();
  if (version.empty()) GTEST_SKIP() << "no OpenCL implementation for this CPU (Debian: pocl-opencl-icd)";
  RecordProperty("native", version);
  const KernelCase test = case_of(GetParam().name);
  const std::vector<Bytes> native = run_native(read_source(test.name), test), weft = run_on_weft(test);
  std::size_t buffer = 0;
  bool changed = false;
  for (const Argument& argument : test.arguments) {
    if (argument.kind != Argument::Kind::kBuffer) continue;
    const std::string where = test.name + ", buffer " + std::to_string(buffer);
    if (argument.ulps.empty()) {
      expect_equal(weft[buffer], native[buffer], where);
    } else {
      expect_close(weft[buffer], native[buffer], argument.ulps, where);
    }
    changed = changed || native[buffer] != argument.bytes;
    ++buffer;
  }
  EXPECT_TRUE(changed) << "the kernel wrote nothing, so nothing was compared";
}

INSTANTIATE_TEST_SUITE_P(Kernels, OpenCl, ::testing::ValuesIn(names()),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace weft::opencl
