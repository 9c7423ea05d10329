// Writes weft.svd: the registers as Arm's CMSIS-SVD 1.3 describes a peripheral's.
//
// A register whose names are single bits gets a field for each; one whose names are numbers gets a field with
// these values. Packets and kernel objects lie in memory: they are in weft_registers.h only.
#include <algorithm>
#include <cstring>
#include <fstream>
#include <iostream>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>

#include "common/hex.h"
#include "common/markup.h"
#include "host/register_table.h"

namespace weft::host {
namespace {

using Constants = std::vector<const ConstantEntry*>;

// Elements, each in a line of its own, with what is in them further to the right.
class Xml {
 public:
  explicit Xml(std::ostream& out) : out_(out) {}
  void open(const std::string& tag) {
    line() << "<" << tag << ">\n";
    ++depth_;
  }
  void close(const std::string& tag) {
    --depth_;
    line() << "</" << tag << ">\n";
  }
  void element(const std::string& tag, const std::string& text) {
    line() << "<" << tag << ">" << as_markup(text) << "</" << tag << ">\n";
  }
  // An element may not be empty.
  void description(const std::string& text, const std::string& instead) {
    element("description", text.empty() ? instead : text);
  }

 private:
  std::ostream& line() { return out_ << std::string(2 * depth_, ' '); }
  std::ostream& out_;
  unsigned depth_ = 0;
};

// Empty: no constant's name begins so.
Constants constants_of(const std::string& prefix) {
  Constants found;
  for (const ConstantGroup& group : constant_groups()) {
    for (const ConstantEntry& entry : group.constants) {
      if (std::strncmp(entry.name, prefix.c_str(), prefix.size()) == 0) found.push_back(&entry);
    }
  }
  return found;
}

bool are_bits(const Constants& constants) {
  std::set<std::uint64_t> seen;
  return std::all_of(constants.begin(), constants.end(), [&](const ConstantEntry* entry) {
    return entry->value != 0 && (entry->value & (entry->value - 1)) == 0 && seen.insert(entry->value).second;
  });
}

std::string without(const std::string& prefix, const std::string& name) {
  return name.size() > prefix.size() && prefix.back() == '_' ? name.substr(prefix.size()) : name;
}

void write_fields(Xml& xml, const std::string& prefix, const std::string& name) {
  const Constants constants = constants_of(prefix);
  if (constants.empty()) throw std::runtime_error("no constant begins with " + prefix);
  xml.open("fields");
  if (are_bits(constants)) {
    for (const ConstantEntry* entry : constants) {
      const std::string bit = std::to_string(__builtin_ctzll(entry->value));
      const std::string range = std::string("[").append(bit).append(":").append(bit).append("]");
      xml.open("field");
      xml.element("name", without(prefix, entry->name));
      xml.description(entry->meaning, std::string("WEFT_") + entry->name);
      xml.element("bitRange", range);
      xml.close("field");
    }
  } else {
    xml.open("field");
    xml.element("name", name);
    xml.element("bitRange", "[31:0]");
    xml.open("enumeratedValues");
    for (const ConstantEntry* entry : constants) {
      xml.open("enumeratedValue");
      xml.element("name", without(prefix, entry->name));
      xml.description(entry->meaning, std::string("WEFT_") + entry->name);
      xml.element("value", hex(entry->value));
      xml.close("enumeratedValue");
    }
    xml.close("enumeratedValues");
    xml.close("field");
  }
  xml.close("fields");
}

const RegisterValues* values_of(const RegisterBlock& block, const RegisterEntry& entry) {
  for (const RegisterValues& values : register_values()) {
    if (std::strcmp(values.block, block.prefix) == 0 && std::strcmp(values.name, entry.name) == 0)
      return &values;
  }
  return nullptr;
}

void write_register(Xml& xml, const RegisterBlock& block, const RegisterEntry& entry) {
  xml.open("register");
  xml.element("name", entry.name);
  xml.description(entry.meaning, "the high word");
  xml.element("addressOffset", hex(entry.offset));
  const bool read_only = entry.access == RegisterAccess::kReadOnly;
  xml.element("access", read_only ? "read-only" : "read-write");
  // What software can write is 0 after a reset. What it only reads depends on the configuration, unless the
  // map says what it is.
  const std::optional<std::uint64_t> fixed = find_constant(std::string(entry.name) + "_VALUE");
  xml.element("resetValue", hex(fixed.value_or(0)));
  xml.element("resetMask", read_only && !fixed.has_value() ? "0x0" : "0xFFFFFFFF");
  if (entry.access == RegisterAccess::kWriteOneToClear) xml.element("modifiedWriteValues", "oneToClear");
  if (const RegisterValues* values = values_of(block, entry)) write_fields(xml, values->values, entry.name);
  xml.close("register");
}

void write_block(Xml& xml, const RegisterBlock& block) {
  if (block.base != nullptr) {
    const std::string name(block.prefix, std::strlen(block.prefix) - 1);
    xml.open("cluster");
    xml.element("dim", std::to_string(block.most));
    xml.element("dimIncrement", hex(constant(block.stride)));
    xml.element("name", name + "[%s]");
    xml.element("description",
                std::string(block.meaning) + "; the register " + block.count + " has their number");
    xml.element("addressOffset", hex(constant(block.base)));
  }
  for (const RegisterEntry& entry : block.registers) write_register(xml, block, entry);
  if (block.base != nullptr) xml.close("cluster");
}

// Every name that the tables give leads to a register.
void check_values() {
  for (const RegisterValues& values : register_values()) {
    bool found = false;
    for (const RegisterBlock& block : register_blocks()) {
      if (std::strcmp(block.prefix, values.block) != 0) continue;
      for (const RegisterEntry& entry : block.registers)
        found = found || std::strcmp(entry.name, values.name) == 0;
    }
    if (!found) throw std::runtime_error(std::string("no register ") + values.block + values.name);
  }
}

void write_svd(std::ostream& out, const std::string& version) {
  check_values();
  Xml xml(out);
  out << "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n"
         "<!-- Written by the build from modules/host/register_table.cpp. -->\n";
  xml.open(
      "device schemaVersion=\"1.3\" xmlns:xs=\"http://www.w3.org/2001/XMLSchema-instance\" "
      "xs:noNamespaceSchemaLocation=\"CMSIS-SVD.xsd\"");
  xml.element("name", "Weft");
  xml.element("version", version);
  xml.element("description", "Weft, a GPU: what its host socket shows, little endian");
  xml.element("addressUnitBits", "8");
  xml.element("width", "32");
  xml.element("size", "32");
  xml.open("peripherals");
  xml.open("peripheral");
  xml.element("name", "WEFT");
  xml.element("description", "The base address is the integrator's. Device memory follows at offset " +
                                 hex(constant("APERTURE")) + "; packets are described in weft_registers.h.");
  xml.element("baseAddress", "0x0");
  xml.open("addressBlock");
  xml.element("offset", "0x0");
  xml.element("size", hex(constant("REGISTER_BYTES")));
  xml.element("usage", "registers");
  xml.close("addressBlock");
  xml.open("interrupt");
  xml.element("name", "WEFT");
  xml.element("description",
              "a level: IRQ_STATUS and IRQ_ENABLE have a bit in common; its number is the integrator's");
  xml.element("value", "0");
  xml.close("interrupt");
  xml.open("registers");
  for (const RegisterBlock& block : register_blocks()) write_block(xml, block);
  xml.close("registers");
  xml.close("peripheral");
  xml.close("peripherals");
  xml.close("device");
}

}  // namespace
}  // namespace weft::host

int main(int argc, char** argv) try {
  if (argc != 3) {
    std::cerr << "usage: weft_svd_writer FILE VERSION\n";
    return 2;
  }
  std::ofstream file(argv[1]);
  weft::host::write_svd(file, argv[2]);
  if (!file.flush()) throw std::runtime_error("cannot be written");
  return 0;
} catch (const std::exception& error) {
  std::cerr << argv[1] << ": " << error.what() << "\n";
  return 1;
}
