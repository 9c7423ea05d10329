// What an array that hardware declares (weft/common/storage.h) takes.
#ifndef WEFT_AREA_ARRAY_COST_H
#define WEFT_AREA_ARRAY_COST_H

#include <string>

#include "weft/common/storage.h"

namespace weft::area {

// The nodes that the model has an answer for, in nanometres. CACTI 6.5 ends at 32; below, areas go with the
// square of the feature size and times with the feature size.
inline constexpr double kSmallestNode = 22, kLargestNode = 90;

struct ArrayCost {
  double area_mm2 = 0;   // of all copies
  double access_ns = 0;  // 0: the model has none for this kind
  // Smaller or larger than what the model was fitted to: fewer than 16 rows, for instance.
  bool outside = false;
};

// Throws InputError that begins with `where`: a node out of range, an array without entries, bits or ports,
// entries that are no multiple of ways and banks.
ArrayCost cost_of(const storage::Array& array, double node_nm, const std::string& where = "");

}  // namespace weft::area

#endif
