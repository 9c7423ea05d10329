// Every legal combination of lane width, locks, forwarding, instruction register and compaction runs a kernel
// that uses all units, and leaves the memory that the run without timing leaves. Under AddressSanitizer it
// finds accesses outside of the lanes' tables, which a run may survive without a wrong result.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "platform/gpu_bench.h"
#include "runtime/images.h"
#include "weft/common/error.h"

namespace weft::test::lane_matrix_test {
namespace {

constexpr std::uint32_t kBlocks = 5, kThreads = 84;  // two full warps and one of 20 threads
constexpr std::uint32_t kBins = 64, kWords = kBlocks * kThreads + kBins, kInput = 1024, kTexels = 512;

// k(.u64 out, .u64 in, .u64 texture): threads go through a loop of 0 to 15 turns, each on one of four ways:
// shared memory (elements of 4, 8 and 16 bytes, conflicts, atomics), special functions, textures, global
// memory. Then they exchange words in shared memory and in their warp, and some exit before they write.
std::string kernel() {
  return kernel_text(".param .u64 out, .param .u64 in, .param .u64 texture", R"(
  .shared .align 16 .b8 box[2048];
  .shared .align 4 .b8 bins[256];
  ld.param.u64 %rd1, [out]; ld.param.u64 %rd4, [in]; ld.param.u64 %rd3, [texture];
  mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x;
  mad.lo.u32 %r5, %r3, %r4, %r2;
  mov.u32 %r20, bins; mov.u32 %r21, box;
  shl.b32 %r6, %r2, 2;
  add.u32 %r7, %r20, %r6;
  mov.u32 %r8, 0;
  setp.lt.u32 %p1, %r2, 64;
  @%p1 st.shared.u32 [%r7], %r8;
  bar.sync 0;
  mul.lo.u32 %r10, %r5, 2654435761;
  shr.u32 %r11, %r10, 28;
  mov.u32 %r1, %r5;
LOOP:
  setp.eq.u32 %p2, %r11, 0;
  @%p2 bra OUT;
  mad.lo.u32 %r10, %r10, 1664525, 1013904223;
  and.b32 %r9, %r10, 4096;
  setp.ne.u32 %p4, %r9, 0;
  shr.u32 %r12, %r10, 30;
  setp.eq.u32 %p3, %r12, 0; @%p3 bra SHARED;
  setp.eq.u32 %p3, %r12, 1; @%p3 bra SPECIAL;
  setp.eq.u32 %p3, %r12, 2; @%p3 bra TEXTURE;
  shr.u32 %r13, %r10, 20; and.b32 %r13, %r13, 1023;
  mul.wide.u32 %rd2, %r13, 4; add.u64 %rd2, %rd4, %rd2;
  ld.global.u32 %r14, [%rd2];
  add.u32 %r1, %r1, %r14;
  bra JOIN;
SHARED:
  shl.b32 %r13, %r2, 4; add.u32 %r13, %r13, %r21;
  st.shared.v4.u32 [%r13], {%r10, %r11, %r5, %r1};
  ld.shared.u64 %rd5, [%r13];
  @%p4 ld.shared.u32 %r1, [%r13+8];
  cvt.u32.u64 %r14, %rd5;
  xor.b32 %r1, %r1, %r14;
  shr.u32 %r14, %r10, 24; and.b32 %r14, %r14, 60;
  add.u32 %r14, %r14, %r20;
  red.shared.add.u32 [%r14], 1;
  bra JOIN;
SPECIAL:
  and.b32 %r13, %r10, 1023; add.u32 %r13, %r13, 1;
  cvt.rn.f32.u32 %f1, %r13;
  sin.approx.f32 %f2, %f1;
  @%p4 rcp.approx.f32 %f2, %f1;
  lg2.approx.f32 %f3, %f1;
  div.rn.f32 %f2, %f2, %f3;
  mov.b32 %r14, %f2;
  rem.u32 %r15, %r10, %r13;
  add.u32 %r1, %r1, %r14; xor.b32 %r1, %r1, %r15;
  bra JOIN;
TEXTURE:
  and.b32 %r13, %r10, 511;
  tex.1d.v4.s32.s32 {%r14, %r15, %r16, %r17}, [%rd3, {%r13}];
  add.u32 %r1, %r1, %r14;
  @%p4 tex.1d.v4.s32.s32 {%r14, %r15, %r16, %r17}, [%rd3, {%r2}];
  xor.b32 %r1, %r1, %r14;
JOIN:
  sub.u32 %r11, %r11, 1;
  bra LOOP;
OUT:
  bar.sync 0;
  add.u32 %r6, %r6, %r21;
  st.shared.u32 [%r6], %r1;
  bar.sync 0;
  xor.b32 %r13, %r2, 1; shl.b32 %r13, %r13, 2; add.u32 %r13, %r13, %r21;
  ld.shared.u32 %r14, [%r13];
  mad.lo.u32 %r1, %r1, 3, %r14;
  setp.ge.u32 %p5, %r2, 64;
  selp.b32 %r15, 0xfffff, 0xffffffff, %p5;
  shfl.sync.bfly.b32 %r16, %r1, 2, 31, %r15;
  add.u32 %r1, %r1, %r16;
  mul.wide.u32 %rd2, %r2, 4; add.u64 %rd2, %rd1, %rd2;
  @%p1 ld.shared.u32 %r14, [%r7];
  @%p1 red.global.add.u32 [%rd2], %r14;
  and.b32 %r13, %r10, 65536;
  setp.eq.u32 %p6, %r13, 0;
  @%p6 exit;
  mul.wide.u32 %rd2, %r5, 4; add.u64 %rd2, %rd1, %rd2;
  st.global.u32 [%rd2+256], %r1;
  ret;)");
}

// The words that the kernel leaves.
std::string memory(GpuBench& bench) {
  std::vector<std::uint32_t> values(kInput), texels(kTexels);
  for (std::uint32_t i = 0; i < kInput; ++i) values[i] = i * i + 1;
  for (std::uint32_t i = 0; i < kTexels; ++i) texels[i] = i * 2654435761u;
  texture::Image image = texture::linear_image({texture::ChannelKind::kSigned, 32, 1}, kTexels);
  image.address = bench.words(texels);
  const runtime::Object texture = runtime::create_texture(bench.device, {image, {}});
  const runtime::Address in = bench.words(values), out = bench.zeros(kWords * 4);
  bench.load(kernel());
  bench.run({kBlocks, 1, 1}, {kThreads, 1, 1}, runtime::Arguments().add(out).add(in).add(texture));
  return nlohmann::json(bench.read(out, kWords)).dump();
}

std::string expected() {
  return apart([] {
    runtime::DeviceOptions options;
    options.functional.all = true;
    GpuBench bench({"sm.count=1"}, "stsimt", options);
    return memory(bench);
  });
}

// What the SM says of its lanes adds up.
void expect_sums(const nlohmann::ordered_json& sm, unsigned lanes) {
  std::uint64_t issues = 0, threads = 0, executed = 0;
  for (unsigned i = 0; i < lanes; ++i) {
    const auto& lane = sm.at("lane" + std::to_string(i));
    issues += lane.at("issues").get<std::uint64_t>();
    threads += lane.at("thread_instructions").get<std::uint64_t>();
    executed += lane.at("executed_thread_instructions").get<std::uint64_t>();
  }
  EXPECT_EQ(issues, sm.at("warp_instructions"));
  EXPECT_EQ(threads, sm.at("thread_instructions"));
  EXPECT_EQ(executed, sm.at("executed_thread_instructions"));
  const auto all = [&](const char* name) { return sm.at("lanes").at(name).get<std::uint64_t>(); };
  EXPECT_GT(all("dynamic_lane_cycles"), 0u);
  EXPECT_LE(all("dynamic_lane_cycles"), all("static_lane_cycles"));
  EXPECT_LE(all("static_lane_cycles"), all("resident_warp_cycles"));
  EXPECT_LE(all("static_lane_cycles"), all("cycles") * lanes);
}

class LaneMatrix : public ::testing::TestWithParam<unsigned> {};

TEST_P(LaneMatrix, LeavesTheMemoryOfARunWithoutTiming) {
  const unsigned width = GetParam();
  const std::string right = expected();
  const auto words = nlohmann::json::parse(right).get<std::vector<std::uint32_t>>();
  EXPECT_GT(std::set<std::uint32_t>(words.begin(), words.end()).size(), kWords / 3);
  unsigned ran = 0, refused = 0;
  std::vector<std::vector<std::string>> combinations = {{}};
  const std::vector<std::vector<std::string>> choices = {
      {"locked=true", "locked=false"},
      {"forwarding=place", "forwarding=warp"},
      {"instruction_register=lane", "instruction_register=unit"},
      {"compaction=none", "compaction=bcc", "compaction=scc"}};
  for (const std::vector<std::string>& values : choices) {
    std::vector<std::vector<std::string>> longer;
    for (const std::vector<std::string>& settings : combinations) {
      for (const std::string& value : values) {
        longer.push_back(settings);
        longer.back().push_back("datapath." + value);
      }
    }
    combinations.swap(longer);
  }
  for (std::vector<std::string> settings : combinations) {
    settings.insert(settings.end(),
                    {"sm.count=1", "datapath.kind=temporal", "datapath.lane_width=" + std::to_string(width)});
    try {
      load_config("stsimt", settings);
    } catch (const InputError&) {
      ++refused;
      continue;
    }
    ++ran;
    for (const bool observed : {false, true}) {
      SCOPED_TRACE(nlohmann::json(settings).dump() + (observed ? " observed" : ""));
      const std::string left = apart([&] {
        std::vector<std::string> all = settings;
        if (observed) all.emplace_back("sm.observe.lanes=true");
        GpuBench bench(all, "stsimt");
        const std::string text = memory(bench);
        if (observed) expect_sums(bench.statistics().at("sm0"), 8 / width);
        return text;
      });
      EXPECT_EQ(left, right);
    }
  }
  // Refused: compaction scc.
  EXPECT_EQ(ran, 16u);
  EXPECT_EQ(refused, 8u);
}

INSTANTIATE_TEST_SUITE_P(Widths, LaneMatrix, ::testing::Values(1u, 2u, 4u, 8u));

}  // namespace
}  // namespace weft::test::lane_matrix_test
