// Nothing is allocated per cycle, instruction or transaction: a launch five times as long allocates no more.
#ifndef __SANITIZE_ADDRESS__  // AddressSanitizer has allocation functions of its own
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "folder.h"
#include "platform/gpu_bench.h"

// Inlined, a replaced operator delete looks to g++ like free() of what the standard operator new returned.
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"

// NOLINTBEGIN(cppcoreguidelines-no-malloc): this is where memory comes from
namespace {
std::atomic<std::uint64_t> allocations{0};

void* counted(std::size_t bytes, std::size_t align) {
  ++allocations;
  void* p = align == 0 ? std::malloc(bytes) : std::aligned_alloc(align, (bytes + align - 1) / align * align);
  if (p == nullptr) throw std::bad_alloc();
  return p;
}
}  // namespace

void* operator new(std::size_t bytes) {
  return counted(bytes, 0);
}
void* operator new[](std::size_t bytes) {
  return counted(bytes, 0);
}
void* operator new(std::size_t bytes, std::align_val_t align) {
  return counted(bytes, static_cast<std::size_t>(align));
}
void* operator new[](std::size_t bytes, std::align_val_t align) {
  return counted(bytes, static_cast<std::size_t>(align));
}
void operator delete(void* p) noexcept {
  std::free(p);
}
void operator delete[](void* p) noexcept {
  std::free(p);
}
void operator delete(void* p, std::size_t) noexcept {
  std::free(p);
}
void operator delete[](void* p, std::size_t) noexcept {
  std::free(p);
}
void operator delete(void* p, std::align_val_t) noexcept {
  std::free(p);
}
void operator delete[](void* p, std::align_val_t) noexcept {
  std::free(p);
}
void operator delete(void* p, std::size_t, std::align_val_t) noexcept {
  std::free(p);
}
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept {
  std::free(p);
}
// NOLINTEND(cppcoreguidelines-no-malloc)

namespace weft::test::allocation_test {
namespace {

class Allocation : public ::testing::TestWithParam<std::string> {};

// With a timeline, events have no allocations of their own either.
void expect_none(const std::string& machine, bool timeline) {
  GpuBench bench(overrides_of(machine, {"sm.count=3"}), config_of(machine));
  const Folder folder;
  if (timeline) bench.device.gpu().recordings().write_timeline(folder.path("t"));
  const auto out = bench.zeros(1024 * 4);
  const auto data = bench.zeros(1 << 20);
  // Scattered loads, stores and atomics, shared memory, divergence.
  bench.load(looped_kernel(R"(
  mad.lo.u32 %r5, %r5, 1664525, 1013904223;
  shr.u32 %r6, %r5, 14;
  and.b32 %r6, %r6, 262140;
  cvt.u64.u32 %rd5, %r6;
  add.u64 %rd5, %rd3, %rd5;
  setp.gt.s32 %p1, %r5, 0;
  @%p1 bra ELSE;
  ld.global.u32 %r7, [%rd5];
  st.global.u32 [%rd5], %r5;
  bra JOIN;
ELSE:
  red.global.add.u32 [%rd5], 1;
  st.shared.u32 [%r9], %r5;
JOIN:
)",
                           R"(
  .shared .align 4 .b8 box[4096];
  mov.u32 %r8, box;
  shl.b32 %r9, %r2, 2;
  add.u32 %r9, %r9, %r8;
  mov.u32 %r10, %ctaid.x;
  mad.lo.u32 %r5, %r10, 7919, %r2;
)"));
  const auto allocated = [&](std::uint32_t turns) {
    const std::uint64_t before = allocations;
    bench.run({12, 1, 1}, {256, 1, 1}, runtime::Arguments().add(out).add(turns).add(data));
    return allocations - before;
  };
  // Queues and pools grow to what they need, with caches that are empty and with those that a run has left:
  // on gv100-oracle 40 more transactions are under way in the second run than in the first.
  allocated(60);
  allocated(60);
  const std::uint64_t base = allocated(12);
  const double before = bench.sum_over_sms("thread_instructions");
  const std::uint64_t longer = allocated(60);
  const double instructions = bench.sum_over_sms("thread_instructions") - before;
  EXPECT_GT(instructions, 1'000'000);
  // More transactions than ever before may be under way at some moment, and the pools keep them; what came
  // per instruction or transaction would be some hundred times as much. Threads are counted, since schemes
  // differ in how many of them one issue holds.
  EXPECT_LE(static_cast<double>(longer), static_cast<double>(base) + instructions / 12'000);
}

TEST_P(Allocation, AllocatesNothingInTheSteadyState) {
  expect_none(GetParam(), false);
}

TEST(AllocationOfTimelines, AllocatesNothingInTheSteadyState) {
  expect_none("gtx480", true);
}

INSTANTIATE_TEST_SUITE_P(Machines, Allocation, ::testing::ValuesIn(machine_names()),
                         [](const auto& info) { return test_name_of(info.param); });

}  // namespace
}  // namespace weft::test::allocation_test
#endif
