// Memory that kernels allocate themselves, and texels: --check memory and --check race know both.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "check/check_bench.h"
#include "runtime/images.h"

namespace weft::test::device_runtime_check_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

const check::Options kMemory{true, false, 16};
const check::Options kRace{false, true, 16};

// --- the device heap ---

const std::string kMalloc =
    "{ .param .b64 size; .param .b64 result; st.param.b64 [size], 24;\n"
    "call.uni (result), malloc, (size); ld.param.b64 %rd2, [result]; }\n";
const std::string kFree = "{ .param .b64 block; st.param.b64 [block], %rd2; call.uni free, (block); }\n";

// One thread per block; %r1 = block.
std::string heap_kernel(const std::string& body) {
  return R"(.version 8.0
.target sm_70
.address_size 64
.extern .func (.param .b64 result) malloc (.param .b64 size);
.extern .func free (.param .b64 block);
.visible .entry k(.param .u64 data) {
  .reg .b32 %r<8>; .reg .b64 %rd<8>;
  mov.u32 %r1, %ctaid.x;
)" + body +
         "\n  ret;\n}\n";
}

class HeapCheck : public ::testing::TestWithParam<Mode> {
 protected:
  static std::string run(const std::string& body, const check::Options& check = kMemory,
                         unsigned blocks = 2) {
    return reports_of(GetParam(), check, [&](GpuBench& bench) {
      bench.load(heap_kernel(body));
      bench.run({blocks, 1, 1}, {1, 1, 1}, runtime::Arguments().add(bench.zeros(4)));
    });
  }
};

TEST_P(HeapCheck, RightProgramsAreSilent) {
  EXPECT_EQ(run(kMalloc + "st.u64 [%rd2+16], %rd2; ld.u64 %rd3, [%rd2+16];\n" + kFree), "");
}

TEST_P(HeapCheck, BehindTheEnd) {
  // The heap rounds 24 bytes up to 32; the check does not.
  const std::string body = kMalloc + "st.u64 [%rd2+24], %rd2;\n" + kFree;
  EXPECT_THAT(run(body, kMemory, 1),
              AllOf(StartsWith("out of bounds | 1 | k: thread (0,0,0) of block (0,0,0), pc "),
                    HasSubstr(", k.ptx:11:"), HasSubstr("store of 8 bytes"),
                    HasSubstr("0 bytes after the end of allocation 2 (24 bytes at 0x"),
                    HasSubstr("malloc in launch 1)")));
}

TEST_P(HeapCheck, UseAfterFree) {
  const std::string body = kMalloc + "st.u64 [%rd2+8], %rd2;\n" + kFree + "ld.u64 %rd3, [%rd2+8];\n";
  EXPECT_THAT(run(body, kMemory, 1),
              AllOf(StartsWith("use after free | 1 | k: thread (0,0,0) of block (0,0,0), pc "),
                    HasSubstr(", k.ptx:13:"), HasSubstr("load of 8 bytes"),
                    HasSubstr("byte 8 of allocation 2 (24 bytes at 0x"),
                    HasSubstr("malloc in launch 1, freed in launch 1)")));
}

TEST_P(HeapCheck, UninitialisedAlsoWhereABlockIsUsedAgain) {
  const std::string body =
      kMalloc + "st.u64 [%rd2], %rd2;\n" + kFree + kMalloc + "ld.u64 %rd3, [%rd2];\n" + kFree;
  EXPECT_THAT(run(body, kMemory, 1),
              AllOf(StartsWith("uninitialised read | 1 | k: thread (0,0,0) of block (0,0,0), pc "),
                    HasSubstr("byte 0 of allocation 3 (24 bytes at 0x"), HasSubstr("malloc in launch 1)")));
}

// By one behind what is a multiple of the heap's own alignment.
TEST_P(HeapCheck, BehindARoundSize) {
  for (const unsigned size : {16u, 32u, 256u}) {
    std::string allocate = kMalloc;
    allocate.replace(allocate.find("24;"), 2, std::to_string(size));
    const std::string body = allocate + "mov.u64 %rd5, %rd2;\n" + allocate + "st.u32 [%rd5+" +
                             std::to_string(size) + "], %r1;\n" + kFree + "mov.u64 %rd2, %rd5;\n" + kFree;
    EXPECT_THAT(run(body, kMemory, 1),
                AllOf(StartsWith("out of bounds | 1 | "), HasSubstr("0 bytes after the end of allocation ")))
        << size;
  }
}

TEST_P(HeapCheck, WhatIsNeverFreedIsALeak) {
  EXPECT_THAT(run(kMalloc, kMemory, 3),
              AllOf(StartsWith("leak | 3 | k: pc "), HasSubstr("malloc, leak: allocation 2 (24 bytes at 0x"),
                    HasSubstr("malloc in launch 1) is never freed")));
  EXPECT_EQ(run(kMalloc, kRace, 3), "");
  EXPECT_EQ(run(kMalloc + kFree, kMemory, 3), "");
  EXPECT_THAT(run(kMalloc + kMalloc + kFree, kMemory, 1), StartsWith("leak | 1 | k: pc "));
}

// The next launch may free it; a launch that has not come to its end had no chance to.
TEST_P(HeapCheck, ALeakIsOneWhenAllIsDone) {
  const std::string keep = heap_kernel(kMalloc + "ld.param.u64 %rd4, [data]; st.global.u64 [%rd4], %rd2;");
  const std::string free = heap_kernel("ld.param.u64 %rd4, [data]; ld.global.u64 %rd2, [%rd4];\n" + kFree);
  EXPECT_EQ(reports_of(GetParam(), kMemory,
                       [&](GpuBench& bench) {
                         const auto data = bench.zeros(8);
                         for (const std::string& text : {keep, free}) {
                           bench.load(text);
                           bench.run({1, 1, 1}, {1, 1, 1}, runtime::Arguments().add(data));
                         }
                       }),
            "");
  EXPECT_THAT(run(kMalloc + "trap;", kMemory, 1), ::testing::Not(HasSubstr("leak")));
}

