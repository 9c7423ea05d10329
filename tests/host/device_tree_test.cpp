// weft.dtsi as an integrator uses it: through the C preprocessor and the compiler of device trees.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "end_to_end/process.h"
#include "firmware/soc_map.h"
#include "weft/weft_registers.h"

namespace weft::test::device_tree_test {
namespace {

using end_to_end::Exit;

class DeviceTree : public ::testing::Test {
 public:
  // A machine with the fragment, after `defines`. What the tools say against it.
  std::string compile(const std::string& defines) {
    std::ofstream(folder_.path("machine.dts")) << "/dts-v1/;\n"
                                               << defines << R"(
/ {
  #address-cells = <2>;
  #size-cells = <2>;
  interrupt-parent = <&controller>;
  controller: interrupt-controller {
    interrupt-controller;
    #interrupt-cells = <1>;
    #address-cells = <0>;
  };
  soc {
    compatible = "simple-bus";
    ranges;
    #address-cells = <2>;
    #size-cells = <2>;
#include "weft.dtsi"
  };
};
&weft_gpu { dma-coherent; };
)";
    const std::string include = WEFT_DEVICE_TREE_FILE;
    const Exit preprocessed =
        tool("cpp", {"-nostdinc", "-undef", "-P", "-x", "assembler-with-cpp", "-I",
                     include.substr(0, include.rfind('/')), folder_.path("machine.dts"), folder_.path("m")});
    if (preprocessed.code != 0) return preprocessed.err;
    return tool("dtc", {"-I", "dts", "-O", "dtb", "-o", folder_.path("dtb"), folder_.path("m")}).err;
  }
  std::string property(const std::string& type, const std::string& node, const std::string& name) {
    return tool("fdtget", {"-t", type, folder_.path("dtb"), "/soc/" + node, name}).out;
  }

 private:
  static Exit tool(const std::string& name, const std::vector<std::string>& arguments) {
    return end_to_end::run("/usr/bin/" + name, arguments);
  }
  Folder folder_;
};

// As hexadecimal cells.
std::string cells(std::initializer_list<std::uint64_t> numbers) {
  std::ostringstream text;
  text << std::hex;
  for (const std::uint64_t number : numbers)
    text << (text.str().empty() ? "" : " ") << (number >> 32) << " " << (number & UINT32_MAX);
  return text.str() + "\n";
}

TEST_F(DeviceTree, DescribesTheExampleSoc) {
  ASSERT_EQ(compile(""), "");
  const std::string node = "gpu@1000000000";
  EXPECT_EQ(property("s", node, "compatible"), "weft,gpu-" + std::to_string(WEFT_VERSION_VALUE >> 16) + "." +
                                                   std::to_string(WEFT_VERSION_VALUE & 0xffff) +
                                                   " weft,gpu\n");
  EXPECT_EQ(property("x", node, "reg"), cells({SOC_GPU_BASE, WEFT_REGISTER_BYTES,
                                               SOC_GPU_BASE + WEFT_APERTURE, std::uint64_t{1536} << 20}));
  EXPECT_EQ(property("s", node, "reg-names"), "registers memory\n");
  EXPECT_EQ(property("u", node, "interrupts"), std::to_string(SOC_SOURCE_GPU) + "\n");
  EXPECT_EQ(property("s", node, "interrupt-names"), "gpu\n");
}

TEST_F(DeviceTree, DescribesAnotherSoc) {
  ASSERT_EQ(compile(R"(
#define WEFT_GPU_NODE gpu@4010000000
#define WEFT_GPU_BASE 0x4010000000
#define WEFT_GPU_MEMORY_BYTES 0x200000000
#define WEFT_GPU_INTERRUPTS <7>, <8>
#define WEFT_GPU_INTERRUPT_NAMES "gpu", "queue0"
)"),
            "");
  const std::string node = "gpu@4010000000";
  EXPECT_EQ(property("x", node, "reg"),
            cells({0x40'1000'0000, WEFT_REGISTER_BYTES, 0x40'1000'0000 + WEFT_APERTURE, 0x2'0000'0000}));
  EXPECT_EQ(property("u", node, "interrupts"), "7 8\n");
  EXPECT_EQ(property("s", node, "interrupt-names"), "gpu queue0\n");
}

}  // namespace
}  // namespace weft::test::device_tree_test
