#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "folder.h"
#include "weft/common/error.h"
#include "weft/platform/gpu_config.h"
#include "weft/ptx/module.h"
#include "workloads/host.h"
#include "workloads/small_size.h"
#include "workloads/workload.h"

namespace weft::workloads {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Property;
using ::testing::Throws;

TEST(Workloads, HaveEverySizeComplete) {
  for (const auto& workload : all()) {
    const auto sizes = workload->sizes();
    const auto options = workload->options();
    for (const char* size : {"small", "default", "large"})
      ASSERT_EQ(sizes.count(size), 1u) << workload->name();
    for (const auto& [size, values] : sizes) {
      EXPECT_EQ(values.size(), options.size()) << workload->name() << " " << size;
      for (const auto& option : options) {
        const auto value = values.at(option.name);
        EXPECT_GE(value, option.low) << workload->name() << " " << option.name;
        EXPECT_LE(value, option.high) << workload->name() << " " << option.name;
        EXPECT_EQ(value % option.multiple, 0u) << workload->name() << " " << option.name;
      }
    }
  }
}

TEST(Workloads, AskOnlyForSettingsThatExist) {
  for (const auto& workload : all()) {
    for (const auto& [size, settings] : workload->settings()) {
      EXPECT_EQ(workload->sizes().count(size), 1u) << workload->name() << " " << size;
      EXPECT_EQ(settings_of(*workload, size + ",seed=1"), settings);
      EXPECT_NO_THROW(load_config("gtx480", settings)) << workload->name() << " " << size;
    }
  }
}

TEST(Workloads, HoldPtxOfTheirOwnSource) {
  for (const auto& workload : all()) {
    const Code code = workload->code();
    EXPECT_THAT(code.ptx, AllOf(HasSubstr(".entry"), HasSubstr("/" + workload->name() + ".cu\"")));
    EXPECT_THAT(code.ptx, ::testing::Not(HasSubstr("\"/"))) << "no path of the machine that built it";
    EXPECT_THAT(code.compiler, HasSubstr("clang"));
  }
}

TEST(Workloads, UnknownNamesAreAnsweredWithTheKnownOnes) {
  EXPECT_THAT([] { find("sort"); },
              Throws<InputError>(Property(
                  &InputError::what, AllOf(HasSubstr("sort"), HasSubstr("bfs"), HasSubstr("reduction")))));
}

TEST(Sizes, NameASetAndChangeIt) {
  const auto bfs = find("bfs");
  EXPECT_EQ(values_of(*bfs, ""), bfs->sizes().at("default"));
  EXPECT_EQ(values_of(*bfs, "small"), bfs->sizes().at("small"));
  const Size changed = values_of(*bfs, "small,degree=3,seed=9");
  EXPECT_EQ(changed, (Size{{"n", 2000}, {"degree", 3}, {"masks", 0}, {"symmetric", 0}, {"seed", 9}}));
  EXPECT_EQ(values_of(*bfs, "n=5").at("n"), 5u);
}

TEST(Sizes, OutsideTheirRangeAreRefused) {
  const auto bfs = find("bfs");
  const auto matrix = find("matrix_multiply");
  EXPECT_THAT([&] { values_of(*bfs, "degree=0"); },
              Throws<InputError>(Property(
                  &InputError::what, HasSubstr("degree: found '0'; allowed: a whole number from 1 to 63"))));
  EXPECT_THAT([&] { values_of(*matrix, "n=100"); },
              Throws<InputError>(Property(&InputError::what, HasSubstr("a multiple of 16"))));
  EXPECT_THAT([&] { values_of(*bfs, "huge"); },
              Throws<InputError>(Property(&InputError::what, AllOf(HasSubstr("huge"), HasSubstr("large")))));
  for (const char* text : {"n=", "n=-1", "n=1x", "n=99999999999999999999", "depth=3", "degree=3,small",
                           "n=1,n=2", "small,n=1,degree=2,n=1"}) {
    EXPECT_THROW(values_of(*bfs, text), InputError) << text;
  }
}

// Every option of every workload: below, at and above its range, negative, huge and no number.
TEST(Sizes, AreTriedAtTheirBounds) {
  for (const auto& workload : all()) {
    for (const Option& option : workload->options()) {
      const auto given = [&](const std::string& text) {
        return values_of(*workload, option.name + "=" + text).at(option.name);
      };
      const std::uint64_t first = (option.low + option.multiple - 1) / option.multiple * option.multiple;
      EXPECT_EQ(given(std::to_string(first)), first) << workload->name();
      const std::uint64_t last = option.high / option.multiple * option.multiple;
      EXPECT_EQ(given(std::to_string(last)), last) << workload->name();
      std::vector<std::string> bad{"-1", "", "99999999999999999999999", "nan", "1.5", "1e3"};
      if (option.low > 0) bad.push_back(std::to_string(option.low - 1));
      if (option.high < UINT64_MAX) bad.push_back(std::to_string(option.high + 1));
      if (option.multiple > 1) bad.push_back(std::to_string(first + 1));
      for (const std::string& text : bad) {
        EXPECT_THROW(given(text), InputError) << workload->name() << ": " << option.name << "=" << text;
      }
    }
  }
}

// Threads that leave the loops of the published program by goto meet where the next start begins, neither
// behind the inner loop nor at the end of the kernel; and each load stands where the source has it.
struct Matching {
  std::string kernel;
  std::size_t loads, stores, fetches;
};
class MummerGpu : public ::testing::TestWithParam<Matching> {};
TEST_P(MummerGpu, HasTheLoadsAndMeetingPointsOfItsSource) {
  const Code code = find("mummer_gpu")->code();
  const ptx::Program program = ptx::decode(ptx::parse(code.ptx, code.file), GetParam().kernel, {});
  std::size_t loads = 0, stores = 0, fetches = 0;
  ptx::Pc last_load = 0;
  std::map<ptx::Pc, int> meet;
  for (ptx::Pc pc = 0; pc < program.code.size(); ++pc) {
    const ptx::Instruction& in = program.code[pc];
    if (in.op == ptx::Opcode::kLd && in.space == ptx::Space::kGlobal) ++loads, last_load = pc;
    if (in.op == ptx::Opcode::kSt && in.space == ptx::Space::kGlobal) ++stores;
    if (in.op == ptx::Opcode::kTex) ++fetches;
    if (in.is_branch() && in.guard >= 0) ++meet[in.reconvergence];
  }
  EXPECT_EQ(loads, GetParam().loads);
  EXPECT_EQ(stores, GetParam().stores);
  EXPECT_EQ(fetches, GetParam().fetches);
  const auto common = std::max_element(meet.begin(), meet.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
  EXPECT_EQ(common->second, 4) << "end of the text, no child, end of the edge, mismatch";
  const ptx::Opcode there = program.code[common->first].op;
  EXPECT_TRUE(common->first > last_load || there == ptx::Opcode::kTex) << "behind both loops, at the link";
  EXPECT_NE(there, ptx::Opcode::kRet);
}
// As Rodinia ships it: length and address of a read, text 2, reference; a result where a search stops;
// children, node, suffix link. In arrays: text 2, children 4, a node's begin and end, reference, suffix link.
INSTANTIATE_TEST_SUITE_P(All, MummerGpu,
                         ::testing::Values(Matching{"match_reads", 5, 2, 3},
                                           Matching{"match_reads_in_arrays", 10, 1, 0}),
                         [](const auto& info) { return info.param.kernel; });

// Variants whose loads and stores stand in the code more often, or less: what an ignore list sees of them.
struct Variant {
  std::string workload, size, kernel;
  int accesses;
};
class VariantTest : public ::testing::TestWithParam<Variant> {};
TEST_P(VariantTest, HasItsLoadsAndStoresAndGivesTheResult) {
  const Variant& variant = GetParam();
  const Code code = find(variant.workload)->code();
  const ptx::Program program = ptx::decode(ptx::parse(code.ptx, code.file), variant.kernel, {});
  const auto accesses =
      std::count_if(program.code.begin(), program.code.end(), [](const ptx::Instruction& in) {
        return (in.op == ptx::Opcode::kLd || in.op == ptx::Opcode::kSt) && in.space == ptx::Space::kGlobal;
      });
  EXPECT_EQ(accesses, variant.accesses);
  expect_result(variant.workload, "dwr", variant.size);
}
INSTANTIATE_TEST_SUITE_P(
    All, VariantTest,
    ::testing::Values(Variant{"nearest_neighbor", "small,reread=1", "distances_of_lines_reread", 10 * 4 + 1},
                      Variant{"mummer_gpu_plus", "small,textures=0,unrolled=1", "match_reads_unrolled",
                              26 * 2 + 2},
                      Variant{"needleman_wunsch", "small,rolled=1", "upper_left_rolled", 5}),
    [](const auto& info) { return info.param.kernel; });

TEST(Code, TakesItsCompilerFromThePtx) {
  const test::Folder folder;
  const auto compiler = [&](const std::string& text) {
    return code_of_file(folder.write("code.ptx", text), "").compiler;
  };
  EXPECT_EQ(compiler("//\n// Generated by NVIDIA NVVM Compiler\n//\n// Cuda compilation tools, release 13.0, "
                     "V13.0.88\n"),
            "Cuda compilation tools, release 13.0, V13.0.88");
  EXPECT_EQ(compiler("//\n// Generated by LLVM NVPTX Back-End\n//\n.version 4.2\n"),
            "Generated by LLVM NVPTX Back-End");
  EXPECT_EQ(compiler(".version 4.2\n"), "unknown");
}

// A verdict is worth something only if it can be bad: each workload with kernels of the right parameters that
// do nothing.
std::string with_empty_kernels(std::string ptx) {
  std::size_t at = 0;
  while ((at = ptx.find(".entry", at)) != std::string::npos) {
    const auto body = ptx.find("{\n", at), end = ptx.find("\n}\n", body);
    if (body == std::string::npos || end == std::string::npos) break;
    ptx.replace(body, end + 3 - body, "{ ret; }\n");
    at = body;
  }
  return ptx;
}

class WrongKernel : public ::testing::TestWithParam<std::string> {};
TEST_P(WrongKernel, IsNoticed) {
  const auto workload = find(GetParam());
  Code code = workload->code();
  code.ptx = with_empty_kernels(code.ptx);
  runtime::Device device(load_config("gtx480", {"sm.count=2"}), {});
  const Result result = workload->run(device, values_of(*workload, "small"), code);
  EXPECT_FALSE(result.verified);
  EXPECT_THAT(result.message, HasSubstr("differ first at"));
}
INSTANTIATE_TEST_SUITE_P(All, WrongKernel, ::testing::ValuesIn(names()),
                         [](const auto& info) { return info.param; });

class SmallSize : public ::testing::TestWithParam<std::string> {};
TEST_P(SmallSize, GivesTheResult) {
  expect_result(GetParam(), "sbr");
}
TEST(Datapaths, OneLaneOfAllTheWidthIsSpatial) {
  for (const char* name : {"vector_add", "bfs", "reduction", "needleman_wunsch", "scan"})
    expect_one_lane_to_be_spatial(name);
}
INSTANTIATE_TEST_SUITE_P(All, SmallSize, ::testing::ValuesIn(names()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace weft::workloads
