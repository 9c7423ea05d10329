#include "sm/waits_by_stage.h"

#include <algorithm>
#include <utility>

namespace weft::sm {

void WaitsByStage::for_response(Cycle since, Cycle now) {
  if (last_at_ != now) return;
  Cycle from = since;
  const auto spend = [&](Cycle until, std::uint64_t& sum) {
    until = std::min(until, now);
    if (until <= from) return;
    sum += until - from;
    from = until;
  };
  spend(last_.delivered, crossbar_request_);
  spend(last_.fetched, l2_);
  spend(last_.filled, dram_);
  spend(last_.answered, l2_);
  spend(now, crossbar_response_);
}

void WaitsByStage::came_back(Cycle now, const Stages& stages) {
  last_at_ = now;
  last_ = stages;
  const Cycle wait = std::exchange(undivided_, 0), all = now - std::min(now, stages.issued);
  if (wait == 0 || all == 0) return;
  const auto share = [&](Cycle from, Cycle until) { return until > from ? wait * (until - from) / all : 0; };
  const Cycle l2 = share(stages.delivered, stages.fetched) + share(stages.filled, stages.answered),
              dram = share(stages.fetched, stages.filled), response = share(stages.answered, now);
  l2_ += l2;
  dram_ += dram;
  crossbar_response_ += response;
  crossbar_request_ += wait - std::min(wait, l2 + dram + response);
}

void WaitsByStage::bind(statistics::Group& group) {
  group.counter("crossbar_request", units::kCycles,
                "blocked cycles while the awaited request was on its way to the L2 (for the queue to the "
                "crossbar: a share by the next response)",
                crossbar_request_);
  group.counter("l2", units::kCycles, "blocked cycles while the awaited request was in the L2", l2_);
  group.counter("dram", units::kCycles,
                "blocked cycles while the awaited request waited for memory behind the L2", dram_);
  group.counter("crossbar_response", units::kCycles,
                "blocked cycles while the response to the awaited request was on the way back",
                crossbar_response_);
}

}  // namespace weft::sm
