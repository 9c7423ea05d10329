// The toy scheme passes the contract too: registered before the contract test asks for the names.
#include "warp_formation/toy_scheme.h"

namespace {
[[maybe_unused]] const bool registered = (weft::warp_formation::test::register_toy(), true);
}
