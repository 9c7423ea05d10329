// Greedy then youngest: what Huerta et al. (MICRO 2025) find that the schedulers of current GPUs do.
#include "warp_formation/greedy_order.h"

namespace weft::warp_formation {

WEFT_REGISTER_PART(part<GreedyOrder<Age::kYoungest>>("greedy_then_youngest",
                                                     "the last one issued, else the youngest"))

}  // namespace weft::warp_formation
