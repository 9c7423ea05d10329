// In which order a scheduler tries its warps. An order is one file (weft/common/parts.h), of Weft or of a
// plugin:
//
//   class Youngest final : public WarpOrder { ... };
//   WEFT_REGISTER_PART(part<Youngest>("youngest", "the warp that came last"))
#ifndef WEFT_WARP_FORMATION_WARP_ORDER_H
#define WEFT_WARP_FORMATION_WARP_ORDER_H

#include <algorithm>

#include "weft/common/archive.h"
#include "weft/common/parts.h"
#include "weft/warp_formation/contexts.h"

namespace weft::warp_formation {

// Keeps the more telling of two reasons: the one that comes first in `Stall`.
inline Stall worse(Stall a, Stall b) {
  if (a == Stall::kNone) return b;
  if (b == Stall::kNone) return a;
  return std::min(a, b);
}

// Of one scheduler.
class WarpOrder {
 public:
  using Kind = WarpOrder;
  static constexpr const char* kKind = "warp scheduling";
  struct Setting {
    unsigned contexts = 1;
  };

  // Tries to issue the warp of a context: kNone if it was issued. Lives as long as the call that gets it.
  class Attempt {
   public:
    template <class Try>
    explicit Attempt(const Try& attempt)
        : object_(&attempt), call_([](const void* object, unsigned context) {
            return (*static_cast<const Try*>(object))(context);
          }) {}
    Stall operator()(unsigned context) const { return call_(object_, context); }

   private:
    const void* object_;
    Stall (*call_)(const void*, unsigned);
  };

  virtual ~WarpOrder() = default;
  // A warp starts, or ends, in this context.
  virtual void arrived(unsigned context) { static_cast<void>(context); }
  virtual void left(unsigned context) { static_cast<void>(context); }
  // Tries the eligible contexts one after the other until one is issued. Else the most telling reason
  // (`worse`), or kEmpty. `eligible` is not empty; `far`: contexts that wait long, for memory or at a
  // barrier.
  virtual Stall pick(const ContextSet& eligible, const Attempt& attempt, const ContextSet& far) = 0;
  // It looks at `far`.
  virtual bool wants_far() const { return false; }
  // Back to construction.
  virtual void reset() = 0;
  // When there are no warps.
  virtual void archive(Archive& archive) = 0;
};

}  // namespace weft::warp_formation

#endif
