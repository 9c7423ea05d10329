// A plugin whose scheme only fails, in the way that its key says: exceptions have to come out of a shared
// object that shows no symbols.
#include <stdexcept>
#include <string>

#include "weft/common/error.h"
#include "weft/warp_formation/scheme.h"

namespace weft::warp_formation {
namespace {

enum class How : std::uint8_t { kInput, kFault, kStandard };

struct FailingOptions final : OptionsOf<FailingOptions> {
  How how = How::kInput;
  std::uint64_t low = 1, high = 2;

  void describe(config::Visitor& v) override {
    config::choice(v, "how", how,
                   {{"input", How::kInput}, {"fault", How::kFault}, {"standard", How::kStandard}}, "");
    v.integer("low", low, {0, 9}, "", "less than high");
    v.integer("high", high, {0, 9}, "", "");
  }
  void check(const std::string& where) const override {
    if (low < high) return;
    throw config::RuleError(where + "/low", {where + "/high"}, "found " + std::to_string(low));
  }
};

std::unique_ptr<WarpFormation> fail(const Config& config, const Geometry&) {
  switch (config.own<FailingOptions>().how) {
    case How::kInput:
      throw InputError("/warp_formation/failing", "as was asked for");
    case How::kFault:
      throw SimulatedFault("failing, as was asked for");
    case How::kStandard:
      break;
  }
  throw std::out_of_range("failing, as was asked for");
}

Scheme failing() {
  Scheme scheme;
  scheme.name = "failing";
  scheme.meaning = "fails";
  scheme.defaults = std::make_shared<const FailingOptions>();
  scheme.make = fail;
  return scheme;
}

WEFT_REGISTER_SCHEME(failing())
// A second one of the same file: only its options differ.
WEFT_REGISTER_SCHEME([] {
  Scheme again = failing();
  again.name = "failing_too";
  again.defaults = nullptr;
  return again;
}())

}  // namespace
}  // namespace weft::warp_formation
