// Writes weft.dtsi: the GPU as a node of a device tree (Devicetree Specification 0.4), to be included in that
// of a bus. What the integrator chooses has names, and as values those of the example SoC.
#include <fstream>
#include <iostream>
#include <stdexcept>
#include <string>

#include "common/hex.h"
#include "host/register_table.h"

namespace weft::host {
namespace {

void write_device_tree(std::ostream& out) {
  const std::uint64_t version = constant("VERSION_VALUE");
  out << R"(/* Weft, a GPU, as a node of a device tree. Written by the build from modules/host/register_table.cpp.
 *
 * To be included within the node of a bus with two cells for addresses and two for sizes, after the C
 * preprocessor, as in Linux. Define before what differs from the example SoC of `weft soc`:
 *
 *   soc {
 *     #address-cells = <2>;
 *     #size-cells = <2>;
 *   #define WEFT_GPU_NODE gpu@4010000000
 *   #define WEFT_GPU_BASE 0x4010000000
 *   #include "weft.dtsi"
 *   };
 *
 * More properties come by reference: &weft_gpu { dma-coherent; };
 */
#ifndef WEFT_GPU_NODE /* and its address: where host_socket lies on the bus */
#define WEFT_GPU_NODE gpu@1000000000
#define WEFT_GPU_BASE 0x1000000000
#endif
#ifndef WEFT_GPU_MEMORY_BYTES /* dram.bytes of the GPU's configuration */
#define WEFT_GPU_MEMORY_BYTES 0x60000000
#endif
#ifndef WEFT_GPU_INTERRUPTS /* the level of irq; then those of queue_irq, if they are wired */
#define WEFT_GPU_INTERRUPTS <0>
#define WEFT_GPU_INTERRUPT_NAMES "gpu"
#endif

weft_gpu: WEFT_GPU_NODE {
)";
  out << "  compatible = \"weft,gpu-" << (version >> 16) << "." << (version & 0xffff) << "\", \"weft,gpu\";\n"
      << "  reg = /bits/ 64 <WEFT_GPU_BASE " << hex(constant("REGISTER_BYTES")) << ">,\n"
      << "        /bits/ 64 <(WEFT_GPU_BASE + " << hex(constant("APERTURE")) << ") WEFT_GPU_MEMORY_BYTES>;\n"
      << R"(  reg-names = "registers", "memory";
  interrupts = WEFT_GPU_INTERRUPTS;
  interrupt-names = WEFT_GPU_INTERRUPT_NAMES;
};
)";
}

}  // namespace
}  // namespace weft::host

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::cerr << "usage: weft_device_tree_writer FILE\n";
    return 2;
  }
  std::ofstream file(argv[1]);
  weft::host::write_device_tree(file);
  if (!file.flush()) throw std::runtime_error("cannot be written");
  return 0;
} catch (const std::exception& error) {
  std::cerr << argv[1] << ": " << error.what() << "\n";
  return 1;
}
