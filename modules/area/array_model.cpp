#include "area/array_model.h"

#include <algorithm>

namespace weft::area {

Form form_of(const Shape& shape) {
  switch (shape.kind) {
    case storage::Kind::kTags:
      return Form::kTags;
    case storage::Kind::kCam:
      return Form::kCam;
    case storage::Kind::kCrossbar:
      return Form::kCrossbar;
    case storage::Kind::kRam:
      break;
  }
  return shape.ways > 1 ? Form::kSets : Form::kRam;
}

double at_node(const ByNode& figures, double node_nm, Beyond beyond) {
  const auto outside = [&](double figure, double node) {
    return beyond == Beyond::kConstant ? figure : figure * node_nm / node;
  };
  if (node_nm <= kNodes.front()) return outside(figures.front(), kNodes.front());
  for (std::size_t n = 1; n < kNodes.size(); ++n) {
    if (node_nm > kNodes[n]) continue;
    const double part = (node_nm - kNodes[n - 1]) / (kNodes[n] - kNodes[n - 1]);
    return figures[n - 1] + part * (figures[n] - figures[n - 1]);
  }
  return outside(figures.back(), kNodes.back());
}

double feature_mm2(double node_nm) {
  return node_nm * node_nm * 1e-12;
}

double time_factor(const KindModel& model, double node_nm) {
  return at_node(model.time_scale, node_nm, Beyond::kProportional);
}

double area_mm2(const ArrayModel& model, const Shape& shape, double node_nm) {
  double area = sum(area_terms(shape), model.of(form_of(shape)).area);
  if (shape.kind == storage::Kind::kCrossbar) {
    area = std::max(area * at_node(model.switches, node_nm, Beyond::kConstant), crossbar_wires(shape));
  } else if (shape.banks > 1) {
    area = sum(bank_terms(shape, area), model.bank_area);
  }
  return area * feature_mm2(node_nm);
}

double access_ns(const ArrayModel& model, const Shape& shape, double node_nm) {
  const KindModel& kind = model.of(form_of(shape));
  if (kind.time.empty()) return 0;
  return sum(time_terms(shape), kind.time) * time_factor(kind, node_nm);
}

}  // namespace weft::area
