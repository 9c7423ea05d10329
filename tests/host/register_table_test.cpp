// The generated header says the same in C99 and C++, as HSA's packets and this project's map demand.
#include <gtest/gtest.h>

#include <cstring>

#include "weft/weft_registers.h"

extern "C" {
std::uint64_t weft_test_doorbell_of_queue_3(void);
std::uint16_t weft_test_header_of_dispatch(void);
}

namespace weft::host {
namespace {

TEST(RegisterHeader, IdSpellsTheName) {
  const std::uint32_t id = WEFT_ID_VALUE;
  EXPECT_EQ(std::memcmp(&id, "WEFT", 4), 0);
  const std::uint32_t magic = WEFT_KERNEL_OBJECT_MAGIC;
  EXPECT_EQ(std::memcmp(&magic, "WKO1", 4), 0);
}

TEST(RegisterHeader, PlacesOfTheMap) {
  EXPECT_EQ(WEFT_REG_IRQ_STATUS, 0x010);
  EXPECT_EQ(WEFT_REG_CYCLES_HI, 0x044);
  EXPECT_EQ(WEFT_WINDOW(2, WEFT_WINDOW_CONTROL), 0x100 + 2 * 0x20 + 0x10);
  EXPECT_EQ(weft_test_doorbell_of_queue_3(), 0x1000u + 3 * 0x40 + 0x14);
}

// HSA Platform System Architecture Specification 1.2, 2.9: offsets of the fields.
TEST(RegisterHeader, PacketsAreThoseOfHsa) {
  EXPECT_EQ(offsetof(weft_kernel_dispatch_packet, grid_size), 12u);
  EXPECT_EQ(offsetof(weft_kernel_dispatch_packet, private_segment_size), 24u);
  EXPECT_EQ(offsetof(weft_kernel_dispatch_packet, kernel_object), 32u);
  EXPECT_EQ(offsetof(weft_kernel_dispatch_packet, kernarg_address), 40u);
  EXPECT_EQ(offsetof(weft_kernel_dispatch_packet, completion_signal), 56u);
  EXPECT_EQ(offsetof(weft_barrier_packet, dep_signal), 8u);
  EXPECT_EQ(offsetof(weft_barrier_packet, completion_signal), 56u);
  EXPECT_EQ(weft_test_header_of_dispatch(), 0x102);
}

}  // namespace
}  // namespace weft::host
