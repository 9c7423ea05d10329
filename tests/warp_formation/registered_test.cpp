// The schemes that only tests have pass the contract too: registered before the contract test asks for the
// names.
#include "warp_formation/probe_scheme.h"
#include "warp_formation/toy_scheme.h"

namespace weft::warp_formation::test {
namespace {

[[maybe_unused]] const bool registered = (register_probe(), register_toy(), true);

}  // namespace
}  // namespace weft::warp_formation::test
