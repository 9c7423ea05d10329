// A plugin whose scheme has the name of one of Weft's own.
#include "weft/warp_formation/scheme.h"

namespace weft::warp_formation {
namespace {

Scheme taken() {
  Scheme scheme;
  scheme.name = "sbr";
  scheme.make = [](const Config&, const Geometry&) { return std::unique_ptr<WarpFormation>(); };
  return scheme;
}

WEFT_REGISTER_SCHEME(taken())

}  // namespace
}  // namespace weft::warp_formation
