#include "platform/watchdog.h"

#include <algorithm>

namespace weft {
namespace {

std::string threads(std::uint64_t n) {
  return std::to_string(n) + (n == 1 ? " thread" : " threads");
}

}  // namespace

void Watchdog::start(Cycle now) {
  active_ = true;
  watching_ = false;
  issued_ = milestones_ = bytes_ = UINT64_MAX;
  deadline_ = now + cycles_;
  clock_.wake_at(index_, deadline_);
}

void Watchdog::stop() {
  active_ = false;
  if (!watching_) return;
  for (auto& spin : spins_) spin.stop();
  watching_ = false;
}

Cycle Watchdog::step(Cycle now) {
  if (!active_) return kNever;
  if (now < deadline_) return deadline_;
  std::uint64_t issued = 0, milestones = 0, system_accesses = 0;
  for (const auto& sm : sms_) {
    issued += sm.core().counters.warp_instructions;
    milestones += sm.core().milestones();
    system_accesses += sm.memory().system_accesses();
  }
  const bool nothing_issued = issued == issued_, no_milestone = milestones == milestones_;
  issued_ = issued;
  milestones_ = milestones;
  const Traffic memory = traffic();
  const bool moved = memory.bytes != bytes_;
  bytes_ = memory.bytes;
  const bool reads_system = system_accesses != system_accesses_;
  system_accesses_ = system_accesses;
  std::string what;
  if (nothing_issued) {
    if (!moved) what = deadlock(memory);
  } else if (watching_ && no_milestone) {
    what = judge();
    const bool helped = !what.empty() && may_be_helped && may_be_helped();
    if (helped || reads_system) what.clear();
  }
  if (!what.empty()) {
    stop();
    on_hang(what);
    return active_ ? deadline_ : kNever;
  }
  // Each span is watched from its beginning, while nothing else happens.
  for (auto& spin : spins_) {
    if (no_milestone) {
      spin.start();
    } else {
      spin.stop();
    }
  }
  watching_ = no_milestone;
  deadline_ = now + cycles_;
  return deadline_;
}

// Nothing was issued, and nothing of an SM entered or left the crossbar.
std::string Watchdog::deadlock(const Traffic& memory) const {
  std::uint64_t live = 0, transactions = 0;
  for (const auto& sm : sms_) {
    live += sm.core().live_threads();
    transactions += sm.memory().transactions();
  }
  if (transactions != 0 && memory.moves) return "";
  return "deadlock: no instruction was issued for " + std::to_string(cycles_) + " core cycles, " +
         threads(live) + " are live" +
         (transactions == 0 ? "" : ", " + std::to_string(transactions) + " transactions are not answered");
}

std::string Watchdog::judge() const {
  std::uint64_t live = 0, spinning = 0, held = 0, waiting = 0;
  std::string example;
  for (std::size_t i = 0; i < sms_.size(); ++i) {
    const sm::Sm& sm = sms_[i];
    if (sm.core().live_threads() == 0) continue;
    const sm::SpinObserver::Verdict spin = spins_[i].verdict();
    if (spins_[i].is_busy() || spin.spinning != spin.issued) return "";
    if (example.empty() && spin.spinning != 0) example = spins_[i].place_of(spin);
    const warp_formation::Census census = sm.core().census();
    live += sm.core().live_threads();
    spinning += spin.spinning;
    held += census.reconvergence + census.inactive_path + census.lookup + census.held_by_scheme();
    waiting += census.barrier + census.warp_sync;
  }
  if (spinning == 0) return "";
  const std::uint64_t silent = live - spinning;
  const std::uint64_t parked = std::min(silent, waiting), stacked = std::min(silent - parked, held);
  const std::uint64_t starved = silent - parked - stacked;
  const std::string loop = "for " + std::to_string(cycles_) + " core cycles " + threads(spinning) +
                           " only repeated a loop with the same registers, such as " + example;
  if (starved != 0) {
    return "starvation: " + loop + ", while " + threads(starved) +
           " that could run were never chosen by the scheme";
  }
  if (stacked != 0) {
    return "SIMT deadlock: " + loop + ", while the scheme held back " + threads(stacked) +
           " that wait at a reconvergence point or on a path that does not run";
  }
  return "livelock: " + loop +
         (parked != 0 ? ", while " + threads(parked) + " wait at barriers" : ", and no other thread is live");
}

}  // namespace weft
