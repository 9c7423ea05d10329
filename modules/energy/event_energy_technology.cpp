#include "energy/event_energy_technology.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

#include "common/config_document.h"
#include "weft/common/error.h"

namespace weft::energy {
namespace {

using nlohmann::json;

// How a figure follows the feature size: charge that is moved (length x volts squared), current that leaks
// (length x volts), a length, or not.
enum class Scaling : std::uint8_t { kSwitching, kLeakage, kLength, kNone };
struct Known {
  const char* name;
  const char* unit;
  Scaling scaling;
};

constexpr std::array kKnown = {
    Known{"operation.integer", "pJ", Scaling::kSwitching},
    Known{"operation.integer_64", "pJ", Scaling::kSwitching},
    Known{"operation.integer_multiply", "pJ", Scaling::kSwitching},
    Known{"operation.integer_multiply_64", "pJ", Scaling::kSwitching},
    Known{"operation.integer_divide", "pJ", Scaling::kSwitching},
    Known{"operation.half", "pJ", Scaling::kSwitching},
    Known{"operation.float_add", "pJ", Scaling::kSwitching},
    Known{"operation.float_multiply", "pJ", Scaling::kSwitching},
    Known{"operation.float_fma", "pJ", Scaling::kSwitching},
    Known{"operation.float_divide", "pJ", Scaling::kSwitching},
    Known{"operation.double_add", "pJ", Scaling::kSwitching},
    Known{"operation.double_multiply", "pJ", Scaling::kSwitching},
    Known{"operation.double_divide", "pJ", Scaling::kSwitching},
    Known{"operation.special", "pJ", Scaling::kSwitching},
    Known{"operation.move", "pJ", Scaling::kSwitching},
    Known{"operation.move_64", "pJ", Scaling::kSwitching},
    Known{"operation.warp", "pJ", Scaling::kSwitching},
    Known{"operation.memory", "pJ", Scaling::kSwitching},
    Known{"operation.control", "pJ", Scaling::kSwitching},
    Known{"issue", "pJ", Scaling::kSwitching},
    Known{"operation.idle_lane", "pJ", Scaling::kSwitching},
    Known{"sram.read", "pJ", Scaling::kSwitching},
    Known{"sram.read_width_exponent", "1", Scaling::kNone},
    Known{"sram.read_capacity_exponent", "1", Scaling::kNone},
    Known{"sram.write", "pJ", Scaling::kSwitching},
    Known{"sram.write_width_exponent", "1", Scaling::kNone},
    Known{"sram.write_capacity_exponent", "1", Scaling::kNone},
    Known{"sram.leakage", "mW/KB", Scaling::kLeakage},
    Known{"table.search", "pJ/bit", Scaling::kSwitching},
    Known{"wire", "pJ/bit/mm", Scaling::kSwitching},
    Known{"register_crossbar.pitch", "um", Scaling::kLength},
    Known{"coalescer.thread", "pJ", Scaling::kSwitching},
    Known{"network.length", "mm", Scaling::kNone},
    Known{"clock.lane", "pJ", Scaling::kSwitching},
    Known{"clock.cluster", "pJ", Scaling::kSwitching},
    Known{"clock.chip", "pJ", Scaling::kSwitching},
    Known{"leakage.lane", "mW", Scaling::kLeakage},
    Known{"dram.activate", "pJ/KB", Scaling::kNone},
    Known{"dram.read", "pJ/bit", Scaling::kNone},
    Known{"dram.write", "pJ/bit", Scaling::kNone},
    Known{"dram.refresh", "pJ", Scaling::kNone},
    Known{"dram.background", "mW", Scaling::kNone},
};

class Reader {
 public:
  Reader(std::string path, const json& document) : path_(std::move(path)), document_(document) {}

  [[noreturn]] void fail(const std::string& pointer, const std::string& text) const {
    throw InputError(path_ + ": " + pointer, text);
  }
  const json& member(const json& object, const std::string& pointer, const char* key) const {
    if (!object.is_object())
      fail(pointer, std::string("found ") + object.type_name() + "; allowed: an object");
    const auto found = object.find(key);
    if (found == object.end()) fail(pointer + "/" + key, "is missing");
    return *found;
  }
  double number(const json& object, const std::string& pointer, const char* key, double low,
                double high) const {
    const json& value = member(object, pointer, key);
    const double number = value.is_number() ? value.get<double>() : std::nan("");
    if (!(number >= low && number <= high)) {
      fail(pointer + "/" + key, "found " + value.dump() + "; allowed: numbers from " + json(low).dump() +
                                    " to " + json(high).dump());
    }
    return number;
  }
  std::string text(const json& object, const std::string& pointer, const char* key) const {
    const json& value = member(object, pointer, key);
    if (!value.is_string()) fail(pointer + "/" + key, "found " + value.dump() + "; allowed: a text");
    return value.get<std::string>();
  }
  void only(const json& object, const std::string& pointer, const std::vector<std::string>& keys) const {
    for (const auto& [key, value] : object.items()) {
      if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
      std::string known;
      for (const std::string& name : keys) known.append(known.empty() ? "" : ", ").append(name);
      fail(pointer + "/" + key, "unknown; allowed: " + known);
    }
  }
  const json& document() const { return document_; }

