// Kernels in PTX text, decoded by the front end and run by the interpreter; expected results computed on the
// host.
#include <gtest/gtest.h>

#include <cstring>

#include "interpreter/interpreter.h"
#include "weft/ptx/module.h"

namespace weft::test::decoded_test {
namespace {

constexpr std::uint64_t kBase = 0x1'0000'0000;

const char* const kHeader = R"(
.version 6.0
.target sm_35
.address_size 64
)";

class DecodedTest : public testing::Test {
 protected:
  std::vector<std::uint8_t> memory_ = std::vector<std::uint8_t>(16384);

  void run(const std::string& body, std::array<std::uint32_t, 3> grid, std::array<std::uint32_t, 3> block,
           std::initializer_list<std::uint64_t> parameters, std::uint64_t dynamic_shared = 0) {
    const ptx::Module module = ptx::parse(kHeader + body, "test.ptx");
    const ptx::Program program = ptx::decode(module, module.kernels.at(0), {});
    std::vector<std::uint8_t> bytes(8 * parameters.size());
    std::memcpy(bytes.data(), parameters.begin(), bytes.size());
    bytes.resize(program.parameter_bytes);
    Interpreter(memory_, kBase).run({&program, grid, block, bytes, dynamic_shared});
  }
  std::uint32_t word(std::size_t index) const {
    std::uint32_t value;
    std::memcpy(&value, &memory_[4 * index], 4);
    return value;
  }
};

TEST_F(DecodedTest, CollatzLoop) {
  run(R"(
.visible .entry collatz(.param .u64 out)
{
  .reg .pred %p<3>;
  .reg .b32 %r<9>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [out];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %ntid.x;
  mov.u32 %r3, %tid.x;
  mad.lo.s32 %r4, %r1, %r2, %r3;
  add.s32 %r5, %r4, 1;
  mov.u32 %r6, 0;
loop:
  setp.eq.s32 %p1, %r5, 1;
  @%p1 bra done;
  and.b32 %r7, %r5, 1;
  setp.eq.s32 %p2, %r7, 0;
  @%p2 bra even;
  mad.lo.s32 %r5, %r5, 3, 1;
  bra next;
even:
  shr.u32 %r5, %r5, 1;
next:
  add.s32 %r6, %r6, 1;
  bra loop;
done:
  mul.wide.s32 %rd2, %r4, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r6;
  ret;
}
)",
      {2, 1, 1}, {50, 1, 1}, {kBase});
  for (std::uint32_t i = 0; i < 100; ++i) {
    std::uint32_t steps = 0;
    for (std::uint64_t n = i + 1; n != 1; n = n % 2 == 0 ? n / 2 : 3 * n + 1) ++steps;
    ASSERT_EQ(word(i), steps) << i;
  }
}

TEST_F(DecodedTest, TreeReductionInSharedMemory) {
  run(R"(
.visible .entry reduce(.param .u64 out)
{
  .reg .pred %p<3>;
  .reg .b32 %r<12>;
  .reg .b64 %rd<3>;
  .shared .align 4 .b8 partial[512];
  mov.u32 %r1, %tid.x;
  shl.b32 %r2, %r1, 2;
  mov.u32 %r3, partial;
  add.s32 %r4, %r3, %r2;
  st.shared.u32 [%r4], %r1;
  bar.sync 0;
  mov.u32 %r5, 64;
loop:
  setp.ge.u32 %p1, %r1, %r5;
  @%p1 bra skip;
  shl.b32 %r6, %r5, 2;
  add.s32 %r7, %r4, %r6;
  ld.shared.u32 %r8, [%r7];
  ld.shared.u32 %r9, [%r4];
  add.s32 %r10, %r8, %r9;
  st.shared.u32 [%r4], %r10;
skip:
  bar.sync 0;
  shr.u32 %r5, %r5, 1;
  setp.ne.s32 %p2, %r5, 0;
  @%p2 bra loop;
  setp.ne.s32 %p1, %r1, 0;
  @%p1 exit;
  ld.shared.u32 %r11, [partial];
  ld.param.u64 %rd1, [out];
  red.global.add.u32 [%rd1], %r11;
  ret;
}
)",
      {3, 1, 1}, {128, 1, 1}, {kBase});
  EXPECT_EQ(word(0), 3u * 127 * 128 / 2);
}

