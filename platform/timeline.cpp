#include "platform/timeline.h"

#include <algorithm>
#include <utility>

#include "weft/common/error.h"

namespace weft {
namespace {

std::string text_of(const dispatch::Dim3& extent) {
  return std::to_string(extent[0]) + " x " + std::to_string(extent[1]) + " x " + std::to_string(extent[2]);
}

}  // namespace

Timeline::Timeline(Parts parts, const std::string& file, TimelineSelection selection)
    : parts_(std::move(parts)),
      selection_((selection.check(file, "timeline"), std::move(selection))),
      writer_(file, selection_.most_bytes),
      shared_(writer_),
      index_(parts_.core.add(*this)),
      launch_group_(writer_.group("launches")),
      launch_category_(writer_.category("launch")),
      number_(writer_.key("launch")),
      grid_(writer_.key("grid")),
      block_(writer_.key("block")) {
  for (const TimelineSelection::Range& range : selection_.sms) {
    if (range.second < parts_.sms.size()) continue;
    throw InputError(file, "found SM " + std::to_string(range.second) +
                               " in the selection of the timeline; allowed: 0 to " +
                               std::to_string(parts_.sms.size() - 1));
  }
  const Writer::Track host = writer_.group("host side");
  host_.emplace_back(shared_, parts_.probes, parts_.host, parts_.launch_times, parts_.core, host);
  for (const char* name : {"jobs", "slots"})
    add_signal(std::string("copy ") + name, name, host, std::string("host.dma.") + name);
  for (unsigned i = 0; i < parts_.sms.size(); ++i) {
    if (!chosen(i)) continue;
    const Writer::Track group = writer_.group(statistics::name_of("sm", i));
    sms_.emplace_back(shared_, parts_.sms[i], group);
    add_sm(i, group);
  }
  add_memory();
  // Edges count from 1.
  wanted_ = std::max<Cycle>(selection_.first_cycle, 2) - 1;
  if (!waits_for_launch() && selection_.first_cycle <= 1) start(1);
}

bool Timeline::chosen(unsigned sm) const {
  return selection_.sms.empty() || std::any_of(selection_.sms.begin(), selection_.sms.end(),
                                               [&](const TimelineSelection::Range& range) {
                                                 return range.first <= sm && sm <= range.second;
                                               });
}

void Timeline::add_counter(const std::string& name, const std::string& unit, Writer::Track group,
                           Probes::Read read) {
  counters_.push_back({writer_.counter(name, unit, group), std::move(read)});
}

// Signals that this GPU has not are left out.
void Timeline::add_signal(const std::string& name, const std::string& unit, Writer::Track group,
                          const std::string& signal) {
  for (const Probes::Probe& probe : parts_.probes.all()) {
    if (probe.name == signal)
      return add_counter(name, unit, group, [&probe](Cycle now) { return probe.value(now); });
  }
}

// Of counters of the statistics.
void Timeline::add_sum(const std::string& name, const std::string& unit, Writer::Track group,
                       const statistics::Group& counters, std::initializer_list<const char*> names) {
  std::vector<const std::uint64_t*> terms;
  for (const char* term : names) {
    for (const statistics::Entry* entry : counters.find({term})) terms.push_back(entry->counter);
  }
  if (terms.empty()) return;
  add_counter(name, unit, group, [terms](Cycle) {
    std::uint64_t sum = 0;
    for (const std::uint64_t* term : terms) sum += *term;
    return sum;
  });
}

void Timeline::add_sm(unsigned sm, Writer::Track group) {
  const std::string name = statistics::name_of("sm", sm) + ".";
  const Writer::Track unit = writer_.group("load-store unit", group);
  add_signal("instructions waiting", "instructions", unit, name + "memory.queue");
  add_signal("requests waiting for the crossbar", "requests", unit, name + "memory.miss_queue");
  add_signal("l1d MSHRs in use", "lines", unit, name + "memory.l1d.mshr.in_use");
  add_signal("transactions under way", "transactions", unit, name + "transactions");
  add_signal("responses waiting", "responses", unit, name + "response_queue");
  const statistics::Group& own = *parts_.statistics.groups({"sm"})[sm];
  for (const statistics::Group* cache : own.groups({"memory", "l1d"})) {
    add_sum("l1d hits so far", "requests", unit, *cache, {"hits"});
    add_sum("l1d misses so far", "requests", unit, *cache, {"misses"});
  }
  add_signal("live threads", "threads", group, name + "live_threads");
}

void Timeline::add_memory() {
  const Writer::Track crossbar = writer_.group("crossbar");
  const auto both = [&](const std::string& part, const std::string& signal) {
    add_signal(part + " requests", "packets", crossbar, "crossbar." + signal + ".requests");
    add_signal(part + " responses", "packets", crossbar, "crossbar." + signal + ".responses");
  };
  for (unsigned i = 0; i < parts_.sms.size(); ++i) {
    if (chosen(i)) both(statistics::name_of("sm", i), statistics::name_of("sm", i));
  }
  const auto banks = parts_.statistics.groups({"l2"}), channels = parts_.statistics.groups({"dram"});
  for (unsigned i = 0; i < std::max(banks.size(), channels.size()); ++i)
    both(statistics::name_of("port", i), statistics::name_of("port", i));
  both("system port", "system_port");
  for (unsigned i = 0; i < banks.size(); ++i) {
    const std::string name = statistics::name_of("l2", i);
    const Writer::Track group = writer_.group(name);
    add_sum("accesses so far", "requests", group, *banks[i], {"reads", "writes", "atomics"});
    add_signal("requests waiting", "requests", group, name + ".input_queue");
    add_signal("lines being fetched", "lines", group, name + ".mshrs");
    add_signal("responses waiting", "responses", group, name + ".response_queue");
  }
  for (unsigned i = 0; i < channels.size(); ++i) {
    const std::string name = statistics::name_of("dram", i);
    const Writer::Track group = writer_.group(name);
    add_sum("accesses so far", "requests", group, *channels[i], {"reads", "writes"});
    add_signal("requests in the channel", "requests", group, name + ".queue");
    add_signal("responses waiting", "responses", group, name + ".responses");
  }
  for (const char* port : {"system_port", "carve_out"}) {
    const Writer::Track group = writer_.group(port);
    add_signal("under way", "transactions", group, std::string(port) + ".under_way");
    add_signal("waiting", "requests", group, std::string(port) + ".waiting");
  }
}

Timeline::Writer::Track Timeline::queue_track(std::uint32_t queue) {
  for (const auto& [number, track] : queues_) {
    if (number == queue) return track;
  }
  queues_.emplace_back(queue, writer_.track("queue " + std::to_string(queue), launch_group_));
  return queues_.back().second;
}

void Timeline::show(Launch& launch, Cycle from) {
  const dispatch::Launch& what = launch.kernel->launch;
  launch.shown = true;
  launch.track = queue_track(what.queue);
  const std::string grid = text_of(what.grid), block = text_of(what.block);
  writer_.begin(from, launch.track, writer_.name(launch.kernel->program.name), launch_category_, {},
                {{number_, launch.number}, {grid_, 0, grid}, {block_, 0, block}});
}

void Timeline::launch_began(const execute::Kernel& kernel, std::uint64_t number, Cycle first) {
  ++launches_;
  running_.push_back({&kernel, number, first});
  if (ended_) return;
  if (recording_ && launches_ > selection_.last_launch) return stop(first);
  if (recording_) {
    show(running_.back(), first);
  } else if (launches_ == selection_.first_launch && first >= selection_.first_cycle &&
             first <= selection_.last_cycle) {
    start(first);
  }
  wake();
}

void Timeline::launch_ended(const execute::Kernel& kernel, Cycle last) {
  const auto launch = std::find_if(running_.begin(), running_.end(),
                                   [&](const Launch& running) { return running.kernel == &kernel; });
  if (launch == running_.end()) return;
  if (launch->shown && recording_) {
    writer_.end(last + 1, launch->track);
    count(last + 1);
  }
  running_.erase(launch);
  shared_.forget(kernel);
}

void Timeline::start(Cycle first) {
  recording_ = true;
  next_count_ = first;
  host_.front().start();
  for (Launch& launch : running_) show(launch, std::max(first, launch.first));
  for (SmTimeline& sm : sms_) sm.start(first);
}

void Timeline::stop(Cycle end) {
  if (!recording_) return;
  recording_ = false;
  ended_ = true;
  for (SmTimeline& sm : sms_) sm.stop(end);
  host_.front().stop(end);
  count(end);
  ended_at_ = end;
  writer_.close(end);
}

void Timeline::count(Cycle now) {
  for (Counter& counter : counters_) {
    const std::uint64_t value = counter.read(now);
    if (value == counter.last) continue;
    counter.last = value;
    writer_.count(now, counter.track, value);
  }
}

void Timeline::wake() {
  if (ended_) return;
  const Cycle next = parts_.core.next_edge();
  const Cycle at = recording_ ? next : std::max(next, std::max<Cycle>(selection_.first_cycle, 2) - 1);
  if (wanted_ <= at) return;
  wanted_ = at;
  parts_.core.wake_at(index_, wanted_);
}

// What is of cycle `now` has been told.
Cycle Timeline::step(Cycle now) {
  if (ended_ || now < wanted_) return wanted_;
  wanted_ = kNever;
  if (!recording_) {
    // Of a launch that is waited for, its begin tells.
    if (waits_for_launch() || launches_ > selection_.last_launch || now >= selection_.last_cycle)
      return wanted_;
    if (now + 1 < selection_.first_cycle) return wanted_ = selection_.first_cycle - 1;
    start(now + 1);
  } else {
    host_.front().look(now);
    if (now >= next_count_) {
      count(now);
      next_count_ = now + selection_.interval;
    }
  }
  if (now >= selection_.last_cycle || !writer_.open()) {
    stop(now + 1);
    return wanted_;
  }
  if (parts_.host.active()) {
    wanted_ = now + 1;
  } else if (parts_.busy()) {
    wanted_ = std::max(now + 1, next_count_);
  }
  if (selection_.last_cycle != UINT64_MAX)
    wanted_ = std::min(wanted_, std::max(now + 1, selection_.last_cycle));
  return wanted_;
}

void Timeline::reset() {
  const Cycle now = parts_.core.current_edge() + 1;
  for (const Launch& launch : running_) {
    if (launch.shown && recording_) writer_.end(now, launch.track);
    shared_.forget(*launch.kernel);
  }
  running_.clear();
  launches_ = 0;
  for (SmTimeline& sm : sms_) sm.kernel_finished(now);
  wake();
}

void Timeline::close() {
  stop(parts_.core.current_edge() + 1);
  if (!ended_) writer_.close(writer_.last_time());
  ended_ = true;
  if (!std::exchange(told_, true) && !writer_.error().empty()) throw InputError("", writer_.error());
}

std::string Timeline::ended_early() const {
  if (!writer_.is_full()) return "";
  return writer_.path() + ": the timeline ends at core cycle " + std::to_string(writer_.last_time()) +
         ", because it has reached its limit of " + std::to_string(selection_.most_bytes) + " bytes";
}

}  // namespace weft
