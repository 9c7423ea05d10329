// What an event of each kind costs on a machine.
#include <algorithm>
#include <cmath>
#include <map>

#include "energy/event_energy.h"

namespace weft::energy {
namespace {

Price operator*(Price price, double times) {
  return {price.picojoules * times, price.low * times, price.high * times};
}
Price operator+(Price a, Price b) {
  return {a.picojoules + b.picojoules, a.low + b.low, a.high + b.high};
}

// The least array for which the power laws of SRAMs were fitted.
constexpr double kLeastBytes = 64;
// Entries of an operand collector, each of a row, for each lane's share.
constexpr double kCollectorEntries = 8;
constexpr double kTagBits = 32;

class Pricing {
 public:
  Pricing(const Machine& machine, const Technology& technology) : m_(machine), t_(technology) {}

  Price of(const Event& event, const std::vector<SchemeTable>& tables) const {
    const std::string& name = event.name;
    if (event.component == Component::kLanes) return figure(name);
    if (event.component == Component::kScheme)
      return table(tables[event.table], event.counters.front().back());
    const std::map<std::string, Price> known = {
        {"register_read", register_row(kRead)},
        {"register_write", register_row(kWrite)},
        {"register_crossbar", register_crossbar()},
        {"operand_collector", collector()},
        {"scalar_register_read", scalar_word(kRead)},
        {"scalar_register_write", scalar_word(kWrite)},
        {"issue", figure("issue")},
        {"instruction_buffer_read", array(kRead, m_.buffer_bytes, 64)},
        {"instruction_buffer_write", array(kWrite, m_.buffer_bytes, m_.fetch_bits)},
        {"l1i_read", tags(m_.l1i) + data(kRead, m_.l1i, m_.fetch_bits)},
        {"l1i_fill", data(kWrite, m_.l1i, m_.l1i.line_bytes * 8)},
        {"shared_read", shared_word(kRead)},
        {"shared_write", shared_word(kWrite)},
        {"coalescer", figure("coalescer.thread")},
        {"l1d_tags", tags(m_.l1d)},
        {"l1d_read_hit", first_level(kRead, m_.block_bytes * 8)},
        {"l1d_fill", first_level(kWrite, m_.l1d_fetch_bytes * 8)},
        {"l1d_write_absorbed", first_level(kWrite, m_.block_bytes * 8)},
        {"l1d_write_hit", first_level(kWrite, m_.block_bytes * 8) * (m_.stores_update ? 1 : 0)},
        {"l1c_read", tags(m_.l1c) + data(kRead, m_.l1c, 32)},
        {"l1c_fill", data(kWrite, m_.l1c, m_.l1c.line_bytes * 8)},
        {"l1t_read", tags(m_.l1t) + data(kRead, m_.l1t, 256)},
        {"l1t_fill", data(kWrite, m_.l1t, m_.l1t.line_bytes * 8)},
        {"sm_clock", figure("clock.lane") * (m_.lanes / m_.schedulers)},
        {"flit", figure("wire") * (m_.flit_bits * t_.at("network.length").value)},
        {"l2_tags", tags(m_.l2)},
        {"l2_read", l2(kRead, m_.block_bytes)},
        {"l2_write", l2(kWrite, m_.block_bytes)},
        {"l2_fill", l2(kWrite, m_.l2_fetch_bytes)},
        {"dram_activate", figure("dram.activate") * m_.row_kilobytes},
        {"dram_read_byte", figure("dram.read") * 8},
        {"dram_write_byte", figure("dram.write") * 8},
        {"dram_refresh", figure("dram.refresh") * 1},
        {"dram_standby", per_cycle("dram.background", m_.dram_devices)},
        {"chip_clock", chip_clock()},
        {"leakage", leakage()},
    };
    return known.at(name);
  }

 private:
  Price figure(const std::string& name) const {
    const Figure& f = t_.at(name);
    return {f.value, f.value * f.low, f.value * f.high};
  }
  // Of a power in mW: pJ in a core cycle.
  Price per_cycle(const std::string& name, double times) const {
    return figure(name) * (times * 1000 / m_.core_mhz);
  }
  enum Access : std::uint8_t { kRead, kWrite };
  // An access of so many bits to an array.
  Price array(Access access, double bytes, double bits) const {
    if (bytes == 0) return {};
    const std::string of = access == kRead ? "sram.read" : "sram.write";
    return figure(of) *
           (std::pow(bits / 256, t_.at(of + "_width_exponent").value) *
            std::pow(std::max(bytes, kLeastBytes) / 8192, t_.at(of + "_capacity_exponent").value));
  }
  Price data(Access access, const Machine::Cache& cache, double bits) const {
    return cache.enabled ? array(access, cache.bytes, bits) : Price();
  }
  Price tags(const Machine::Cache& cache) const {
    if (!cache.enabled) return {};
    return array(kRead, cache.bytes / cache.line_bytes * kTagBits / 8, cache.ways * kTagBits);
  }
  Price l2(Access access, double bytes) const { return array(access, m_.l2.bytes, 256) * (bytes * 8 / 256); }

