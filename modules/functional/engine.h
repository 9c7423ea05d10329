// Runs kernels without timing, for validation and to get past launches that are of no interest.
//
//   functional::Engine engine(config.sm, config.clocks.core_mhz);
//   const Fault fault = engine.run(kernel, gpu.memory_view(), [] { return false; });
//
// Thread blocks run one after the other, with the registers, shared memory and lane functions of an SM
// (execute::Executor), and leave the memory image that a timed run leaves. Warps are 32 threads, whatever the
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

#include "execute/executor.h"
#include "execute/kernel.h"
#include "execute/register_file.h"
#include "execute/synchroniser.h"
#include "functional/memory_access.h"
#include "functional/micro_op.h"
#include "functional/spin_detector.h"
#include "functional/warp_paths.h"
#include "weft/common/fault.h"
#include "weft/functional/counters.h"

namespace weft::functional {

class Engine final : private execute::Synchroniser::Runner {
 public:
  // Asked a few thousand times per second; true abandons the launch.
  using Interrupted = std::function<bool()>;

  Engine(const machine::SmConfig& config, double core_megahertz);

  // Runs all blocks of the kernel, whose occupancy becomes one block. Returns the fault, if any; it leaves
  // memory as it was at that instant. `interrupted` ends the run early, with `was_interrupted` set, and so
  // does the limit.
  Fault run(execute::Kernel& kernel, const execute::DeviceMemoryView& memory, const Interrupted& interrupted);
  bool was_interrupted() const { return was_interrupted_; }
  // Launches end with the turn of a warp in which counters().thread_instructions reaches so many. Turns get
  // shorter towards it.
  void limit(std::uint64_t thread_instructions) { limit_ = thread_instructions; }

  // Shows accesses and barriers to `observer`; nullptr: to nobody. Slower: memory goes through
  // execute::Executor then.
  void observe(execute::AccessObserver* observer) {
    observer_ = observer;
    executor_.observe(observer);
    synchroniser_.observe(observer);
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
  void run_predicates(const MicroOp& op, const execute::Operation& operation, unsigned chunk,
                      std::uint32_t active);
  void spread(ptx::Pc pc, unsigned chunk, Path& path, std::uint32_t active);
  // engine_sync.cpp
  void arrive(ptx::Pc pc, unsigned chunk, Path& path, std::uint32_t lanes);
  void across(ptx::Pc pc, unsigned chunk, Path& path, std::uint32_t lanes);
  void barrier_opened(const execute::ResidentBlock& block, unsigned barrier) override;
  void gathered(const execute::ResidentBlock& block, unsigned chunk, std::uint32_t lanes) override;
  void release_gatherings();
  void exit_threads(unsigned chunk, std::uint32_t lanes);

  void stop(const Fault& fault);
  std::string deadlock() const;
  std::string livelock() const;

  execute::RegisterFile registers_;
  execute::Executor executor_;
  MemoryAccess memory_;
  const execute::Kernel* kernel_ = nullptr;
  std::vector<MicroOp> ops_;
  std::vector<execute::ResidentBlock> blocks_;  // one slot
  execute::ResidentBlock& block_ = blocks_[0];
  execute::Synchroniser synchroniser_;
  std::vector<WarpPaths> warps_;
  std::vector<std::uint8_t> favour_last_;  // by warp: whether its next turn is for its last path
  std::int64_t turn_ = 0;                  // instructions left, tested at control instructions
  bool stopped_ = false, was_interrupted_ = false;
  Fault fault_;
  execute::AccessObserver* observer_ = nullptr;
  Counters counters_;
  std::uint64_t limit_ = UINT64_MAX;
  SpinDetector spin_;
};

}  // namespace weft::functional

#endif
