// Least recently used.
#include "cache/stamps.h"

namespace weft::cache {
namespace {

class Lru final : public Replacement {
 public:
  explicit Lru(const Setting& setting) : used_(setting) {}
  void found(std::size_t place) override { used_.stamp(place); }
  void placed(std::size_t place, bool) override { used_.stamp(place); }
  std::size_t victim(const Set& set) const override { return used_.oldest(set); }
  void reset() override { used_.reset(); }
  void archive(Archive& archive) override { archive(used_); }

 private:
  Stamps used_;
};

}  // namespace

WEFT_REGISTER_PART(part<Lru>("lru", "the least recently used"))

}  // namespace weft::cache
