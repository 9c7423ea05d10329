#include "platform/launch_times.h"

#include <algorithm>
#include <iomanip>
#include <iterator>
#include <sstream>

#include "common/csv.h"
#include "platform/host_control.h"

namespace weft {
namespace {

// Columns, in the order of Moment.
constexpr const char* kMomentNames[] = {"doorbell",   "fetch_began", "fetched",   "dispatched", "first_issue",
                                        "last_issue", "ended",       "signalled", "interrupt",  "handled"};

std::uint64_t ps_of(const sc_core::sc_time& time) {
  return time.value() / sc_core::sc_time(1, sc_core::SC_PS).value();
}

std::uint64_t now_ps() {
  return ps_of(sc_core::sc_time_stamp());
}

double nanoseconds(std::uint64_t ps) {
  return static_cast<double>(ps) / 1e3;
}

}  // namespace

LaunchTimes::LaunchTimes(host::PacketObservers& packets, std::deque<sm::Sm>& sms, const ClockDomain& core)
    : packets_(packets), sms_(sms), core_(core) {
  packets_.attach(*this);
  for (sm::Sm& sm : sms_) sm.attach(watches_.emplace_back(*this));
}

LaunchTimes::~LaunchTimes() {
  packets_.detach(*this);
  for (std::size_t i = 0; i < sms_.size(); ++i) sms_[i].detach(watches_[i]);
}

LaunchTimes::Queue& LaunchTimes::queue(unsigned number) {
  while (queues_.size() <= number) queues_.emplace_back();
  return queues_[number];
}

const LaunchTimes::Issues& LaunchTimes::issues(unsigned number) {
  return queue(number).last->issues;
}

std::uint64_t LaunchTimes::edge_ps(Cycle edge) const {
  return ps_of(core_.time_of(edge));
}

void LaunchTimes::Watch::kernel_started(const KernelStart& start) {
  const std::optional<unsigned> queue = HostControl::queue_of(start.kernel.launch);
  issues_ = queue.has_value() ? &times_.queue(*queue).last->issues : nullptr;
}

void LaunchTimes::rung(const host::PacketPlace& end) {
  queue(end.queue).rung.emplace_back(end.index, now_ps());
}

void LaunchTimes::begun(const host::PacketPlace& packet) {
  Queue& of = queue(packet.queue);
  of.in_launch = false;
  while (!of.rung.empty() && of.rung.front().first <= packet.index) of.rung.pop_front();
  of.packet = unknown();
  if (!of.rung.empty()) of.packet[kRung] = of.rung.front().second;
  of.packet[kBegun] = now_ps();
}

void LaunchTimes::arrived(const host::PacketPlace& packet) {
  queue(packet.queue).packet[kArrived] = now_ps();
}

void LaunchTimes::launched(const host::PacketPlace& packet, const dispatch::Launch& launch) {
  Queue& of = queue(packet.queue);
  of.last = rows_.size() < kMostRows ? &rows_.emplace_back() : &of.beyond;
  *of.last = {packet, launch.program->name, of.packet, {}};
  of.last->times[kLaunched] = now_ps();
  of.in_launch = true;
}

void LaunchTimes::ended(const host::PacketPlace& packet) {
  Row& row = *queue(packet.queue).last;
  row.times[kEnded] = now_ps();
  if (row.issues.first == kNever) return;
  row.times[kFirstIssue] = edge_ps(row.issues.first);
  row.times[kLastIssue] = edge_ps(row.issues.last);
}

void LaunchTimes::signalled(const host::PacketPlace& packet) {
  Queue& of = queue(packet.queue);
  if (of.in_launch) of.last->times[kSignalled] = now_ps();
}

void LaunchTimes::raised(unsigned number, bool line) {
  Queue& of = queue(number);
  if (!of.in_launch || !line || of.last->times[kEnded] == kUnknown) return;
  of.last->times[kRaised] = now_ps();
  of.unread.push_back(of.last);
}

void LaunchTimes::status_read(unsigned number) {
  for (unsigned i = 0; i < queues_.size(); ++i) {
    if (number != kAllQueues && number != i) continue;
    for (Row* row : queues_[i].unread) row->times[kHandled] = now_ps();
    queues_[i].unread.clear();
  }
}

void LaunchTimes::forgotten() {
  queues_.clear();
}

std::string LaunchTimes::csv() const {
  std::ostringstream out;
  out << "queue,packet,kernel";
  for (const char* const name : kMomentNames) out << "," << name << "_ns";
  out << "\n" << std::fixed << std::setprecision(3);
  for (const Row& row : rows_) {
    out << row.place.queue << "," << row.place.index << "," << as_cell(row.kernel);
    for (const std::uint64_t time : row.times) {
      out << ",";
      if (time != kUnknown) out << nanoseconds(time);
    }
    out << "\n";
  }
  return out.str();
}

std::vector<Recordings::LaunchStage> LaunchTimes::stages() const {
  struct Stage {
    Moment from, to;
    const char* name;
    const char* meaning;
  };
  constexpr Stage kStages[] = {
      {kRung, kBegun, "waits", "in the ring, from the doorbell on"},
      {kBegun, kArrived, "fetch", "the queue reads the packet"},
      {kArrived, kLaunched, "dispatch", "kernel object, code and parameters"},
      {kLaunched, kFirstIssue, "start", "until the first instruction issues on an SM"},
      {kFirstIssue, kLastIssue, "execution", "from the first to the last instruction"},
      {kLastIssue, kEnded, "drain", "until nothing of the kernel is under way"},
      {kEnded, kSignalled, "signal", "the completion signal is read and written"},
      {kSignalled, kRaised, "retire", "the packet is marked as done, then the interrupt rises"},
      {kRaised, kHandled, "handler", "until software reads an interrupt status"},
      {kRung, kHandled, "total", "from the doorbell to the handler"}};
  std::vector<Recordings::LaunchStage> stages;
  for (const Stage& stage : kStages) {
    Recordings::LaunchStage result{stage.name, stage.meaning};
    double sum = 0;
    for (const Row& row : rows_) {
      if (row.times[stage.from] == kUnknown || row.times[stage.to] == kUnknown) continue;
      const double ns = nanoseconds(row.times[stage.to] - row.times[stage.from]);
      result.least_ns = result.launches == 0 ? ns : std::min(result.least_ns, ns);
      result.most_ns = std::max(result.most_ns, ns);
      sum += ns;
      ++result.launches;
    }
    if (result.launches != 0) result.mean_ns = sum / static_cast<double>(result.launches);
    stages.push_back(result);
  }
  return stages;
}

}  // namespace weft
