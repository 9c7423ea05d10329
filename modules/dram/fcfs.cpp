// First come, first served.
#include "weft/dram/request_order.h"

namespace weft::dram {
namespace {

class Fcfs final : public RequestOrder {
 public:
  explicit Fcfs(const Setting&) {}
  bool in_order() const override { return true; }
};

}  // namespace

WEFT_REGISTER_PART(part<Fcfs>("fcfs", "order of arrival"))

}  // namespace weft::dram
