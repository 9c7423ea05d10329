#include "platform/host_timeline.h"

#include <algorithm>
#include <string>
#include <utility>

#include "weft/weft_registers.h"

namespace weft {
namespace {

// CommandQueue::Step, in words.
constexpr const char* kSteps[] = {"idle",
                                  "reads the packet",
                                  "reads the kernel object",
                                  "reads PTX",
                                  "reads the kernel's name",
                                  "reads parameters",
                                  "writes parameters",
                                  "kernel",
                                  "reads a signal",
                                  "waits for a signal",
                                  "copy",
                                  "reads the completion signal",
                                  "writes the completion signal",
                                  "marks the packet as done",
                                  "writes the read index",
                                  "stopped by an error"};
constexpr std::uint64_t kKernelStep = 7;

std::string name_of_packet(unsigned type) {
  switch (type) {
    case WEFT_PACKET_KERNEL_DISPATCH:
      return "kernel dispatch";
    case WEFT_PACKET_BARRIER_AND:
      return "barrier (all)";
    case WEFT_PACKET_BARRIER_OR:
      return "barrier (any)";
    case WEFT_PACKET_VENDOR:
      return "copy";
    default:
      return "packet of type " + std::to_string(type);
  }
}

}  // namespace

HostTimeline::HostTimeline(SmTimeline::Shared& shared, const Probes& probes, host::HostInterface& host,
                           LaunchTimes& launch_times, const ClockDomain& core, Writer::Track parent)
    : shared_(shared),
      writer_(shared.writer),
      host_(host),
      launch_times_(launch_times),
      core_(core),
      parent_(parent),
      packets_(writer_.category("packet")),
      copies_(writer_.category("copy")),
      software_(writer_.category("software")),
      index_(writer_.key("packet")),
      job_(writer_.key("copy")),
      bytes_(writer_.key("bytes")),
      copy_(writer_.name("copy")),
      doorbell_(writer_.name("doorbell")),
      interrupt_(writer_.name("interrupt")),
      start_(writer_.name("start")),
      execution_(writer_.name("execution")),
      drain_(writer_.name("drain")) {
  for (unsigned type = 0; type <= WEFT_PACKET_BARRIER_OR; ++type)
    types_.push_back(writer_.name(name_of_packet(type)));
  for (const char* step : kSteps) steps_.push_back(writer_.name(step));
  const auto find = [&](const std::string& name) -> const Probes::Probe* {
    const auto found = std::find_if(probes.all().begin(), probes.all().end(),
                                    [&](const Probes::Probe& probe) { return probe.name == name; });
    return found == probes.all().end() ? nullptr : &*found;
  };
  for (unsigned q = 0;; ++q) {
    const std::string name = "host.queue" + std::to_string(q);
    Queue queue;
    queue.packet = find(name + ".packet");
    if (queue.packet == nullptr) break;
    queue.step = find(name + ".step");
    queue.read_index = find(name + ".read_index");
    queue.track = writer_.track("queue " + std::to_string(q) + " of packets", parent);
    queue.software = writer_.track("queue " + std::to_string(q) + ": doorbell and interrupt", parent);
    queues_.push_back(queue);
  }
}

void HostTimeline::start() {
  host_.dma().watch(this);
  host_.packet_observers().attach(*this);
}

void HostTimeline::stop(Cycle end) {
  host_.dma().watch(nullptr);
  host_.packet_observers().detach(*this);
  for (Queue& queue : queues_) {
    end_packet(queue, end);
    if (queue.interrupt) writer_.end(end, queue.software);
    queue.interrupt = false;
  }
  for (Copy& copy : tracks_) {
    if (copy.busy) writer_.end(end, copy.track);
    copy.busy = false;
  }
}

void HostTimeline::end_packet(Queue& queue, Cycle now) {
  if (queue.type == Probes::kUndriven) return;
  end_step(queue, now);
  writer_.end(now, queue.track);
  queue.type = Probes::kUndriven;
}

// Within a kernel: when its first and its last instruction issued.
void HostTimeline::end_step(Queue& queue, Cycle now) {
  const auto number = static_cast<unsigned>(&queue - queues_.data());
  const LaunchTimes::Issues issues =
      queue.shown_step == kKernelStep ? launch_times_.issues(number) : LaunchTimes::Issues();
  if (issues.first != kNever && issues.first >= queue.step_began && issues.last < now) {
    writer_.begin(queue.step_began, queue.track, start_, packets_);
    writer_.end(issues.first, queue.track);
    writer_.begin(issues.first, queue.track, execution_, packets_);
    writer_.end(issues.last + 1, queue.track);
    writer_.begin(issues.last + 1, queue.track, drain_, packets_);
    writer_.end(now, queue.track);
  }
  writer_.end(now, queue.track);
}

void HostTimeline::rung(const host::PacketPlace& end) {
  Queue& queue = queues_[end.queue];
  Writer::Details details;
  details.arrow_from = queue.arrow = ++shared_.arrows;
  writer_.instant(core_.next_edge(), queue.software, doorbell_, software_, details);
}

void HostTimeline::raised(unsigned number, bool line) {
  Queue& queue = queues_[number];
  if (!line || std::exchange(queue.interrupt, true)) return;
  writer_.begin(core_.next_edge(), queue.software, interrupt_, software_);
}

void HostTimeline::status_read(unsigned number) {
  for (Queue& queue : queues_) {
    if (number != kAllQueues && &queue != &queues_[number]) continue;
    if (std::exchange(queue.interrupt, false)) writer_.end(core_.next_edge(), queue.software);
  }
}

// A packet has a slice, and within it one for each of its steps. Its type is overwritten by that of an
// invalid one while it is marked as done.
void HostTimeline::look(Cycle now) {
  for (Queue& queue : queues_) {
    const std::uint64_t type = queue.packet->value(now), place = queue.read_index->value(now),
                        step = queue.step->value(now);
    const bool done = type == WEFT_PACKET_INVALID;
    if (type == Probes::kUndriven || place != queue.place) end_packet(queue, now);
    queue.place = place;
    if (type == Probes::kUndriven || (done && queue.type == Probes::kUndriven)) continue;
    const bool begins = queue.type == Probes::kUndriven;
    if (begins) {
      queue.type = type;
      Writer::Details details;
      details.arrow_to = std::exchange(queue.arrow, 0);
      writer_.begin(now, queue.track, types_[std::min<std::size_t>(type, types_.size() - 1)], packets_,
                    details, {{index_, place}});
    }
    if (!begins && step == queue.shown_step) continue;
    if (!begins) end_step(queue, now);
    writer_.begin(now, queue.track, steps_[std::min<std::size_t>(step, steps_.size() - 1)], packets_);
    queue.shown_step = step;
    queue.step_began = now;
  }
}

void HostTimeline::job_began(std::uint64_t job) {
  auto free = std::find_if(tracks_.begin(), tracks_.end(), [](const Copy& copy) { return !copy.busy; });
  if (free == tracks_.end()) {
    Copy copy;
    copy.track = writer_.track("copies " + std::to_string(tracks_.size()), parent_);
    free = tracks_.insert(tracks_.end(), copy);
  }
  free->busy = true;
  free->job = job;
  writer_.begin(core_.next_edge(), free->track, copy_, copies_, {}, {{job_, job}});
}

void HostTimeline::job_ended(std::uint64_t job, std::uint64_t bytes) {
  for (Copy& copy : tracks_) {
    if (!copy.busy || copy.job != job) continue;
    copy.busy = false;
    writer_.end(core_.next_edge(), copy.track, {{bytes_, bytes}});
  }
}

void HostTimeline::jobs_forgotten() {
  for (Copy& copy : tracks_) {
    if (copy.busy) writer_.end(core_.next_edge(), copy.track);
    copy.busy = false;
  }
}

}  // namespace weft
