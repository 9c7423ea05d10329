// Row hits first, then the oldest (Rixner et al.: Memory access scheduling, ISCA 2000).
#include "dram/fr_fcfs.h"

#include "weft/dram/request_order.h"

namespace weft::dram {

void FrFcfsOptions::describe(config::Visitor& v) {
  v.integer(
      "row_hit_limit", row_hit_limit, {0, 1'000'000}, "requests",
      "scheduler fr_fcfs: row hits that may overtake an older request of their bank, one after the other; "
      "0: any number");
}

namespace {

class FrFcfs final : public RequestOrder {
 public:
  FrFcfs(const FrFcfsOptions& options, const Setting&) : limit_(options.row_hit_limit) {}

  std::uint16_t next(const WaitingRequests& waiting) const override {
    if (limit_ != 0 && waiting.overtakes() >= limit_) return waiting.oldest();
    const std::uint16_t hit = waiting.oldest_hit();
    return hit == WaitingRequests::kNone ? waiting.oldest() : hit;
  }
  // A younger request that hits the open row goes before one that would close it.
  bool displaces(bool came_hits, bool taken_hits) const override { return came_hits && !taken_hits; }

 private:
  const std::uint64_t limit_;
};

}  // namespace

WEFT_REGISTER_PART(part<FrFcfs, FrFcfsOptions>("fr_fcfs", "row hits first"))

}  // namespace weft::dram
