// Parsing and decoding stay fast on large modules. Times are processor time, so that a busy machine does not
// matter.
#include <cctype>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>

#include "ptx/ptx_text.h"
#include "ptx/syntax.h"

namespace weft::ptx::testing::speed_test {
namespace {

double cpu_seconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

// A kernel as an unrolling compiler writes it: `values` virtual registers, of which about `live` live at
// once.
std::string unrolled(int values, int live) {
  std::string body = ".reg .f32 %v<" + std::to_string(values) + ">;\n";
  for (int i = 0; i < values; ++i) {
    const std::string v = "%v" + std::to_string(i);
    if (i < live) {
      body += "ld.global.f32 " + v + ", [%rd1+" + std::to_string(4 * i) + "];\n";
    } else {
      body +=
          "fma.rn.f32 " + v + ", %v" + std::to_string(i - live) + ", %f1, %v" + std::to_string(i - 1) + ";\n";
    }
  }
  for (int i = values - live; i < values; ++i) body += "st.global.f32 [%rd1], %v" + std::to_string(i) + ";\n";
  return body + "ret;";
}

bool optimised() {
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__)
  return true;
#else
  return false;
#endif
}

TEST(Speed, TenMegabytesParseInASecond) {
  const std::string kernel = kernel_of(unrolled(300, 20)).substr(module_of("").size());
  std::string text = module_of("");
  for (int n = 0; text.size() < 10'000'000; ++n) {
    std::string copy = kernel;
    copy.replace(copy.find(" k("), 2, " k" + std::to_string(n));
    text += copy;
  }
  const double begin = cpu_seconds();
  const Module module = parse(text, "big.ptx");
  const double seconds = cpu_seconds() - begin;
  RecordProperty("milliseconds", static_cast<int>(seconds * 1e3));
  EXPECT_GT(module.kernels.size(), 500u);
  if (!optimised()) GTEST_SKIP() << "times count in optimised builds only";
  EXPECT_LT(seconds, 1.0);
}

bool is_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$';
}

// `text` with `suffix` behind every one of `names`, so that copies can stand in one module.
std::string renamed(const std::string& text, const std::set<std::string, std::less<>>& names,
                    const std::string& suffix) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_name(text[end])) ++end;
    if (end == at) {
      result += text[at++];
      continue;
    }
    const std::string_view word(text.data() + at, end - at);
    result += word;
    if (names.count(word) != 0) result += suffix;
    at = end;
  }
  return result;
}

// Copies of the modules in tests/ptx/constructs, which hold every directive and kind of operand that nvcc 13
// and clang 19 write, until there are `bytes` of text.
std::string every_construct(std::size_t bytes) {
  struct Source {
    std::string body;
    std::set<std::string, std::less<>> names;
  };
  std::vector<Source> sources;
  for (const auto& entry : std::filesystem::directory_iterator(WEFT_PTX_CONSTRUCTS)) {
    std::stringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    const Module module = parse(text.str(), entry.path().string());
    Source source;
    const std::string last_header = ".address_size 64\n";
    source.body = text.str().substr(text.str().find(last_header) + last_header.size());
    for (const Variable& variable : module.variables) source.names.insert(variable.name);
    for (const Function& function : module.text->functions) {
      source.names.insert(std::string(module.text->view(function.name)));
    }
    sources.push_back(std::move(source));
  }
  EXPECT_GE(sources.size(), 4u);
  std::string result = module_of("");
  for (int n = 0; result.size() < bytes && !sources.empty(); ++n) {
    for (const Source& source : sources)
      result += renamed(source.body, source.names, "_" + std::to_string(n));
  }
  return result;
}

TEST(Speed, TenMegabytesOfEveryConstructParseInASecond) {
  const std::string text = every_construct(10'000'000);
  const double begin = cpu_seconds();
  const Module module = parse(text, "constructs.ptx");
  const double seconds = cpu_seconds() - begin;
  RecordProperty("milliseconds", static_cast<int>(seconds * 1e3));
  std::cout << text.size() << " bytes, " << module.kernels.size() << " kernels, " << module.variables.size()
            << " variables: " << seconds << " s of processor time\n";
  EXPECT_GT(module.kernels.size(), 1000u);
  if (!optimised()) GTEST_SKIP() << "times count in optimised builds only";
  EXPECT_LT(seconds, 1.0);
}

