// The part of a timeline that is the host side's: two tracks per queue, of its packets and of what goes
// between it and software, and tracks for copies.
//
// Queues are looked at in each core cycle in which the host side may do something; what begins and ends
// between two of them is not seen.
#ifndef WEFT_PLATFORM_HOST_TIMELINE_H
#define WEFT_PLATFORM_HOST_TIMELINE_H

#include <cstdint>
#include <vector>

#include "bus/clock_domain.h"
#include "common/probes.h"
#include "host/host_interface.h"
#include "host/packet_observer.h"
#include "platform/launch_times.h"
#include "platform/sm_timeline.h"
#include "vcd/timeline_writer.h"

namespace weft {

class HostTimeline final : private host::DmaObserver, private host::PacketObserver {
 public:
  using Writer = vcd::TimelineWriter;
  // Tracks below `parent`. `probes` has those of the host side. All outlive it.
  HostTimeline(SmTimeline::Shared& shared, const Probes& probes, host::HostInterface& host,
               LaunchTimes& launch_times, const ClockDomain& core, Writer::Track parent);

  void start();
  void look(Cycle now);
  // Watches no more; what is open ends.
  void stop(Cycle end);

 private:
  struct Queue {
    Writer::Track track = 0, software = 0;
    const Probes::Probe* packet = nullptr;
    const Probes::Probe* step = nullptr;
    const Probes::Probe* read_index = nullptr;
    std::uint64_t type = Probes::kUndriven, place = 0, shown_step = 0;
    Cycle step_began = 0;
    std::uint64_t arrow = 0;  // from a doorbell that the next packet answers
    bool interrupt = false;   // has not been read
  };
  struct Copy {
    Writer::Track track = 0;
    bool busy = false;
    std::uint64_t job = 0;
  };

  void job_began(std::uint64_t job) override;
  void job_ended(std::uint64_t job, std::uint64_t bytes) override;
  void jobs_forgotten() override;
  void rung(const host::PacketPlace& end) override;
  void raised(unsigned number, bool line) override;
  void status_read(unsigned number) override;
  void forgotten() override { status_read(kAllQueues); }
  void end_packet(Queue& queue, Cycle now);
  void end_step(Queue& queue, Cycle now);

  SmTimeline::Shared& shared_;
  Writer& writer_;
  host::HostInterface& host_;
  LaunchTimes& launch_times_;
  const ClockDomain& core_;
  const Writer::Track parent_;
  Writer::Category packets_ = 0, copies_ = 0, software_ = 0;
  Writer::Key index_ = 0, job_ = 0, bytes_ = 0;
  Writer::Name copy_ = 0, doorbell_ = 0, interrupt_ = 0, start_ = 0, execution_ = 0, drain_ = 0;
  std::vector<Writer::Name> types_, steps_;
  std::vector<Queue> queues_;
  std::vector<Copy> tracks_;  // of copies: as many as were ever under way at once
};

}  // namespace weft

#endif
