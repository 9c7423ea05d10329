// Greedy then oldest (Rogers, O'Connor, Aamodt: Cache-conscious wavefront scheduling, MICRO 2012).
#include "warp_formation/greedy_order.h"

namespace weft::warp_formation {

WEFT_REGISTER_PART(part<GreedyOrder<Age::kOldest>>("greedy_then_oldest",
                                                   "the last one issued, else the oldest"))

}  // namespace weft::warp_formation
