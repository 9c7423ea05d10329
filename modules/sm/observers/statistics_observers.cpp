#include "sm/observers/statistics_observers.h"

#include "sm/observers/event_account.h"
#include "sm/observers/lane_account.h"
#include "sm/observers/lane_oracle.h"
#include "sm/sm.h"

namespace weft::sm {

std::vector<std::unique_ptr<SmObserver>> statistics_observers(const Sm& sm) {
  std::vector<std::unique_ptr<SmObserver>> observers;
  const machine::SmConfig& config = sm.core().config;
  const auto& wanted = config.observe;
  const unsigned lanes = sm.lane_count();
  if (wanted.lane_oracle)
    observers.push_back(
        std::make_unique<LaneOracle>(sm.lanes(), static_cast<unsigned>(config.max_blocks), config.home()));
  if (wanted.events)
    observers.push_back(std::make_unique<EventAccount>(config, lanes != 0 ? sm.core().lane_width() : 0));
  if (wanted.lanes && lanes != 0) observers.push_back(std::make_unique<LaneAccount>(sm, lanes));
  return observers;
}

}  // namespace weft::sm
