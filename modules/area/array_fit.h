// Fits the models of arrays to runs of CACTI (cacti/grid.csv). Deterministic: the same runs give the same
// coefficients. The program fit_arrays prints them as array_coefficients.cpp.
#ifndef WEFT_AREA_ARRAY_FIT_H
#define WEFT_AREA_ARRAY_FIT_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "area/array_model.h"

namespace weft::area {

// An array whose area and access time CACTI says. A run of a cache is two, its data and its tags.
struct Sample {
  Shape shape;
  double node_nm = 0;
  bool fit = false;  // of the half that is fitted; the other is held out
  double area_mm2 = 0, access_ns = 0;
};

// Throws InputError with line and column of what is wrong.
std::vector<Sample> read_grid(const std::string& file);

// Fits to the samples marked for it at CACTI's own nodes.
ArrayModel fit(const std::vector<Sample>& samples);

// How far the model is off, relative to CACTI.
struct Errors {
  std::size_t samples = 0;
  double median = 0, ninth_decile = 0, largest = 0;
};
enum class Of : std::uint8_t { kArea, kTime };
enum class Half : std::uint8_t {
  kFitted,
  kHeldOut,
  kBetweenNodes
};  // the last: at nodes that CACTI interpolates
Errors errors(const ArrayModel& model, const std::vector<Sample>& samples, Form form, Half half, Of what);

}  // namespace weft::area

#endif
