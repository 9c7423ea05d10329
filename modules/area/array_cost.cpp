#include "area/array_cost.h"

#include <cmath>
#include <cstdint>
#include <sstream>

#include "area/array_model.h"
#include "weft/common/error.h"

namespace weft::area {
namespace {

using storage::Array;
using storage::Kind;

void check(const Array& array, double node_nm, const std::string& where) {
  if (!(node_nm >= kSmallestNode && node_nm <= kLargestNode)) {
    std::ostringstream text;
    text << "found a node of " << node_nm << " nm; allowed: " << kSmallestNode << " to " << kLargestNode;
    throw InputError(where, text.str());
  }
  const std::string place = where + (where.empty() ? "" : ", ") + "array " + array.part;
  const auto at_least_one = [&](std::uint64_t value, const char* what) {
    if (value == 0) throw InputError(place, std::string("found 0 ") + what + "; allowed: 1 and more");
  };
  at_least_one(array.entries, "entries");
  at_least_one(array.bits, "bits");
  at_least_one(array.ways, "ways");
  at_least_one(array.banks, "banks");
  at_least_one(array.copies, "copies");
  at_least_one(array.ports.read_write + array.ports.read + array.ports.write, "ports");
  const std::uint64_t parts = array.banks * (array.kind == Kind::kCrossbar ? 1 : array.ways);
  if (array.entries % parts != 0) {
    throw InputError(place, "found " + std::to_string(array.entries) + " entries; allowed: multiples of " +
                                std::to_string(parts) + ", its ways and banks");
  }
}

Shape shape_of(const Array& array) {
  const auto number = [](std::uint64_t value) { return static_cast<double>(value); };
  Shape shape;
  shape.kind = array.kind;
  shape.rows = number(array.entries) / number(array.banks);
  if (array.kind != Kind::kCrossbar) shape.rows /= number(array.ways);
  shape.bits = number(array.bits);
  shape.ways = number(array.ways);
  shape.read_write = number(array.ports.read_write);
  shape.read = number(array.ports.read);
  shape.write = number(array.ports.write);
  shape.banks = number(array.banks);
  return shape;
}

// What the grid covers (cacti/run_grid).
bool outside(const Shape& shape) {
  switch (shape.kind) {
    case Kind::kCrossbar:
      return shape.bits < 8 || shape.bits > 512 || shape.rows > 32 || shape.ways > 32;
    case Kind::kCam:
      return shape.rows < 8 || shape.rows > 256 || shape.bits < 8 || shape.bits > 128;
    case Kind::kTags:
      return shape.rows < 16 || shape.rows > 512 || shape.bits < 8 || shape.bits > 48 || shape.ways > 16;
    case Kind::kRam:
      break;
  }
  if (shape.ways > 1) return shape.rows < 16 || shape.rows > 512 || shape.bits < 8 || shape.ways > 16;
  return shape.rows < 16 || shape.rows > 4096 || shape.bits < 8 || shape.bits > 512 || shape.banks > 16;
}

}  // namespace

ArrayCost cost_of(const Array& array, double node_nm, const std::string& where) {
  check(array, node_nm, where);
  const Shape shape = shape_of(array);
  const ArrayModel& model = fitted_arrays();
  return {static_cast<double>(array.copies) * area_mm2(model, shape, node_nm),
          access_ns(model, shape, node_nm), outside(shape)};
}

}  // namespace weft::area
