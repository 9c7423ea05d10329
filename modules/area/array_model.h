// The area and access time of arrays: sums of terms (array_terms.h) with coefficients that were fitted to
// runs of CACTI 6.5 (cacti/README.md). No printed table of any paper is among what they were fitted to.
#ifndef WEFT_AREA_ARRAY_MODEL_H
#define WEFT_AREA_ARRAY_MODEL_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "area/array_terms.h"

namespace weft::area {

// The nodes that CACTI 6.5 has figures for, in nanometres.
inline constexpr std::array<double, 4> kNodes = {32, 45, 65, 90};

// One figure for each node.
using ByNode = std::array<double, kNodes.size()>;
// Between two nodes it goes linearly; beyond them by `beyond`: in proportion to the feature size, or
// constant.
enum class Beyond : std::uint8_t { kProportional, kConstant };
double at_node(const ByNode& figures, double node_nm, Beyond beyond);

// Of one kind of array.
struct KindModel {
  std::vector<double> area;  // coefficients of area_terms
  std::vector<double> time;  // of time_terms; empty: the model has no access time for this kind
  ByNode time_scale{};       // access time at each node over that at 45 nm
};

// What has a model of its own. kSets: the data of sets of several ways.
enum class Form : std::uint8_t { kRam, kSets, kTags, kCam, kCrossbar };
inline constexpr std::array<Form, 5> kForms = {Form::kRam, Form::kSets, Form::kTags, Form::kCam,
                                               Form::kCrossbar};
Form form_of(const Shape& shape);

struct ArrayModel {
  std::array<KindModel, kForms.size()> forms;
  std::vector<double> bank_area;  // coefficients of bank_terms
  ByNode switches{};              // a crossbar's switch at each node, over one at 45 nm

  const KindModel& of(Form form) const { return forms[static_cast<std::size_t>(form)]; }
  KindModel& of(Form form) { return forms[static_cast<std::size_t>(form)]; }
};

double area_mm2(const ArrayModel& model, const Shape& shape, double node_nm);
double access_ns(const ArrayModel& model, const Shape& shape, double node_nm);

// What follows from the node: a feature's square in mm2, and access time over that at 45 nm. Between two
// nodes of CACTI it goes linearly; beyond them in proportion to the feature size.
double feature_mm2(double node_nm);
double time_factor(const KindModel& model, double node_nm);

// Made by fit_arrays (array_coefficients.cpp).
const ArrayModel& fitted_arrays();

}  // namespace weft::area

#endif
