#include "study/session/machine_area.h"

#include <algorithm>

#include "machine/sm_arrays.h"

namespace weft::study {
namespace {

// A RAM of a part that has a CAM, too, holds the data that the CAM selects.
bool is_selected_by_cam(const storage::Array& array, const storage::Arrays& all) {
  return array.kind == storage::Kind::kRam &&
         std::any_of(all.begin(), all.end(), [&](const storage::Array& other) {
           return other.kind == storage::Kind::kCam && other.part == array.part;
         });
}

}  // namespace

double MachineArea::sm_mm2(const std::function<bool(const AreaRow&)>& is_meant) const {
  double sum = 0;
  for (const AreaRow& row : rows) {
    if (is_meant(row)) sum += row.sm_mm2();
  }
  return sum;
}

MachineArea area_of(const GpuConfig& config, std::uint64_t stack_entries) {
  const machine::SmArrays arrays = machine::arrays_of(config.sm, config.warp_formation, stack_entries);
  MachineArea area;
  area.machine = config.name;
  area.scheme = config.warp_formation.scheme;
  area.node_nm = config.process.node_nm;
  area.chip_mm2 = config.process.chip_mm2;
  area.sms = config.sm.count;
  area.domains = arrays.domains;
  const auto add = [&](AreaRow::Owner owner, const storage::Arrays& declared, std::uint64_t each) {
    for (const storage::Array& array : declared) {
      storage::Array priced = array;
      if (config.process.cam_data == GpuConfig::Process::CamData::kCam && is_selected_by_cam(array, declared))
        priced.kind = storage::Kind::kCam;
      area.rows.push_back({owner, array, each, area::cost_of(priced, area.node_nm, area.scheme)});
    }
  };
  add(AreaRow::Owner::kScheme, arrays.scheme, arrays.domains);
  add(AreaRow::Owner::kRegisters, arrays.registers, 1);
  return area;
}

}  // namespace weft::study
