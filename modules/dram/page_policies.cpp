// Rows that stay open until another one is wanted, and rows that are closed when nobody waits for them.
#include "weft/dram/request_order.h"

namespace weft::dram {
namespace {

class Open final : public PagePolicy {
 public:
  explicit Open(const Setting&) {}
  bool always_open() const override { return true; }
  bool closes(bool) const override { return false; }
};

class Closed final : public PagePolicy {
 public:
  explicit Closed(const Setting&) {}
  bool closes(bool wanted) const override { return !wanted; }
};

}  // namespace

WEFT_REGISTER_PART(part<Open>("open", "until another row is wanted"))
WEFT_REGISTER_PART(part<Closed>("closed", "as long as a request waits for it"))

}  // namespace weft::dram
