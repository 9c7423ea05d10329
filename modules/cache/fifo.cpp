// First in, first out.
#include "cache/stamps.h"

namespace weft::cache {
namespace {

class Fifo final : public Replacement {
 public:
  explicit Fifo(const Setting& setting) : came_(setting) {}
  void found(std::size_t) override {}
  void placed(std::size_t place, bool) override { came_.stamp(place); }
  std::size_t victim(const Set& set) const override { return came_.oldest(set); }
  void reset() override { came_.reset(); }
  void archive(Archive& archive) override { archive(came_); }

 private:
  Stamps came_;
};

}  // namespace

WEFT_REGISTER_PART(part<Fifo>("fifo", "the one that came first"))

}  // namespace weft::cache
