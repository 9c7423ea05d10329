// The parts of a GPU, owned by value, how they are wired, and what happens to all of them together. gpu.h is
// what others see of them.
#ifndef WEFT_PLATFORM_GPU_PARTS_H
#define WEFT_PLATFORM_GPU_PARTS_H

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <vector>

#include "crossbar/crossbar.h"
#include "dram/dram_channel.h"
#include "functional/engine.h"
#include "host/connections.h"
#include "host/host_interface.h"
#include "l2/l2_bank.h"
#include "platform/hop_observers.h"
#include "platform/host_control.h"
#include "platform/launches.h"
#include "platform/recorders.h"
#include "platform/system_side.h"
#include "platform/untimed_runs.h"
#include "platform/watchdog.h"
#include "sm/observers/access_view.h"
#include "sm/sm.h"
#include "texture/table.h"
#include "weft/platform/gpu.h"

namespace weft {

static_assert(machine::kMostSms <= crossbar::Crossbar::kMostSms);

struct Gpu::Impl final : sm::SmListener {
  Impl(const GpuConfig& c, const Options& o, Gpu& gpu);

  std::string what_helps(const std::string& hang) const;
  void make_memory();
  std::vector<bool> far_sms(unsigned bank) const;
  void host_copied(std::uint64_t offset, std::uint64_t bytes);
  void connect();
  void exchange() { system.exchange(pages, kPageBytes); }
  void begun(const execute::Kernel& kernel, Cycle now, bool alone);
  void stop(const Fault& why, unsigned guilty = Launches::kNoSm);
  void hang(const Fault& why);
  Fault run_untimed(execute::Kernel& kernel);
  void run_untimed(const std::shared_ptr<execute::Kernel>& kernel, std::function<void(const Fault&)> ended);
  void bind();
  void reset();
  void archive(Archive& archive);
  void settle() {
    for (auto& sm : sms) sm.settle();
  }
  void block_retired(unsigned sm) override { launches.dispatcher().block_retired(sm); }
  void registers_freed(unsigned) override { launches.dispatcher().poke(); }
  void sm_drained(unsigned) override { launches.dispatcher().poke(); }
  void faulted(unsigned sm, const Fault& why) override {
    if (!launches.end_contained(why, sm)) stop(why, sm);
  }

  execute::DeviceMemoryView untimed_view() {
    exchange();
    execute::DeviceMemoryView memory = view();
    memory.image = image.data();
    memory.untimed = true;
    return memory;
  }
  execute::DeviceMemoryView view() const {
    unsigned char* const bytes = system.has_carve_out() ? image.data() : nullptr;
    return {bytes, device_base, image.bytes(), pages.data(), 12, services, &objects, windows, false};
  }

  execute::DeviceMemoryView with_services(execute::DeviceMemoryView memory, const execute::Kernel& kernel);

  const GpuConfig config;
  const Options options;
  const std::uint64_t device_base = config.sm.addresses.device_base;
  ClockDomain memory_clock, interconnect_clock, core;
  memory::MemoryImage image;
  const memory::ChannelMap map;
  std::deque<dram::DramChannel> channels;
  std::deque<l2::L2Bank> l2;
  SystemSide system;
  execute::SystemMemory* const windows;  // nullptr: kernels reach none
  crossbar::Crossbar crossbar;
  HostControl host_control;
  host::Connections connections;
  host::HostInterface host;
  std::deque<sm::Sm> sms;
  std::deque<sm::AccessView> views;  // by SM
  HopObservers observers;
  Launches launches;
  Watchdog watchdog;
  statistics::Group tree;
  statistics::Columns columns;  // of all SMs together
  measures::TreeReadings derived;
  Recorders recorders;  // after the parts that they look at
  execute::DeviceServices* services = nullptr;
  std::vector<std::uint8_t> pages;  // per page of device memory: allocated?
  texture::Table objects;
  execute::OperationTables operation_tables;
  execute::AccessObserver* observer = nullptr;
  functional::Engine engine;
  UntimedRuns untimed{"untimed"};
  std::function<bool()> interrupted;
  std::function<void()> rests;
  Fault fault;
  sc_core::sc_event idle;

 private:
  std::deque<sm::Sm>& make_sms() {
    for (unsigned i = 0; i < config.sm.count; ++i) {
      const std::string name = "sm" + std::to_string(i);
      sms.emplace_back(name.c_str(), i, config.sm, config.warp_formation, core, *this);
    }
    return sms;
  }
};

}  // namespace weft

#endif
