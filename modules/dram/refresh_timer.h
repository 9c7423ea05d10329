// When a channel's banks are refreshed: all of them every t_refi, or one after the other, each every t_refi.
//
// Refreshes of an idle channel are made up for when the next request comes, so that an idle channel sleeps.
#ifndef WEFT_DRAM_REFRESH_TIMER_H
#define WEFT_DRAM_REFRESH_TIMER_H

#include "dram/command_times.h"
#include "weft/common/archive.h"
#include "weft/common/statistics.h"
#include "weft/dram/dram_config.h"

namespace weft::dram {

class RefreshTimer {
 public:
  RefreshTimer(const SchedulerConfig& config, CommandTimes& times);

  // The edge of the next refresh; kNoEdge: there is none.
  Edge due() const { return state_.due; }
  // Does the refreshes due up to `now`.
  void refresh(Edge now);

  // The next refresh is due one interval after `now`.
  void reset(Edge now);
  void archive(Archive& archive) { archive(state_); }
  void bind(statistics::Group& group);

 private:
  struct State {
    Edge due = 0;
    unsigned bank = 0;  // the next one, where banks are refreshed one after the other
    void archive(Archive& archive) {
      auto& [due_, bank_] = *this;
      archive(due_, bank_);
    }
  };
  void refresh_next();

  CommandTimes& times_;
  const bool per_bank_;
  const Edge interval_;  // 0: no refresh
  State state_;
  std::uint64_t refreshes_ = 0;
  std::uint64_t bank_refreshes_ = 0;
};

}  // namespace weft::dram

#endif