  // Lanes apart: as many narrow banks as lanes. Together: a wide one.
  double row_parts() const { return m_.lanes_apart ? m_.row_lanes : 1; }
  double part_bits() const { return 32 * m_.row_lanes / row_parts(); }
  double bank_bytes() const {
    const double parts_of_file = m_.lanes_apart ? m_.lanes : m_.lanes / m_.row_lanes;
    return m_.register_bytes / parts_of_file / m_.register_banks;
  }
  Price register_row(Access access) const { return array(access, bank_bytes(), part_bits()) * row_parts(); }
  // Each bit goes along a side of the crossbar, which is as long as its ports' wires are wide.
  Price register_crossbar() const { return crossbar(part_bits()) * row_parts(); }
  Price crossbar(double bits) const {
    const double side_mm = m_.register_banks * part_bits() * t_.at("register_crossbar.pitch").value * 1e-3;
    return figure("wire") * (bits * side_mm);
  }
  // An entry is written and read.
  Price collector() const { return collector(part_bits()) * row_parts(); }
  Price collector(double bits) const {
    const double bytes = kCollectorEntries * bits / 8;
    return array(kWrite, bytes, bits) + array(kRead, bytes, bits);
  }
  // A word of a warp: in the banks of a lane, or in a file of its own. What is read goes the way of other
  // operands.
  Price scalar_word(Access access) const {
    const bool own = m_.scalar_bytes != 0;
    const double bytes = own ? m_.scalar_bytes / m_.register_banks : bank_bytes();
    Price price = array(access, bytes, own || m_.lanes_apart ? 32 : part_bits());
    if (access == kRead) price = price + crossbar(32) + collector(32);
    return price;
  }
  // A word of a bank, and its way across the banks, which lie side by side as squares of the size of CACTI's.
  Price shared_word(Access access) const {
    constexpr double kSquareMillimetresPerKilobyte = 0.0026;  // of single-ported SRAM, CACTI 6.5 at 40 nm
    const double side_mm = std::sqrt(m_.shared_bytes / 1024 * kSquareMillimetresPerKilobyte);
    return array(access, m_.shared_bytes / m_.shared_banks, m_.bank_bits) +
           figure("wire") * (m_.bank_bits * side_mm);
  }
  // Of the data cache: an array of its own, or words of the banks that it has in common with shared memory.
  Price first_level(Access access, double bits) const {
    if (!m_.unified_l1 || !m_.l1d.enabled) return data(access, m_.l1d, bits);
    return shared_word(access) * (bits / m_.bank_bits);
  }
  Price table(const SchemeTable& table, const std::string& use) const {
    const double bits = table.rows * table.row_bits;
    if (use == "searches") return figure("table.search") * bits;
    return bits == 0 ? Price() : array(use == "reads" ? kRead : kWrite, bits / 8, table.row_bits);
  }
  // Figures are of a cycle of the chip's own clock, events of a core cycle.
  Price chip_clock() const {
    return (figure("clock.chip") + figure("clock.cluster") * m_.clusters) * (m_.chip_mhz / m_.core_mhz);
  }
  // Of the chip by its lanes, as published figures have it, and of the L2, of which those chips had little. A
  // configuration may describe lanes at half of their clock, twice as many: what counts is what they do.
  Price leakage() const {
    constexpr double kLaneClock = 1400;  // of the lanes that the figure is of, in MHz
    const double lanes = m_.sms * m_.lanes * m_.core_mhz / kLaneClock;
    return per_cycle("leakage.lane", lanes) + per_cycle("sram.leakage", m_.l2_banks * m_.l2.bytes / 1024);
  }

  const Machine& m_;
  const Technology& t_;
};

}  // namespace

std::vector<Price> prices_of(const Events& events, const Machine& machine, const Technology& technology) {
  const Pricing pricing(machine, technology);
  std::vector<Price> prices;
  prices.reserve(events.all.size());
  for (const Event& event : events.all) prices.push_back(pricing.of(event, events.tables));
  return prices;
}

}  // namespace weft::energy