 private:
  const std::string path_;
  const json& document_;
};

constexpr double kLeastNode = 1, kMostNode = 250, kMost = 1e9;
constexpr double kLeastScaled = 22;  // smaller transistors differ, and supplies do not shrink with them

// Volts by feature size, between those listed in a straight line, beyond them as the last.
class Supply {
 public:
  explicit Supply(const Reader& reader) {
    const json& list = reader.member(reader.document(), "", "supply");
    if (!list.is_array() || list.empty()) reader.fail("/supply", "allowed: a list of {node_nm, volts}");
    for (std::size_t i = 0; i < list.size(); ++i) {
      const std::string at = "/supply/" + std::to_string(i);
      reader.only(list[i], at, {"node_nm", "volts"});
      points_.emplace_back(reader.number(list[i], at, "node_nm", kLeastNode, kMostNode),
                           reader.number(list[i], at, "volts", 0.1, 10));
    }
    std::sort(points_.begin(), points_.end());
  }
  double volts(double node) const {
    if (node <= points_.front().first) return points_.front().second;
    for (std::size_t i = 1; i < points_.size(); ++i) {
      const auto& [a, low] = points_[i - 1];
      const auto& [b, high] = points_[i];
      if (node <= b) return low + (high - low) * (node - a) / (b - a);
    }
    return points_.back().second;
  }

 private:
  std::vector<std::pair<double, double>> points_;
};

double factor(Scaling scaling, const Supply& supply, double from, double to) {
  const double length = to / from, volts = supply.volts(to) / supply.volts(from);
  switch (scaling) {
    case Scaling::kSwitching:
      return length * volts * volts;
    case Scaling::kLeakage:
      return length * volts;
    case Scaling::kLength:
      return length;
    case Scaling::kNone:
      break;
  }
  return 1;
}

}  // namespace

Technology Technology::read(const std::string& path, double node_nm) {
  const json document = config::read_file(path);
  const Reader reader(path, document);
  reader.only(document, "", {"name", "node_nm", "about", "supply", "supply_source", "figures"});
  Technology technology;
  technology.name_ = reader.text(document, "", "name");
  const double own = reader.number(document, "", "node_nm", kLeastNode, kMostNode);
  technology.node_nm_ = node_nm == 0 ? own : node_nm;
  const Supply supply(reader);
  const json& figures = reader.member(document, "", "figures");
  std::vector<std::string> names;
  names.reserve(kKnown.size());
  for (const Known& known : kKnown) names.emplace_back(known.name);
  for (const Known& known : kKnown) {
    const std::string at = std::string("/figures/") + known.name;
    const json& given = reader.member(figures, "/figures", known.name);
    Figure figure;
    figure.value = reader.number(given, at, "value", 0, kMost);
    reader.only(given, at, {"value", "unit", "node_nm", "low", "high", "basis", "source"});
    figure.unit = reader.text(given, at, "unit");
    if (figure.unit != known.unit)
      reader.fail(at + "/unit", "found \"" + figure.unit + "\"; allowed: \"" + known.unit + "\"");
    figure.low = reader.number(given, at, "low", 0, 1);
    figure.high = reader.number(given, at, "high", 1, 100);
    figure.basis = reader.text(given, at, "basis");
    if (figure.basis != "read" && figure.basis != "recalled" && figure.basis != "derived")
      reader.fail(at + "/basis", "found \"" + figure.basis + "\"; allowed: read, recalled, derived");
    figure.source = reader.text(given, at, "source");
    const double from =
        given.contains("node_nm") ? reader.number(given, at, "node_nm", kLeastNode, kMostNode) : own;
    if (from != technology.node_nm_ && std::min(from, technology.node_nm_) < kLeastScaled) {
      std::ostringstream text;
      text << "found " << technology.node_nm_ << ", to which " << known.name << " would be scaled from "
           << from << " nm; allowed: at least " << kLeastScaled
           << " nm on both sides, or figures of this node in a file";
      throw InputError(path + ": energy.node_nm", text.str());
    }
    figure.value *= factor(known.scaling, supply, from, technology.node_nm_);
    technology.figures_.emplace(known.name, std::move(figure));
  }
  reader.only(figures, "/figures", names);
  return technology;
}

const Figure& Technology::at(std::string_view figure) const {
  const auto found = figures_.find(figure);
  if (found == figures_.end()) throw std::logic_error("unknown figure of energy " + std::string(figure));
  return found->second;
}

}  // namespace weft::energy