TEST(Speed, ManySymbolsStayLinear) {
  std::string text = module_of("");
  for (int i = 0; i < 20'000; ++i) text += ".global .u32 v" + std::to_string(i) + " = 1;\n";
  for (int i = 0; i < 2'000; ++i) {
    text += ".entry k" + std::to_string(i) + "() { .reg .b64 %r<2>; mov.u64 %r1, v" + std::to_string(i) +
            "; ret; }\n";
  }
  const double begin = cpu_seconds();
  const Module module = parse(text, "symbols.ptx");
  const std::string listing = describe(module);
  const double seconds = cpu_seconds() - begin;
  EXPECT_EQ(module.variables.size(), 20'000u);
  EXPECT_EQ(listing.find("cannot"), std::string::npos);
  if (!optimised()) GTEST_SKIP() << "times count in optimised builds only";
  EXPECT_LT(seconds, 1.0);
}

// Each of these took time that grew with the square of the text.
TEST(Speed, ManyRegisterRangesStayLinear) {
  std::string body;
  for (int i = 0; i < 20'000; ++i) {
    const std::string n = std::to_string(i);
    body.append(".reg .b32 %q").append(n).append("x<3>;\n.reg .b32 single").append(n).append("_;\n");
    body.append("mov.u32 %q").append(n).append("x1, 1;\n");
  }
  const double begin = cpu_seconds();
  const Program program = decode(parse(kernel_of(body + "ret;"), "ranges.ptx"), "k", {});
  const double seconds = cpu_seconds() - begin;
  EXPECT_EQ(program.code.size(), 20'001u);
  if (!optimised()) GTEST_SKIP() << "times count in optimised builds only";
  EXPECT_LT(seconds, 1.0);
}

TEST(Speed, KernelsDoNotPayForSharedVariablesOfOthers) {
  std::string text = module_of("");
  for (int i = 0; i < 60'000; ++i) text.append(".shared .b32 s").append(std::to_string(i)).append(";\n");
  for (int i = 0; i < 2'000; ++i) {
    const std::string n = std::to_string(i);
    text.append(".entry k").append(n).append("() { .reg .b32 %r<2>; ld.shared.u32 %r1, [s").append(n);
    text.append("]; ret; }\n");
  }
  const double begin = cpu_seconds();
  const std::string listing = describe(parse(text, "shared.ptx"));
  const double seconds = cpu_seconds() - begin;
  EXPECT_EQ(listing.find("cannot"), std::string::npos);
  EXPECT_NE(listing.find("bytes: 4 shared"), std::string::npos);
  if (!optimised()) GTEST_SKIP() << "times count in optimised builds only";
  EXPECT_LT(seconds, 1.0);
}

TEST(Speed, TwentyThousandVirtualRegistersDecodeInASecond) {
  const Module module = parse(kernel_of(unrolled(20'000, 200)), "unrolled.ptx");
  const double begin = cpu_seconds();
  const Program program = decode(module, "k", {});
  const double seconds = cpu_seconds() - begin;
  EXPECT_GE(program.virtual_registers, 20'000u);
  EXPECT_LE(program.registers_per_thread, 210u);
  if (!optimised()) GTEST_SKIP() << "times count in optimised builds only";
  EXPECT_LT(seconds, 1.0);
}

TEST(Speed, ManyBlocksDecodeInASecond) {
  // 5,000 diamonds with values that live across all of them.
  std::string body;
  for (int i = 0; i < 60; ++i)
    body += "ld.global.u32 %r" + std::to_string(i) + ", [%rd1+" + std::to_string(4 * i) + "];\n";
  for (int i = 0; i < 5000; ++i) {
    const std::string n = std::to_string(i);
    body += "setp.eq.s32 %p1, %r1, " + n + ";\n@%p1 bra E" + n + ";\nadd.s32 %r2, %r2, 1;\nbra J" + n +
            ";\nE" + n + ": add.s32 %r3, %r3, 1;\nJ" + n + ": add.s32 %r4, %r4, %r5;\n";
  }
  for (int i = 0; i < 60; ++i) body += "st.global.u32 [%rd1], %r" + std::to_string(i) + ";\n";
  const Module module = parse(kernel_of(body), "blocks.ptx");
  const double begin = cpu_seconds();
  const Program program = decode(module, "k", {});
  const double seconds = cpu_seconds() - begin;
  EXPECT_GT(program.blocks.size(), 15'000u);
  if (!optimised()) GTEST_SKIP() << "times count in optimised builds only";
  EXPECT_LT(seconds, 1.0);
}

}  // namespace
}  // namespace weft::ptx::testing::speed_test
