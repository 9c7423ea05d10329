// What reaches across the lanes of a chunk: warp-level primitives, and the results of barriers that reduce.
#ifndef WEFT_EXECUTE_WARP_PRIMITIVES_H
#define WEFT_EXECUTE_WARP_PRIMITIVES_H

#include <cstdint>

#include "execute/access.h"
#include "execute/operands.h"
#include "execute/warp_gatherings.h"
#include "execute/watch.h"

namespace weft::execute {

class WarpPrimitives {
 public:
  WarpPrimitives(const Operands& operands, const Watch& watch) : operands_(operands), watch_(watch) {}

  // A warp-level primitive for all its participants in a chunk, which came from `count` places.
  void run(const Participants* parts, unsigned count, unsigned chunk, const ResidentBlock& block) const;
  // The result of bar.red for these lanes: `votes` of `threads` predicates were true.
  void barrier_result(const Operation& op, unsigned chunk, std::uint32_t lanes, std::uint32_t votes,
                      std::uint32_t threads) const;

 private:
  void observe_shuffle(const isa::Lanes& lanes, const Participants* parts, unsigned count, unsigned chunk,
                       const ResidentBlock& block) const;

  const Operands& operands_;
  const Watch& watch_;
};

}  // namespace weft::execute

#endif