// 64-bit numbers in pairs of words, as compilers write __int128 arithmetic: the carry lives in no named
// register, and in some threads one link of the chain is skipped.
TEST_F(DecodedTest, ChainOfCarries) {
  const std::uint64_t a = 0xffffffff00000003, b = 0x00000001fffffffe;
  run(R"(
.visible .entry carries(.param .u64 out, .param .u64 a, .param .u64 b)
{
  .reg .pred %p<2>;
  .reg .b32 %r<20>;
  .reg .b64 %rd<6>;
  ld.param.u64 %rd1, [out];
  ld.param.v2.u32 {%r1, %r2}, [a];
  ld.param.v2.u32 {%r3, %r4}, [b];
  mov.u32 %r5, %tid.x;
  setp.eq.u32 %p1, %r5, 0;
  mov.u32 %r8, 0;
  add.cc.u32 %r6, %r1, %r3;
  @%p1 addc.cc.u32 %r7, %r2, %r4;
  @!%p1 add.u32 %r7, %r2, %r4;
  addc.u32 %r8, %r8, 0;
  mul.lo.u32 %r9, %r1, %r3;
  mul.hi.u32 %r10, %r1, %r3;
  mad.lo.cc.u32 %r10, %r1, %r4, %r10;
  madc.hi.u32 %r11, %r1, %r4, 0;
  mad.lo.cc.u32 %r10, %r2, %r3, %r10;
  madc.hi.cc.u32 %r11, %r2, %r3, %r11;
  addc.u32 %r12, 0, 0;
  mad.lo.cc.u32 %r11, %r2, %r4, %r11;
  madc.hi.u32 %r12, %r2, %r4, %r12;
  mul.wide.u32 %rd2, %r5, 32;
  add.s64 %rd3, %rd1, %rd2;
  st.global.v2.u32 [%rd3], {%r6, %r7};
  st.global.u32 [%rd3+8], %r8;
  st.global.v4.u32 [%rd3+16], {%r9, %r10, %r11, %r12};
  ret;
}
)",
      {1, 1, 1}, {2, 1, 1}, {kBase, a, b});
  __extension__ using Wide = unsigned __int128;
  const Wide sum = Wide{a} + b, product = Wide{a} * b;
  const auto part = [](Wide x, unsigned k) { return static_cast<std::uint32_t>(x >> (32 * k)); };
  EXPECT_EQ(word(0), part(sum, 0));
  EXPECT_EQ(word(1), part(sum, 1));
  EXPECT_EQ(word(2), part(sum, 2));
  EXPECT_EQ(word(8), part(sum, 0));
  EXPECT_EQ(word(9), 0xffffffff + 1);  // without the carry
  EXPECT_EQ(word(10), 1u);             // which the last link still finds
  for (unsigned k = 0; k < 4; ++k) {
    EXPECT_EQ(word(4 + k), part(product, k)) << k;
    EXPECT_EQ(word(12 + k), part(product, k)) << k;
  }
}

// Registers wider than the type, packed words, and three-dimensional indices.
TEST_F(DecodedTest, WidthsAndPacking) {
  const std::uint8_t bytes[4] = {0x80, 0x7f, 0xff, 0x01};
  std::memcpy(&memory_[1024], bytes, 4);
  run(R"(
.visible .entry widths(.param .u64 out, .param .u64 in)
{
  .reg .b32 %r<12>;
  .reg .b64 %rd<12>;
  ld.param.u64 %rd1, [out];
  ld.param.u64 %rd2, [in];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %tid.y;
  mov.u32 %r3, %tid.z;
  mad.lo.u32 %r4, %r2, 2, %r1;
  mad.lo.u32 %r4, %r3, 2, %r4;
  cvt.u64.u32 %rd3, %r4;
  add.u64 %rd4, %rd2, %rd3;
  ld.global.s8 %rd5, [%rd4];
  mov.b64 {%r5, %r6}, %rd5;
  mov.b64 %rd6, {%r6, %r5};
  cvt.s64.s8 %rd7, %rd6;
  shl.b64 %rd8, %rd3, 4;
  add.u64 %rd9, %rd1, %rd8;
  st.global.u64 [%rd9], %rd6;
  st.global.u64 [%rd9+8], %rd7;
  ret;
}
)",
      {1, 1, 1}, {2, 1, 2}, {kBase, kBase + 1024});
  for (unsigned i = 0; i < 4; ++i) {
    const auto value =
        static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int8_t>(bytes[i])));
    std::uint64_t swapped, low;
    std::memcpy(&swapped, &memory_[16 * i], 8);
    std::memcpy(&low, &memory_[16 * i + 8], 8);
    EXPECT_EQ(swapped, value << 32 | value >> 32);
    EXPECT_EQ(low,
              static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int8_t>(value >> 32))));
  }
}

}  // namespace
}  // namespace weft::test::decoded_test
