// The timeline of a GPU: its launches, SMs, memory and host side as tracks of one file (vcd/TIMELINE.md).
//
// Stepped last in the core domain, for counters and the host side; the SMs tell what they do themselves, to
// SmTimeline. Outside of what is selected nobody is told anything. It only reads: results and statistics are
// those of a run without it.
#ifndef WEFT_PLATFORM_TIMELINE_H
#define WEFT_PLATFORM_TIMELINE_H

#include <cstdint>
#include <deque>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "bus/clock_domain.h"
#include "common/probes.h"
#include "host/host_interface.h"
#include "platform/host_timeline.h"
#include "platform/sm_timeline.h"
#include "sm/sm.h"
#include "vcd/timeline_writer.h"
#include "weft/common/statistics.h"
#include "weft/platform/timeline_selection.h"

namespace weft {

class Timeline final : public Clocked {
 public:
  // They outlive it.
  struct Parts {
    ClockDomain& core;
    std::deque<sm::Sm>& sms;
    host::HostInterface& host;
    const Probes& probes;
    const statistics::Group& statistics;
    LaunchTimes& launch_times;
    std::function<bool()> busy;  // anything may still change at the next edge
  };

  // Registers itself with the core clock: create it after all other parts and before the simulation starts.
  // Throws InputError if the file cannot be written, or nothing is selected.
  Timeline(Parts parts, const std::string& file, TimelineSelection selection);

  // From the dispatcher's step.
  void launch_began(const execute::Kernel& kernel, std::uint64_t number, Cycle first);
  void launch_ended(const execute::Kernel& kernel, Cycle last);
  // Something begins.
  void wake();
  // The GPU is about to be reset.
  void reset();
  // Ends it. Throws InputError if the file could not be written to its end; says so once.
  void close();
  // Why it ends before its time, if the file has reached its size; else empty. After close().
  std::string ended_early() const;

  Cycle step(Cycle now) override;

 private:
  using Writer = vcd::TimelineWriter;
  struct Counter {
    Writer::Track track = 0;
    std::function<std::uint64_t(Cycle now)> read;
    std::uint64_t last = ~std::uint64_t{0};
  };
  struct Launch {
    const execute::Kernel* kernel = nullptr;
    std::uint64_t number = 0;
    Cycle first = 0;
    Writer::Track track = 0;
    bool shown = false;
  };

  void check(const std::string& file) const;
  bool chosen(unsigned sm) const;
  void add_counter(const std::string& name, const std::string& unit, Writer::Track group, Probes::Read read);
  void add_signal(const std::string& name, const std::string& unit, Writer::Track group,
                  const std::string& signal);
  void add_sum(const std::string& name, const std::string& unit, Writer::Track group,
               const statistics::Group& counters, std::initializer_list<const char*> names);
  void add_sm(unsigned sm, Writer::Track group);
  void add_memory();
  Writer::Track queue_track(std::uint32_t queue);
  void start(Cycle first);
  void stop(Cycle end);
  void show(Launch& launch, Cycle from);
  void count(Cycle now);
  bool waits_for_launch() const { return launches_ < selection_.first_launch; }

  const Parts parts_;
  const TimelineSelection selection_;
  Writer writer_;
  SmTimeline::Shared shared_;
  const std::size_t index_;
  std::deque<SmTimeline> sms_;
  std::deque<HostTimeline> host_;  // one
  std::vector<Counter> counters_;
  std::vector<std::pair<std::uint32_t, Writer::Track>> queues_;
  std::vector<Launch> running_;
  Writer::Track launch_group_ = 0;
  Writer::Category launch_category_ = 0;
  Writer::Key number_ = 0, grid_ = 0, block_ = 0;
  std::uint64_t launches_ = 0;
  Cycle wanted_ = kNever, next_count_ = 0;
  bool recording_ = false, ended_ = false, told_ = false;
  Cycle ended_at_ = 0;
};

}  // namespace weft

#endif
