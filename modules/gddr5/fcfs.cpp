// First come, first served.
#include "weft/gddr5/request_order.h"

namespace weft::gddr5 {
namespace {

class Fcfs final : public RequestOrder {
 public:
  explicit Fcfs(const Setting&) {}
  bool in_order() const override { return true; }
};

}  // namespace

WEFT_REGISTER_PART(part<Fcfs>("fcfs", "order of arrival"))

}  // namespace weft::gddr5
