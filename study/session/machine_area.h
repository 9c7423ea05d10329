// What the tables of a machine's scheme and its registers take: what its parts declare (machine/sm_arrays.h),
// priced by modules/area.
#ifndef WEFT_STUDY_SESSION_MACHINE_AREA_H
#define WEFT_STUDY_SESSION_MACHINE_AREA_H

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "area/array_cost.h"
#include "weft/common/storage.h"
#include "weft/platform/gpu_config.h"

namespace weft::study {

// The deepest reconvergence stack of the papers' programs has 15 (study/session/results.md).
inline constexpr std::uint64_t kStackEntries = 16;

struct AreaRow {
  enum class Owner : std::uint8_t { kScheme, kRegisters };
  Owner owner = Owner::kScheme;
  storage::Array array;    // of one scheduler domain, or of an SM's registers
  std::uint64_t each = 1;  // such in an SM
  area::ArrayCost cost;    // of `array`, with its copies

  double sm_mm2() const { return static_cast<double>(each) * cost.area_mm2; }
  std::uint64_t sm_bits() const { return each * array.stored_bits(); }
};

struct MachineArea {
  std::string machine, scheme;
  double node_nm = 0, chip_mm2 = 0;
  std::uint64_t sms = 1, domains = 1;
  std::vector<AreaRow> rows;

  // Of the rows that are meant, over an SM.
  double sm_mm2(const std::function<bool(const AreaRow&)>& is_meant) const;
  // The part that so much of each SM is of the chip; 0: the chip's area is not known.
  double chip_share(double sm_mm2) const {
    return chip_mm2 == 0 ? 0 : static_cast<double>(sms) * sm_mm2 / chip_mm2;
  }
};

// Throws InputError.
MachineArea area_of(const GpuConfig& config, std::uint64_t stack_entries);

}  // namespace weft::study

#endif
