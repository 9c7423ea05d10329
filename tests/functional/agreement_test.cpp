// What PTX leaves to the machine, or what is easily got wrong: addresses that wrap, shuffles from threads
// that do not take part, reserved shared memory. Timed, functional and checked runs and the interpreter
// agree, and with what is written here.
#include <gtest/gtest.h>

#include <cstring>
#include <sstream>

#include "default_addresses.h"
#include "interpreter/interpreter.h"
#include "platform/gpu_bench.h"
#include "weft/common/error.h"
#include "weft/memory/memory_image.h"
#include "weft/runtime/arguments.h"

namespace weft::test {
namespace {

using Words = std::vector<std::uint32_t>;

constexpr std::uint64_t kSeen = 1u << 16;  // bytes of device memory that the interpreter sees

std::string text_of(const Words& words) {
  std::ostringstream out;
  for (const std::uint32_t word : words) out << word << " ";
  return out.str();
}

// The words of `out` after kernel "k" of one argument, by each of those that execute it.
struct Results {
  std::string interpreter, functional, checked, scoreboard, barrel;
};

std::string run_on_device(const std::string& text, std::uint32_t threads, unsigned words, bool functional,
                          const std::string& dependence, bool checked) {
  return apart([&] {
    runtime::DeviceOptions options;
    options.functional.all = functional;
    options.check.memory = options.check.race = options.check.warp = checked;
    GpuBench bench({"sm.count=1", "dram.bytes=268435456", "sm.dependence=" + dependence}, "gtx480", options);
    bench.load(text);
    const auto out = bench.zeros(words * 4);
    bench.run({1, 1, 1}, {threads, 1, 1}, runtime::Arguments().add(out));
    return text_of(bench.read(out, words));
  });
}

std::string run_interpreted(const std::string& text, std::uint32_t threads, unsigned words) {
  return apart([&] {
    GpuBench bench({"sm.count=1", "dram.bytes=268435456"});
    auto& module = bench.device.load_module(text, "k.ptx");
    const ptx::Program& program = bench.device.program(module, "k");
    const auto out = bench.zeros(words * 4);
    const std::uint8_t* const image = bench.device.gpu().memory().data();
    std::vector<std::uint8_t> memory(image, image + kSeen);
    Launch launch;
    launch.program = &program;
    launch.block = {threads, 1, 1};
    launch.parameters = runtime::lay_out(runtime::Arguments().add(out), program);
    Interpreter(memory, kDeviceBase).run(launch);
    Words got(words);
    std::memcpy(got.data(), memory.data() + (out - kDeviceBase), words * 4);
    return text_of(got);
  });
}

// All execute the kernel; `want` is the word that index i gets.
void expect(const std::string& text, std::uint32_t threads, const Words& want) {
  const auto words = static_cast<unsigned>(want.size());
  const std::string expected = text_of(want);
  EXPECT_EQ(run_interpreted(text, threads, words), expected) << "interpreter";
  EXPECT_EQ(run_on_device(text, threads, words, true, "scoreboard", false), expected) << "functional";
  EXPECT_EQ(run_on_device(text, threads, words, true, "scoreboard", true), expected) << "functional, checked";
  EXPECT_EQ(run_on_device(text, threads, words, false, "scoreboard", false), expected) << "scoreboard";
  EXPECT_EQ(run_on_device(text, threads, words, false, "barrel", false), expected) << "barrel";
}

std::string kernel(const std::string& variables, const std::string& body) {
  return ".version 7.6\n.target sm_80\n.address_size 64\n" + variables +
         "\n.visible .entry k(.param .u64 out) {\n.reg .pred %p<8>; .reg .b32 %r<64>; .reg .b64 %rd<32>;\n"
         "ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x;\n" +
         body + "\nret;\n}\n";
}

// Register plus immediate modulo 2^32 in shared, local, constant and parameter memory, whatever the width of
// the register; the registers hold negative numbers, or rubbish in their upper half.
TEST(Agreement, AddressesOf32BitsWrap) {
  constexpr std::uint32_t kThreads = 40, kResults = 11;
  const std::string text = kernel(R"(.const .align 4 .u32 table[4] = {11, 22, 33, 44};
.global .align 4 .u32 numbers[2] = {5, 6};)",
                                  R"(
  .shared .align 16 .b8 box[640];
  .local .align 8 .b8 mine[64];
  shl.b32 %r2, %r1, 4;
  mov.u32 %r3, box;
  add.u32 %r2, %r2, %r3;
  add.s32 %r4, %r2, -1040;           // below 0 for all threads
  add.u32 %r5, %r1, 100;
  st.shared.u32 [%r4+1040], %r5;
  st.shared.v2.u32 [%r4+1048], {%r1, %r5};
  ld.shared.u32 %r10, [%r4+1040];    // 100 + t
  ld.shared.v2.u32 {%r11, %r12}, [%r4+1048];
  cvt.u64.u32 %rd2, %r4;
  or.b64 %rd2, %rd2, 0x1234500000000;
  ld.shared.u32 %r13, [%rd2+1052];   // 100 + t
  atom.shared.add.u32 %r14, [%r4+1040], 7;      // 100 + t
  red.shared.add.u32 [%rd2+1040], 1;
  atom.shared.cas.b32 %r15, [%rd2+1040], 0, 1;  // 108 + t
  mov.u32 %r6, -64;
  mov.u32 %r7, mine;
  add.u32 %r6, %r6, %r7;
  st.local.u32 [%r6+72], %r5;
  cvt.s64.s32 %rd3, %r6;
  ld.local.u32 %r16, [%rd3+72];      // 100 + t
  mov.u64 %rd4, table;
  cvt.u32.u64 %r8, %rd4;
  add.s32 %r8, %r8, -64;
  ld.const.u32 %r17, [%r8+68];       // 22
  cvt.s64.s32 %rd5, %r8;
  ld.const.u32 %r18, [%rd5+72];      // 33
  mov.u32 %r9, -32;
  ld.param.u64 %rd6, [%r9+32];
  sub.u64 %rd6, %rd6, %rd1;
  cvt.u32.u64 %r19, %rd6;            // 0
  mov.u64 %rd8, numbers;
  cp.async.ca.shared.global [%r4+1044], [%rd8+4], 4;
  cp.async.wait_all;
  ld.shared.u32 %r20, [%r4+1044];    // 6
  mul.wide.u32 %rd7, %r1, 44;
  add.u64 %rd7, %rd7, %rd1;
  st.global.u32 [%rd7], %r10;
  st.global.u32 [%rd7+4], %r11;
  st.global.u32 [%rd7+8], %r12;
  st.global.u32 [%rd7+12], %r13;
  st.global.u32 [%rd7+16], %r14;
  st.global.u32 [%rd7+20], %r15;
  st.global.u32 [%rd7+24], %r16;
  st.global.u32 [%rd7+28], %r17;
  st.global.u32 [%rd7+32], %r18;
  st.global.u32 [%rd7+36], %r19;
  st.global.u32 [%rd7+40], %r20;
)");
  Words want;
  for (std::uint32_t t = 0; t < kThreads; ++t) {
    for (const std::uint32_t word :
         {100 + t, t, 100 + t, 100 + t, 100 + t, 108 + t, 100 + t, 22u, 33u, 0u, 6u})
      want.push_back(word);
  }
  ASSERT_EQ(want.size(), std::size_t{kThreads} * kResults);
  expect(text, kThreads, want);
}

// What wraps to a place outside faults as ever, with the address modulo 2^32.
TEST(Agreement, AWrappedAddressOutsideFaults) {
  for (const bool functional : {false, true}) {
    const std::string fault = apart([&]() -> std::string {
      runtime::DeviceOptions options;
      options.functional.all = functional;
      GpuBench bench({"sm.count=1"}, "gtx480", options);
      bench.load(kernel("", ".shared .align 4 .b8 box[64];\nmov.u32 %r2, -4; ld.shared.u32 %r3, [%r2+68];"));
      try {
        bench.run({1, 1, 1}, {1, 1, 1}, runtime::Arguments().add(bench.zeros(4)));
      } catch (const SimulatedFault& error) {
        return error.what();
      }
      return "none";
    });
    EXPECT_NE(fault.find("load of 4 bytes at 0x40 is not in shared memory (64 bytes)"), std::string::npos)
        << fault;
  }
}

// The first warp sums after threads have left: what they would give is 0.
TEST(Agreement, ShufflesFromThreadsThatHaveExited) {
  const std::string text = kernel("", R"(
  setp.ge.u32 %p1, %r1, 8;
  @%p1 ret;
  add.u32 %r3, %r1, 1;
  shfl.sync.down.b32 %r4, %r3, 16, 31, 0xffffffff;
  add.u32 %r3, %r3, %r4;
  shfl.sync.down.b32 %r4, %r3, 8, 31, 0xffffffff;
  add.u32 %r3, %r3, %r4;
  shfl.sync.down.b32 %r4, %r3, 4, 31, 0xffffffff;
  add.u32 %r3, %r3, %r4;
  shfl.sync.down.b32 %r4, %r3, 2, 31, 0xffffffff;
  add.u32 %r3, %r3, %r4;
  shfl.sync.down.b32 %r4, %r3, 1, 31, 0xffffffff;
  add.u32 %r3, %r3, %r4;
  setp.eq.u32 %p2, %r1, 0;
  @%p2 st.global.u32 [%rd1], %r3;
)");
  expect(text, 96, {36});
}

// Lanes that the block does not have, that the mask does not name, and beyond the segment; the predicate says
// only whether the lane is inside the segment.
TEST(Agreement, ShufflesFromThreadsThatDoNotTakePart) {
  const std::string text = kernel("", R"(
  mul.wide.u32 %rd2, %r1, 16;
  add.u64 %rd2, %rd2, %rd1;
  mov.u32 %r2, %laneid;
  add.u32 %r3, %r1, 1;
  shfl.sync.bfly.b32 %r4|%p1, %r3, 16, 31, 0xffffffff;
  selp.u32 %r5, 1, 0, %p1;
  st.global.u32 [%rd2], %r4;
  st.global.u32 [%rd2+4], %r5;
  mov.u32 %r6, 77;
  setp.ge.u32 %p2, %r2, 8;
  @%p2 bra JOIN;
  shfl.sync.down.b32 %r6, %r3, 4, 31, 0xff;
  shfl.sync.up.b32 %r7, %r3, 4, 0, 0xff;
JOIN:
  bar.sync 0;
  st.global.u32 [%rd2+8], %r6;
  @%p2 mov.u32 %r7, 78;
  st.global.u32 [%rd2+12], %r7;
)");
  constexpr std::uint32_t kThreads = 40;
  Words want;
  for (std::uint32_t t = 0; t < kThreads; ++t) {
    const std::uint32_t lane = t % 32;
    want.push_back(t < 32 ? (t ^ 16) + 1 : 0);
    want.push_back(1);
    want.push_back(lane >= 8 ? 77 : lane < 4 ? t + 5 : 0);
    want.push_back(lane >= 8 ? 78 : lane < 4 ? t + 1 : t - 3);
  }
  expect(text, kThreads, want);
}

// Cooperative groups of more than one warp keep their barriers there. The block's own memory is another.
TEST(Agreement, ReservedSharedMemory) {
  const std::string text = kernel("", R"(
  .shared .align 4 .b8 box[400];
  mov.u32 %r2, %reserved_smem_offset_begin;
  mov.u32 %r3, %reserved_smem_offset_end;
  mov.u32 %r4, %reserved_smem_offset_cap;
  mov.u32 %r5, %reserved_smem_offset_0;
  mov.u32 %r6, %reserved_smem_offset_1;
  mov.u32 %r7, %total_smem_size;
  st.shared.u32 [box+396], 90;
  bar.sync 0;
  cvt.u64.u32 %rd2, %r6;
  cvta.shared.u64 %rd2, %rd2;
  red.and.release.cta.b32 [%rd2], 0;
  bar.sync 0;
  atom.or.acq_rel.cta.b32 %r8, [%rd2], 1;
  bar.sync 0;
  ld.acquire.cta.u32 %r8, [%rd2];
  st.u32 [%rd2+284], %r8;
  ld.shared.u32 %r9, [%r3+-4];
  st.global.u32 [%rd1], %r2;
  st.global.u32 [%rd1+4], %r3;
  st.global.u32 [%rd1+8], %r4;
  st.global.u32 [%rd1+12], %r5;
  st.global.u32 [%rd1+16], %r6;
  st.global.u32 [%rd1+20], %r7;
  st.global.u32 [%rd1+24], %r9;
  ld.shared.u32 %r10, [box+396];
  st.global.u32 [%rd1+28], %r10;
)");
  expect(text, 1, {512, 800, 1536, 512, 512, 400, 1, 90});
}

// It counts against the SM's shared memory, in kernels that ask for it.
TEST(Agreement, ReservedSharedMemoryNeedsRoom) {
  for (const char* name : {"%total_smem_size", "%reserved_smem_offset_1"}) {
    const std::string fault = apart([&]() -> std::string {
      GpuBench bench({"sm.count=1"});
      bench.load(kernel("", ".shared .align 4 .b8 box[49152];\nmov.u32 %r2, " + std::string(name) +
                                "; st.global.u32 [%rd1], %r2;"));
      try {
        bench.run({1, 1, 1}, {1, 1, 1}, runtime::Arguments().add(bench.zeros(4)));
      } catch (const InputError& error) {
        return error.what();
      }
      return "none";
    });
    const bool reserves = std::string(name) != "%total_smem_size";
    EXPECT_EQ(fault.find("needs 50176 bytes of shared memory, the SM has 49152") != std::string::npos,
              reserves)
        << fault;
  }
}

}  // namespace
}  // namespace weft::test
