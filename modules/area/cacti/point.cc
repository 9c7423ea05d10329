// One run of CACTI 6.5, as a line of figures; compiled and called by run_grid, no part of Weft.
//
//   point array FILE               the array that the configuration file describes
//   point crossbar FILE IN OUT W   a crossbar of IN inputs and OUT outputs of W bits, at the file's node
//
// Prints "FIGURES," and, with commas between: area (mm2), access time (ns), read and write energy (pJ) and
// leakage (mW) of the data array, then of the tag array (0 where there is none), then area and access time of
// both. A crossbar: its area, and its energy and leakage.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "cacti_interface.h"
#include "crossbar.h"
#include "parameter.h"
#include "wire.h"

void init_tech_params(double node_um, bool is_tag);  // CACTI declares it in a source

namespace {

void print(const mem_array* array) {
  if (array == nullptr) {
    std::printf(",0,0,0,0,0");
    return;
  }
  std::printf(",%.6g,%.6g,%.6g,%.6g,%.6g", array->area * 1e-6, array->access_time * 1e9,
              array->power.readOp.dynamic * 1e12, array->power.writeOp.dynamic * 1e12,
              array->power.readOp.leakage * 1e3);
}

int run_array(const std::string& file) {
  const uca_org_t found = cacti_interface(file);
  const bool has_tags = found.tag_array2 != nullptr && found.tag_array2 != found.data_array2;
  std::printf("\nFIGURES");
  print(found.data_array2);
  print(has_tags ? found.tag_array2 : nullptr);
  std::printf(",%.6g,%.6g\n", found.cache_ht * found.cache_len * 1e-6, found.access_time * 1e9);
  return 0;
}

int run_crossbar(const std::string& file, double inputs, double outputs, double width) {
  g_ip = new InputParameter();
  g_ip->parse_cfg(file);
  if (!g_ip->error_checking()) return 1;
  init_tech_params(g_ip->F_sz_um, false);
  const Wire wires;  // sets up the wires
  Crossbar crossbar(inputs, outputs, width);
  crossbar.compute_power();
  const double area = crossbar.area.w * crossbar.area.h * 1e-6;
  const double energy = crossbar.power.readOp.dynamic * 1e12;
  std::printf("\nFIGURES,%.6g,0,%.6g,%.6g,%.6g,0,0,0,0,0,%.6g,0\n", area, energy, energy,
              crossbar.power.readOp.leakage * 1e3, area);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 2 ? argv[1] : "";
  if (what == "array" && argc == 3) return run_array(argv[2]);
  if (what == "crossbar" && argc == 6)
    return run_crossbar(argv[2], std::atof(argv[3]), std::atof(argv[4]), std::atof(argv[5]));
  std::fprintf(stderr, "point array FILE | point crossbar FILE IN OUT W\n");
  return 2;
}
