// What the area and the access time of an array are sums of: terms of its rows, columns, ports and banks,
// each of which grows with each of them. A model is a coefficient, never negative, for each term; so is no
// array smaller or faster than one with fewer bits, ports or banks.
//
// The terms follow the layout that CACTI's authors describe (Wilton, Jouppi: CACTI; Muralimanohar and others:
// CACTI 6): cells that every port makes wider and higher, decoders along the rows, wires out across the
// columns. Areas are in squares of the feature size, which takes the node out of them.
#ifndef WEFT_AREA_ARRAY_TERMS_H
#define WEFT_AREA_ARRAY_TERMS_H

#include <vector>

#include "weft/common/storage.h"

namespace weft::area {

// An array as numbers. Of a crossbar `rows` are its inputs and `ways` its outputs.
struct Shape {
  storage::Kind kind = storage::Kind::kRam;
  double rows = 1;  // of a bank: its entries divided by `ways`
  double bits = 1;  // of an entry
  double ways = 1;
  double read_write = 1, read = 0, write = 0;
  double banks = 1;

  double ports() const { return read_write + read + write; }
};

using Terms = std::vector<double>;

// Of one bank, in squares of the feature size; of a crossbar its switches, which its area is unless the wires
// take more (crossbar_wires).
Terms area_terms(const Shape& shape);
double crossbar_wires(const Shape& shape);
// Of several banks and the wires between them, `bank` being the area of one.
Terms bank_terms(const Shape& shape, double bank);
// In nanoseconds at 45 nm.
Terms time_terms(const Shape& shape);

// The sum; there are as many coefficients as terms.
double sum(const Terms& terms, const std::vector<double>& coefficients);

}  // namespace weft::area

#endif
