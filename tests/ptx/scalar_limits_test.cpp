// The search for scalars is bounded in all: kernels that would take long, or much memory, have no scalars,
// and kernels whose branches merely have many targets have the scalars that they should.
#include <sys/resource.h>

#include <ctime>
#include <functional>
#include <random>

#include "ptx/ptx_text.h"

namespace weft::ptx::testing::scalar_limits_test {
namespace {

constexpr double kMostSeconds = 3;        // of processor time
constexpr long kMostKilobytes = 200'000;  // of the whole process

bool optimised() {
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__)
  return true;
#else
  return false;
#endif
}

std::string number(std::size_t n) {
  return std::to_string(n);
}

// Guards that differ by thread.
const std::string kBegin =
    "mov.u32 %r0, %tid.x;\nld.param.u32 %r2, [n];\nsetp.eq.u32 %p0, %r0, 1;\nsetp.eq.u32 %p1, %r0, 2;\n";

// Each block ends in a branch to any other one: everything can be reached from everywhere.
std::string tangle(std::size_t blocks, const std::string& more) {
  std::mt19937 random(1);
  std::string body = kBegin;
  for (std::size_t i = 0; i < blocks; ++i) {
    body += "L" + number(i) + ": add.u32 %r1, %r1, %r0;\n" + more + "@%p" + number(i % 2) + " bra L" +
            number(random() % blocks) + ";\n";
  }
  return body + "ret;";
}

std::string nest(std::size_t depth) {
  std::string body = kBegin;
  for (std::size_t i = 0; i < depth; ++i) body += "@%p0 bra L" + number(i) + ";\n";
  for (std::size_t i = depth; i-- > 0;) body += "add.u32 %r1, %r1, %r0;\nL" + number(i) + ":\n";
  return body + "ret;";
}

// One branch to many places, each of which goes on to the next one.
std::string indexed(std::size_t targets) {
  std::string list, body;
  for (std::size_t i = 0; i < targets; ++i) {
    list += (i == 0 ? "L" : ", L") + number(i);
    body += "L" + number(i) + ": add.u32 %r1, %r1, %r0;\n";
  }
  return kBegin + "add.u32 %r3, %r2, 1;\nts: .branchtargets " + list + ";\nbrx.idx %r0, ts;\n" + body +
         "add.u32 %r4, %r2, %r3;\nst.global.u32 [%rd1], %r4;\nret;";
}

// Values that are live across as many branches.
std::string across(std::size_t count) {
  std::string body = ".reg .b32 %v<" + number(count) + ">;\n" + kBegin, end;
  for (std::size_t i = 0; i < count; ++i) body += "ld.param.u32 %v" + number(i) + ", [n];\n";
  for (std::size_t i = 0; i < count; ++i) {
    body += "@%p0 bra L" + number(i) + ";\nadd.u32 %r1, %r1, %r0;\nL" + number(i) + ":\n";
    end += "st.global.u32 [%rd1], %v" + number(i) + ";\n";
  }
  return body + end + "ret;";
}

struct Case {
  const char* name;
  std::function<std::string()> body;
  bool has_scalars;
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.name;
}

using Parameter = std::tuple<Case, Scalarization>;
class ScalarLimits : public ::testing::TestWithParam<Parameter> {};

TEST_P(ScalarLimits, HoldForTheWholeKernel) {
  const auto& [kind_of_kernel, scalarization] = GetParam();
  if (!optimised() && !kind_of_kernel.has_scalars) GTEST_SKIP() << "the whole budget takes too long here";
  const Module module = parse(kernel_of(kind_of_kernel.body()), "k.ptx");
  DecodeOptions options;
  options.scalarization = scalarization;
  const Symbols symbols;
  std::vector<std::string> why;
  const std::clock_t begin = std::clock();
  const Program program = decode({{&module, &symbols}}, "k", options, &why);
  const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
  const ScalarCounts counts = count_scalars(program);
  if (kind_of_kernel.has_scalars) {
    EXPECT_GT(counts.scalar_instructions, 0u);
    EXPECT_GT(program.scalars_per_warp, 0);
  } else {
    EXPECT_EQ(counts.scalar_instructions, 0u);
    EXPECT_EQ(program.scalars_per_warp, 0);
    EXPECT_EQ(why.at(1), "the kernel is too large for the search");
  }
  if (!optimised()) GTEST_SKIP() << "time and memory count in optimised builds only";
  EXPECT_LT(seconds, kMostSeconds);
  rusage used = {};
  getrusage(RUSAGE_SELF, &used);
  EXPECT_LT(used.ru_maxrss, kMostKilobytes);
}

INSTANTIATE_TEST_SUITE_P(
    Large, ScalarLimits,
    ::testing::Combine(::testing::Values(Case{"tangle", [] { return tangle(10'000, ""); }, false},
                                         Case{"tangle_with_barriers",
                                              [] { return tangle(6'000, "bar.sync 0;\n"); }, false},
                                         Case{"nest", [] { return nest(10'000); }, false},
                                         Case{"nest_of_an_ordinary_depth", [] { return nest(1'000); }, true},
                                         Case{"indexed", [] { return indexed(20'000); }, true},
                                         Case{"across", [] { return across(1'300); }, false}),
                       ::testing::Values(Scalarization::kRestricted, Scalarization::kFull)),
    [](const ::testing::TestParamInfo<Parameter>& info) {
      return std::string(std::get<0>(info.param).name) +
             (std::get<1>(info.param) == Scalarization::kFull ? "_full" : "_restricted");
    });

// A list of targets is written once, and every brx.idx that names it has edges to all of it.
TEST(BranchTargets, OfAFunctionAreLimited) {
  const auto kernel = [](std::size_t targets, std::size_t branches) {
    std::string list, body;
    for (std::size_t i = 0; i < targets; ++i) list += (i == 0 ? "L" : ", L") + number(i);
    for (std::size_t i = 0; i < branches; ++i) body += "@%p1 brx.idx %r0, ts;\n";
    for (std::size_t i = 0; i < targets; ++i) body += "L" + number(i) + ":\n";
    return kernel_of("ts: .branchtargets " + list + ";\n" + body + "ret;");
  };
  const auto decode_text = [](const std::string& text) { return decode(parse(text, "k.ptx"), "k", {}); };
  EXPECT_NO_THROW(decode_text(kernel(1'000, 500)));
  EXPECT_EQ(
      message_of([&] { decode_text(kernel(1'000, 501)); }),
      "k.ptx:507:19: '@%p1 brx.idx %r0, ts': the brx.idx of this function have more than 500000 targets "
      "together");
}

}  // namespace
}  // namespace weft::ptx::testing::scalar_limits_test
