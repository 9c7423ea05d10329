// The keys of lwm, their rules, and values for tests.
#include "warp_formation/lwm_options.h"

#include "warp_formation/powers.h"

namespace weft::warp_formation {

void LwmOptions::describe(config::Visitor& v) {
  v.integer("large_warp", large_warp, {1, 256}, "threads",
            "threads of a large warp: a power of two, 32 to 256");
  config::choice(v, "refetch", refetch, {{"last", LwmRefetch::kLast}, {"first", LwmRefetch::kFirst}},
                 "the next instruction issues when the last packed warp of this one is done, or the first");
  v.integer("group_threads", group_threads, {32, 65536}, "threads",
            "threads of a fetch group, if scheduling is two_level");
  v.integer("timeout_instructions", timeout_instructions, {0, 1u << 30}, "instructions",
            "a fetch group that issued this many packed warps gives way to the next; 0: never");
}

void LwmOptions::check(const std::string& where) const {
  check_size(where + "/large_warp", large_warp, 32);
}

void LwmOptions::randomise(Random& random) {
  large_warp = 32u << random() % 4;
  refetch = static_cast<LwmRefetch>(random() % 2);
  group_threads = 32u << random() % 4;
  timeout_instructions = random() % 2 * 7;
}

}  // namespace weft::warp_formation