// Blocks after each other get the same 24 bytes; nobody shares them.
TEST_P(HeapCheck, MemoryUsedAgainDoesNotRace) {
  const std::string right = kMalloc + "st.u64 [%rd2], %rd2; ld.u64 %rd3, [%rd2];\n" + kFree;
  EXPECT_EQ(run(right, kRace, 40), "");
  // What they share is the argument.
  EXPECT_THAT(run(right + "ld.param.u64 %rd4, [data]; st.global.u32 [%rd4], %r1;", kRace, 40),
              AllOf(StartsWith("race | "), HasSubstr("allocation 1 (4 bytes")));
}

INSTANTIATE_TEST_SUITE_P(Modes, HeapCheck, ::testing::ValuesIn(kModes),
                         [](const auto& info) { return std::string(info.param.name); });

// --- textures and surfaces ---

std::string image_kernel(const std::string& body) {
  return R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 object) {
  .reg .pred %p<4>; .reg .b32 %r<16>; .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [object];
  mov.u32 %r1, %tid.x;
)" + body +
         "\n  ret;\n}\n";
}

class ImageCheck : public ::testing::TestWithParam<Mode> {
 protected:
  // Texels of u32 in linear memory: 64, or 192 if `allocated` is less than 256 bytes, the last 64 of which
  // lie in another allocation. The host has written `written`; 32 threads fetch texel `first` + thread.
  static std::string fetch(std::uint64_t allocated, std::uint64_t written, unsigned first,
                           bool freed = false) {
    return reports_of(GetParam(), kMemory, [&](GpuBench& bench) {
      bench.load(image_kernel("add.u32 %r2, %r1, " + std::to_string(first) +
                              ";\ntex.1d.v4.u32.s32 {%r4, %r5, %r6, %r7}, [%rd1, {%r2}];"));
      texture::Image image =
          texture::linear_image({texture::ChannelKind::kUnsigned, 32, 1}, allocated < 256 ? 192 : 64);
      image.address = bench.device.allocate(allocated);
      const auto other = bench.device.allocate(256);  // behind the gap
      bench.device.fill(image.address, 1, written);
      const auto object = runtime::create_texture(bench.device, {image, {}});
      if (freed) bench.device.free(image.address);
      bench.run({1, 1, 1}, {32, 1, 1}, runtime::Arguments().add(object));
      bench.device.free(other);
    });
  }
  // 32 threads store into an 8 x 8 surface at x = thread % 8; `y` sets %r3.
  static std::string store(const std::string& y, const check::Options& check) {
    return reports_of(GetParam(), check, [&](GpuBench& bench) {
      bench.load(image_kernel("and.b32 %r2, %r1, 7; shl.b32 %r2, %r2, 2;\n" + y +
                              "\nsust.b.2d.b32.trap [%rd1, {%r2, %r3}], {%r1};"));
      texture::ArrayShape shape;
      shape.format = {texture::ChannelKind::kUnsigned, 32, 1};
      shape.width = shape.height = 8;
      const texture::Image image = runtime::create_array(bench.device, shape);
      bench.run({1, 1, 1}, {32, 1, 1},
                runtime::Arguments().add(runtime::create_surface(bench.device, image)));
    });
  }
};

TEST_P(ImageCheck, FetchesOfWrittenTexelsAreSilent) {
  EXPECT_EQ(fetch(256, 256, 0), "");
  EXPECT_EQ(fetch(256, 256, 40), "") << "outside of the texture is zero, and no access";
}

TEST_P(ImageCheck, UninitialisedTexels) {
  EXPECT_THAT(fetch(256, 40, 0),
              AllOf(StartsWith("uninitialised read | 22 | k: thread (10,0,0) of block (0,0,0), pc "),
                    HasSubstr(", k.ptx:9:"), HasSubstr("texture fetch of 4 bytes"),
                    HasSubstr("byte 40 of allocation 1 (256 bytes")));
}

TEST_P(ImageCheck, ATextureLargerThanItsMemory) {
  // Texels 40 to 63 lie behind the 160 bytes; 20 to 51 are fetched.
  EXPECT_THAT(fetch(160, 160, 20),
              AllOf(StartsWith("out of bounds | 12 | k: thread (20,0,0) of block (0,0,0), pc "),
                    HasSubstr("0 bytes after the end of allocation 1 (160 bytes")));
}

TEST_P(ImageCheck, ATextureWhoseMemoryIsFreed) {
  EXPECT_THAT(fetch(256, 256, 0, true),
              AllOf(StartsWith("use after free | 32 | k: thread (0,0,0) of block (0,0,0), pc "),
                    HasSubstr("texture fetch of 4 bytes"), HasSubstr("freed after launch 0)")));
}

TEST_P(ImageCheck, StoresToOneTexelRace) {
  EXPECT_EQ(store("shr.u32 %r3, %r1, 3;", kRace), "");
  EXPECT_EQ(store("shr.u32 %r3, %r1, 3;", kMemory), "");
  EXPECT_THAT(store("shr.u32 %r3, %r1, 4;", kRace),
              AllOf(StartsWith("race | 16 | k: thread (8,0,0) of block (0,0,0), pc "),
                    HasSubstr("surface store of 4 bytes, race with the surface store of thread (0,0,0)"),
                    HasSubstr("allocation 1 (")));
}

INSTANTIATE_TEST_SUITE_P(Modes, ImageCheck, ::testing::ValuesIn(kModes),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace weft::test::device_runtime_check_test
