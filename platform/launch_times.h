// Where the time of a launch goes that comes as a packet: from the doorbell to the interrupt's handler.
//
// The queue tells its part (host::PacketObserver), the SMs when the first and the last instruction issue.
// Times are of the simulation: software's own part is in them only as far as its model keeps time.
#ifndef WEFT_PLATFORM_LAUNCH_TIMES_H
#define WEFT_PLATFORM_LAUNCH_TIMES_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "bus/clock_domain.h"
#include "host/packet_observer.h"
#include "sm/sm.h"
#include "sm/sm_observer.h"
#include "weft/platform/recordings.h"

namespace weft {

class LaunchTimes final : private host::PacketObserver {
 public:
  static constexpr std::size_t kMostRows = std::size_t{1} << 18;

  // They outlive it.
  LaunchTimes(host::PacketObservers& packets, std::deque<sm::Sm>& sms, const ClockDomain& core);
  ~LaunchTimes();
  LaunchTimes(const LaunchTimes&) = delete;
  LaunchTimes& operator=(const LaunchTimes&) = delete;

  // Core cycles in which the first and the last instruction issued of the queue's last launch so far.
  struct Issues {
    Cycle first = kNever, last = 0;  // first is kNever: there was none
  };
  const Issues& issues(unsigned number);

  // A row per launch, in order; those behind kMostRows are missing.
  std::string csv() const;
  std::vector<Recordings::LaunchStage> stages() const;

 private:
  // In the order in which a launch reaches them.
  enum Moment : std::uint8_t {
    kRung,
    kBegun,
    kArrived,
    kLaunched,
    kFirstIssue,
    kLastIssue,
    kEnded,
    kSignalled,
    kRaised,
    kHandled,
    kMoments
  };
  static constexpr std::uint64_t kUnknown = ~std::uint64_t{0};
  using Times = std::array<std::uint64_t, kMoments>;  // ps; kUnknown: it did not happen
  static constexpr Times unknown() {
    Times times{};
    for (std::uint64_t& time : times) time = kUnknown;
    return times;
  }
  struct Row {
    host::PacketPlace place;
    std::string kernel;
    Times times = unknown();
    Issues issues;
  };
  struct Queue {
    std::deque<std::pair<std::uint64_t, std::uint64_t>> rung;  // end of the packets, ps
    Times packet = unknown();                                  // of the one that is read
    Row beyond;                                                // the last launch, if rows_ is full
    Row* last = &beyond;                                       // launch
    bool in_launch = false;                                    // its packet is not done
    std::vector<Row*> unread;                                  // raised, and no handler has read it
  };
  // Of one SM.
  class Watch final : public sm::SmObserver {
   public:
    explicit Watch(LaunchTimes& times) : times_(times) {}
    void kernel_started(const KernelStart& start) override;
    void kernel_finished(Cycle /*end*/) override { issues_ = nullptr; }
    void issued(const Issue& issue) override {
      if (issues_ == nullptr) return;
      if (issues_->first == kNever) issues_->first = issue.now;
      issues_->last = issue.now;
    }
    void reset() override { issues_ = nullptr; }

   private:
    LaunchTimes& times_;
    Issues* issues_ = nullptr;
  };

  void rung(const host::PacketPlace& end) override;
  void begun(const host::PacketPlace& packet) override;
  void arrived(const host::PacketPlace& packet) override;
  void launched(const host::PacketPlace& packet, const dispatch::Launch& launch) override;
  void ended(const host::PacketPlace& packet) override;
  void signalled(const host::PacketPlace& packet) override;
  void raised(unsigned number, bool line) override;
  void status_read(unsigned number) override;
  void forgotten() override;

  Queue& queue(unsigned number);
  std::uint64_t edge_ps(Cycle edge) const;

  host::PacketObservers& packets_;
  std::deque<sm::Sm>& sms_;
  const ClockDomain& core_;
  std::deque<Watch> watches_;  // by SM
  std::deque<Queue> queues_;   // have addresses of their own rows
  std::deque<Row> rows_;
};

}  // namespace weft

#endif
