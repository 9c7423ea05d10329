// Constants and parameters: how many accesses of the constant cache a load takes, by the width of its element
// and by the words and lines that its threads read.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "platform/gpu_bench.h"

namespace weft::test::constant_access_test {
namespace {

constexpr unsigned kThreads = 32, kTableBytes = 1024;

// A load from [%rd5]; its first bytes, as a word, are then %r1.
struct Element {
  unsigned bytes, first_bytes;
  const char* type_and_registers;
  const char* to_word;
};
const std::vector<Element> kElements = {
    {1, 1, ".u8 %r8,", "mov.u32 %r1, %r8;"},
    {2, 2, ".u16 %r8,", "mov.u32 %r1, %r8;"},
    {4, 4, ".u32 %r8,", "mov.u32 %r1, %r8;"},
    {8, 4, ".u64 %rd6,", "cvt.u32.u64 %r1, %rd6;"},
    {2, 1, ".v2.u8 {%r8, %r9},", "mov.u32 %r1, %r8;"},
    {4, 1, ".v4.u8 {%r8, %r9, %r10, %r11},", "mov.u32 %r1, %r8;"},
    {8, 4, ".v2.f32 {%f1, %f2},", "mov.b32 %r1, %f1;"},
    {16, 4, ".v4.u32 {%r8, %r9, %r10, %r11},", "mov.u32 %r1, %r8;"},
    {16, 4, ".v2.u64 {%rd6, %rd7},", "cvt.u32.u64 %r1, %rd6;"},
};

// Which element a thread reads.
struct Pattern {
  const char* name;
  unsigned (*element)(unsigned thread);
};
const std::vector<Pattern> kPatterns = {
    {"one element", [](unsigned) { return 5u; }},
    {"two", [](unsigned t) { return t / 16; }},
    {"four, far apart", [](unsigned t) { return t % 4 * 16; }},
    {"one each", [](unsigned t) { return t; }},
    {"one each, backwards", [](unsigned t) { return 31 - t; }},
    {"every second", [](unsigned t) { return t * 2; }},
    {"scattered", [](unsigned t) { return t * 37 % 61; }},
};

unsigned byte_of_table(unsigned offset) {
  return (offset * 7 + 3) % 256;
}

std::string table_text() {
  std::string text = ".const .align 128 .b8 table[" + std::to_string(kTableBytes) + "] = {";
  for (unsigned i = 0; i < kTableBytes; ++i) text += (i == 0 ? "" : ", ") + std::to_string(byte_of_table(i));
  return text + "};\n";
}

// Each thread loads from where start[t] says, `copies` times, and writes the first bytes to out[t].
std::string kernel(const char* space, const Element& element, unsigned copies) {
  const bool constant = std::string(space) == "const";
  std::string text = kernel_text(
      ".param .u64 out, .param .u64 start, .param .align 128 .b8 box[" + std::to_string(kTableBytes) + "]",
      std::string(R"(
  ld.param.u64 %rd1, [out];
  ld.param.u64 %rd3, [start];
  mov.u32 %r2, %tid.x;
  mul.wide.u32 %rd2, %r2, 4;
  add.u64 %rd1, %rd1, %rd2;
  add.u64 %rd3, %rd3, %rd2;
  ld.global.u32 %r4, [%rd3];
  cvt.u64.u32 %rd4, %r4;
)") + (constant ? "mov.u64 %rd5, table;" : "mov.u64 %rd5, box;") +
          "add.u64 %rd5, %rd5, %rd4;\n" +
          repeated(copies, std::string("ld.") + space + element.type_and_registers + " [%rd5];") +
          element.to_word + "\n  st.global.u32 [%rd1], %r1;\n  ret;\n");
  if (constant) text.insert(text.find(".visible"), table_text());
  return text;
}

// Aligned blocks in which the threads' elements lie; an element wider than a block is one.
std::size_t blocks(const std::vector<std::uint32_t>& offsets, std::uint64_t block_bytes, unsigned bytes) {
  std::set<std::uint64_t> distinct;
  for (const std::uint32_t offset : offsets)
    distinct.insert(offset / std::max<std::uint64_t>(block_bytes, bytes));
  return distinct.size();
}

// Every width by every pattern on one machine: what is wrong.
std::string wrong_on(const std::string& access, const char* space) {
  std::ostringstream wrong;
  GpuBench bench({"sm.count=1", "sm.constant_access=" + access});
  const std::uint64_t block = access == "word" ? 4 : bench.device.gpu().config().sm.l1c.tags.line_bytes;
  const auto out = bench.zeros(kThreads * 4);
  std::vector<std::uint8_t> box(kTableBytes);
  for (unsigned i = 0; i < kTableBytes; ++i) box[i] = static_cast<std::uint8_t>(byte_of_table(i));
  for (const Element& element : kElements) {
    for (const Pattern& pattern : kPatterns) {
      std::vector<std::uint32_t> offsets;
      for (unsigned t = 0; t < kThreads; ++t) offsets.push_back(pattern.element(t) * element.bytes);
      const auto start = bench.words(offsets);
      const auto requests_of = [&](unsigned copies) {
        const double before = bench.sum_over_sms({"memory", "request_cycles"});
        bench.load(kernel(space, element, copies));
        bench.run({1, 1, 1}, {kThreads, 1, 1}, runtime::Arguments().add(out).add(start).add_bytes(box));
        return bench.sum_over_sms({"memory", "request_cycles"}) - before;
      };
      const double one = requests_of(1), requests = (requests_of(3) - one) / 2;
      const std::size_t expected = blocks(offsets, block, element.bytes);
      if (requests != static_cast<double>(expected)) {
        wrong << element.type_and_registers << " " << pattern.name << ": " << requests << " accesses, not "
              << expected << "\n";
      }
      const auto words = bench.read(out, kThreads);
      for (unsigned t = 0; t < kThreads; ++t) {
        std::uint32_t value = 0;
        for (unsigned i = 0; i < element.first_bytes; ++i) value |= byte_of_table(offsets[t] + i) << 8 * i;
        if (words[t] != value)
          wrong << element.type_and_registers << " " << pattern.name << ": " << words[t] << "\n";
      }
    }
  }
  return wrong.str();
}

class ConstantAccess : public ::testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(ConstantAccess, ServesAllThreadsOfAWordOrALine) {
  const auto [access, space] = GetParam();
  EXPECT_EQ(wrong_on(access, space), "");
}

INSTANTIATE_TEST_SUITE_P(All, ConstantAccess,
                         ::testing::Combine(::testing::Values("word", "line"),
                                            ::testing::Values("const", "param")),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param)) + "_" + std::get<1>(info.param);
                         });

}  // namespace
}  // namespace weft::test::constant_access_test
