// Runs kernels without timing, for validation and to get past launches that are of no interest.
//
//   functional::Engine engine(config.sm, config.clocks.core_mhz);
//   const Fault fault = engine.run(launch, warp_size, gpu.memory_view(), [] { return false; });
//
// Thread blocks run one after the other, with the registers, shared memory and lane functions of an SM
// (sm::Executor), and leave the memory image that a timed run leaves. Warps are 32 threads, whatever the
// machine's warp size. A warp runs until it waits, has exited, or its turn is over; then comes the next one
// of its block. %clock counts warp instructions; %smid is 0.
#ifndef WEFT_FUNCTIONAL_ENGINE_H
#define WEFT_FUNCTIONAL_ENGINE_H

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "common/fault.h"
#include "functional/memory_access.h"
#include "functional/micro_op.h"
#include "functional/spin_detector.h"
#include "functional/warp_paths.h"
#include "sm/block_barrier.h"
#include "sm/executor.h"
#include "sm/kernel.h"
#include "sm/register_file.h"
#include "sm/warp_gatherings.h"

namespace weft::functional {

// What has been executed since construction or reset.
struct Counters {
  std::uint64_t launches = 0, blocks = 0;
  std::uint64_t warp_instructions = 0;
  std::uint64_t thread_instructions = 0;  // threads of the issue mask, whether or not a guard holds
  // Mean of active threads / 32 over warp instructions.
  double simd_efficiency() const {
    return warp_instructions == 0
               ? 0
               : static_cast<double>(thread_instructions) / (32.0 * static_cast<double>(warp_instructions));
  }
};

class Engine {
 public:
  // Asked a few thousand times per second; true abandons the launch.
  using Interrupted = std::function<bool()>;

  Engine(const sm::Config& config, double core_megahertz);

  // Runs all blocks of the launch. Returns the fault, if any; it leaves memory as it was at that instant.
  // `interrupted` ends the run early, with `was_interrupted` set, and so does the limit.
  Fault run(const dispatch::Launch& launch, std::uint64_t warp_size, const sm::DeviceMemoryView& memory,
            const Interrupted& interrupted);
  bool was_interrupted() const { return was_interrupted_; }
  // Launches end with the turn of a warp in which counters().thread_instructions reaches so many. Turns get
  // shorter towards it.
  void limit(std::uint64_t thread_instructions) { limit_ = thread_instructions; }

  // Shows accesses and barriers to `observer`; nullptr: to nobody. Slower: memory goes through sm::Executor
  // then.
  void observe(sm::AccessObserver* observer) {
    observer_ = observer;
    executor_.observe(observer);
    memory_.set_observed(observer != nullptr);
  }
  const Counters& counters() const { return counters_; }
  void reset() { counters_ = {}; }

 private:
  void start_block(std::uint64_t number);
  void run_block(const Interrupted& interrupted);
  bool run_warp(unsigned chunk);
  std::int64_t turn_length() const;
  void run_path(unsigned chunk, Path& path, ptx::Pc limit);
  void run_predicates(const MicroOp& op, const sm::Operation& operation, unsigned chunk,
                      std::uint32_t active);
  void spread(ptx::Pc pc, unsigned chunk, Path& path, std::uint32_t active);
  // engine_sync.cpp
  void arrive(ptx::Pc pc, unsigned chunk, Path& path, std::uint32_t lanes);
  std::string arrive_at(const sm::Operation& op, unsigned chunk, std::uint32_t lanes, std::uint32_t number,
                        std::uint32_t count);
  void test_barriers();
  void across(ptx::Pc pc, unsigned chunk, Path& path, std::uint32_t lanes);
  void test_gatherings();
  void synchronised(const sm::Operation& op, unsigned chunk, std::uint32_t lanes);
  void exit_threads(unsigned chunk, std::uint32_t lanes);

  void stop(const Fault& fault);
  std::string deadlock() const;
  std::string livelock() const;

  const sm::Config& config_;
  sm::RegisterFile registers_;
  sm::Executor executor_;
  MemoryAccess memory_;
  const sm::Kernel* kernel_ = nullptr;
  std::vector<MicroOp> ops_;
  sm::ResidentBlock block_;
  std::vector<WarpPaths> warps_;
  std::vector<std::uint8_t> favour_last_;  // by warp: whether its next turn is for its last path
  std::array<sm::BlockBarrier, sm::BlockBarrier::kPerBlock> barriers_;
  sm::WarpGatherings gatherings_;
  std::vector<std::uint32_t> live_;  // threads that have not exited, by warp
  std::int64_t turn_ = 0;            // instructions left, tested at control instructions
  bool stopped_ = false, was_interrupted_ = false;
  Fault fault_;
  sm::AccessObserver* observer_ = nullptr;
  Counters counters_;
  std::uint64_t limit_ = UINT64_MAX;
  SpinDetector spin_;
};

}  // namespace weft::functional

#endif
