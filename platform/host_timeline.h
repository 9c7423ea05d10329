// The part of a timeline that is the host side's: a track per queue of packets, and tracks for copies.
//
// Queues are looked at in each core cycle in which the host side may do something; what begins and ends
// between two of them is not seen.
#ifndef WEFT_PLATFORM_HOST_TIMELINE_H
#define WEFT_PLATFORM_HOST_TIMELINE_H

#include <cstdint>
#include <vector>

#include "bus/clock_domain.h"
#include "common/probes.h"
#include "host/dma_engine.h"
#include "vcd/timeline_writer.h"

namespace weft {

class HostTimeline final : private host::DmaObserver {
 public:
  using Writer = vcd::TimelineWriter;
  // Tracks below `parent`. `probes` has those of the host side. All outlive it.
  HostTimeline(Writer& writer, const Probes& probes, host::DmaEngine& dma, const ClockDomain& core,
               Writer::Track parent);

  void start();
  void look(Cycle now);
  // Watches no more; what is open ends.
  void stop(Cycle end);

 private:
  struct Queue {
    Writer::Track track = 0;
    const Probes::Probe* packet = nullptr;
    const Probes::Probe* step = nullptr;
    const Probes::Probe* read_index = nullptr;
    std::uint64_t type = Probes::kUndriven, place = 0, shown_step = 0;
  };
  struct Copy {
    Writer::Track track = 0;
    bool busy = false;
    std::uint64_t job = 0;
  };

  void job_began(std::uint64_t job) override;
  void job_ended(std::uint64_t job, std::uint64_t bytes) override;
  void jobs_forgotten() override;
  void end_packet(Queue& queue, Cycle now);

  Writer& writer_;
  host::DmaEngine& dma_;
  const ClockDomain& core_;
  const Writer::Track parent_;
  Writer::Category packets_ = 0, copies_ = 0;
  Writer::Key index_ = 0, job_ = 0, bytes_ = 0;
  Writer::Name copy_ = 0;
  std::vector<Writer::Name> types_, steps_;
  std::vector<Queue> queues_;
  std::vector<Copy> tracks_;  // of copies: as many as were ever under way at once
};

}  // namespace weft

#endif
