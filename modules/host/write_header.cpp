// Writes weft_registers.h from the register table: `weft_registers_writer FILE`.
#include <cctype>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

#include "host/register_table.h"

namespace weft::host {
namespace {

const char* const kOpening =
    R"(/* Registers, packets and kernel objects of the GPU, for firmware and drivers: C99 and C++.
 * Written by the build from modules/host/register_table.cpp; modules/host/README.md explains their use.
 *
 * Everything is little endian. Registers are 32 bits wide at WEFT_REG_* from the base of the GPU's host socket;
 * those of window i at WEFT_WINDOW(i, WEFT_WINDOW_*), of queue q at WEFT_QUEUE(q, WEFT_QUEUE_*),
 * WEFT_QUEUE_FAULT(q, WEFT_QUEUE_FAULT_*) and WEFT_QUEUE_RUNTIME(q, WEFT_QUEUE_RUNTIME_*).
 */
#ifndef WEFT_REGISTERS_H
#define WEFT_REGISTERS_H

#ifndef __ASSEMBLER__
#include <stddef.h>
#include <stdint.h>
#endif

/* NOLINTBEGIN: the names are C's */
)";

std::string hex(std::uint64_t value, unsigned digits) {
  std::ostringstream text;
  text << std::hex << std::uppercase << value;
  const std::string bare = text.str();
  return "0x" + (bare.size() < digits ? std::string(digits - bare.size(), '0') : std::string()) + bare;
}

const char* name_of(RegisterAccess access) {
  switch (access) {
    case RegisterAccess::kReadOnly:
      return "read only";
    case RegisterAccess::kReadWrite:
      return "read, write";
    case RegisterAccess::kWriteOneToClear:
      return "read, write 1 to clear";
    case RegisterAccess::kNone:
      break;
  }
  return "none";
}

void define(std::ostream& out, const std::string& name, const std::string& value,
            const std::string& comment) {
  out << "#define WEFT_" << name << " " << value;
  if (!comment.empty()) out << " /* " << comment << " */";
  out << "\n";
}

void write_registers(std::ostream& out, const char* title, const char* prefix,
                     const std::vector<RegisterEntry>& registers) {
  out << "\n/* " << title << " */\n";
  for (const RegisterEntry& entry : registers) {
    const std::string meaning = entry.meaning;
    define(out, std::string(prefix) + entry.name, hex(entry.offset, 3),
           meaning.empty() ? "" : std::string(name_of(entry.access)) + ": " + meaning);
  }
}

std::string upper(std::string text) {
  for (char& c : text) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return text;
}

unsigned bytes_of(const std::string& type) {
  return type == "uint16_t" ? 2 : type == "uint32_t" ? 4 : type == "uint64_t" || type == "int64_t" ? 8 : 0;
}

// False: the fields do not fill the structure, or would leave padding.
bool write_structure(std::ostream& out, const StructureEntry& structure) {
  const std::string name = std::string("weft_") + structure.name;
  std::ostringstream fields, asserts;
  unsigned offset = 0;
  for (const FieldEntry& field : structure.fields) {
    const unsigned bytes = bytes_of(field.type);
    if (bytes == 0 || offset % bytes != 0) return false;
    fields << "  " << field.type << " " << field.name;
    if (field.count != 1) fields << "[" << field.count << "]";
    fields << ";";
    if (*field.meaning != '\0') fields << " /* " << field.meaning << " */";
    fields << "\n";
    asserts << "WEFT_STATIC_ASSERT(" << structure.name << "_" << field.name << ", offsetof(struct " << name
            << ", " << field.name << ") == " << offset << ");\n";
    offset += bytes * field.count;
  }
  if (offset != structure.bytes) return false;
  out << "\n/* " << structure.meaning << " */\nstruct " << name << " {\n" << fields.str() << "};\n";
  out << "WEFT_STATIC_ASSERT(" << structure.name << "_sizeof, sizeof(struct " << name
      << ") == " << structure.bytes << ");\n"
      << asserts.str();
  return true;
}

bool write_header(std::ostream& out) {
  out << kOpening;
  write_registers(out, "Registers", "REG_", global_registers());
  write_registers(out, "Registers of a window", "WINDOW_", window_registers());
  write_registers(out, "Registers of a queue", "QUEUE_", queue_registers());
  write_registers(out, "Registers that say why a queue has stopped", "QUEUE_FAULT_", queue_fault_registers());
  write_registers(out, "Registers for printf and malloc of a queue's kernels", "QUEUE_RUNTIME_",
                  queue_runtime_registers());
  for (const ConstantGroup& group : constant_groups()) {
    out << "\n/* " << group.meaning << " */\n";
    for (const ConstantEntry& entry : group.constants) {
      const bool wide = entry.value > UINT32_MAX;  // assemblers know no suffix, and use no such number
      define(out, entry.name, hex(entry.value, 1) + (wide ? "ULL" : ""), entry.meaning);
    }
  }
  out << "\n#define WEFT_WINDOW(i, reg) (WEFT_WINDOW_BASE + WEFT_WINDOW_STRIDE * (i) + (reg))\n"
         "#define WEFT_QUEUE(q, reg) (WEFT_QUEUE_BASE + WEFT_QUEUE_STRIDE * (q) + (reg))\n"
         "#define WEFT_QUEUE_FAULT(q, reg) (WEFT_QUEUE_FAULT_BASE + WEFT_QUEUE_FAULT_STRIDE * (q) + (reg))\n"
         "#define WEFT_QUEUE_RUNTIME(q, reg) (WEFT_QUEUE_RUNTIME_BASE + WEFT_QUEUE_RUNTIME_STRIDE * (q) + "
         "(reg))\n"
         "\n#ifndef __ASSEMBLER__\n"
         "#define WEFT_STATIC_ASSERT(name, holds) typedef char weft_assert_##name[(holds) ? 1 : -1]\n";
  for (const StructureEntry& structure : structures()) {
    if (!write_structure(out, structure)) {
      std::cerr << "structure " << upper(structure.name) << " has padding or a wrong size\n";
      return false;
    }
  }
  out << "#endif\n\n/* NOLINTEND */\n\n#endif\n";
  return true;
}

}  // namespace
}  // namespace weft::host

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: weft_registers_writer FILE\n";
    return 2;
  }
  std::ofstream file(argv[1]);
  if (!weft::host::write_header(file) || !file.flush()) {
    std::cerr << argv[1] << ": cannot be written\n";
    return 1;
  }
  return 0;
}
