#include "area/array_terms.h"

#include <cmath>
#include <numeric>

namespace weft::area {
namespace {

// Cells, in feature sizes (CACTI 6.5). One of six transistors takes 146 squares and is 1.46 times as high as
// wide; a further port adds two wires, of 2.5 each, both ways.
double cell_width(double ports) {
  return 10 + 5 * (ports - 1);
}
double cell_height(double ports) {
  return 14.6 + 5 * (ports - 1);
}
// One of a CAM is scaled from a process of 800 nm; a further port that writes adds more than one that reads.
double more_writers(double writers, double first, double later) {
  return writers > 1 ? first + later * (writers - 2) : 0;
}
double cam_width(const Shape& s) {
  return 54 + 2 * (more_writers(s.read_write + s.write, 20, 12) + 12 * s.read);
}
double cam_height(const Shape& s) {
  return 30.5 + more_writers(s.read_write + s.write, 20, 20) + 15 * s.read;
}

// The cells of a bank as a rectangle.
struct Cells {
  Cells(const Shape& s, double ports)
      : columns(s.bits * s.ways), width(columns * cell_width(ports)), height(s.rows * cell_height(ports)) {}
  double columns, width, height;
  double side() const { return std::sqrt(width * height); }
};

Terms ram_terms(const Shape& s) {
  const double ports = s.ports();
  const Cells cells(s, ports);
  return {cells.width * cells.height,                         // cells
          cells.height * ports,                               // drivers of the rows, for each port
          s.bits * ports * cells.width,                       // wires of the outputs across the columns
          cells.side() * ports,                               // decoders
          cells.side(),                                       // ...
          s.bits * ports * ports * std::sqrt(cells.height)};  // wires past them
}

// The data of sets: wires are for one way, behind what chooses it.
Terms set_terms(const Shape& s) {
  const double ports = s.ports();
  const Cells cells(s, ports);
  return {cells.width * cells.height,
          cells.height * ports,
          s.bits * ports * cells.width,
          cells.width * ports,  // sense amplifiers
          cells.width,
          s.bits * s.bits * ports * ports,  // wires across wires
          s.bits * s.rows * ports,          // columns folded into rows
          cells.columns * s.bits * ports};
}

// Tags have wires for ports that write, but no higher cells.
Terms tag_terms(const Shape& s) {
  const double ports = s.ports();
  const Cells cells(s, s.read_write + s.read);
  return {cells.width * cells.height,
          cells.width,
          s.bits * s.rows,
          cells.side() * ports,
          s.bits * ports * ports * std::sqrt(cells.height),
          s.bits * ports * cells.width,
          cells.height * ports,
          cells.columns * ports * ports,  // comparators
          s.bits * ports * cells.side(),
          s.ways * cells.side(),
          cells.columns * cells.columns * ports};
}

Terms cam_terms(const Shape& s) {
  const double ports = s.ports();
  const double width = s.bits * cam_width(s);
  return {width * s.rows * cam_height(s),  // cells
          width, width * ports,            // drivers of the columns
          s.bits * ports * width};         // wires of the key across them
}

// Wires have a pitch of 8 feature sizes, and a row for each way; unless the switches are wider.
Terms crossbar_terms(const Shape& s) {
  return {s.rows * s.ways * s.bits};
}

}  // namespace

double crossbar_wires(const Shape& shape) {
  constexpr double kPitch = 8;
  return 2 * kPitch * kPitch * shape.rows * shape.ways * shape.bits * shape.bits;
}

Terms area_terms(const Shape& shape) {
  switch (shape.kind) {
    case storage::Kind::kRam:
      return shape.ways > 1 ? set_terms(shape) : ram_terms(shape);
    case storage::Kind::kTags:
      return tag_terms(shape);
    case storage::Kind::kCam:
      return cam_terms(shape);
    case storage::Kind::kCrossbar:
      return crossbar_terms(shape);
  }
  return {};
}

Terms bank_terms(const Shape& s, double bank) {
  const double wires = s.bits * (2 * s.read_write + s.read + s.write);  // data in and data out
  const double levels = std::log2(s.banks);                             // of the tree between the banks
  const double side = std::sqrt(s.banks * bank);
  return {s.banks * bank, levels * wires * side, levels * wires * wires, levels * levels * wires * wires,
          levels * s.ports() * side};
}

Terms time_terms(const Shape& s) {
  const double ports = s.ports();
  if (s.kind == storage::Kind::kCrossbar) return {};
  if (s.kind == storage::Kind::kCam) return {1, s.bits, s.rows * ports, std::log2(s.rows), std::log2(s.bits)};
  const Cells cells(s, ports);
  const double levels = std::log2(s.banks);
  return {1,
          std::log2(s.rows),
          std::log2(cells.columns),
          cells.side(),
          cells.width,
          std::sqrt(cells.height),
          std::sqrt(cells.width),
          s.bits * ports,
          levels,
          levels * cells.side() * std::sqrt(s.banks)};
}

double sum(const Terms& terms, const std::vector<double>& coefficients) {
  return std::inner_product(terms.begin(), terms.end(), coefficients.begin(), 0.0);
}

}  // namespace weft::area
