// The one table of what software sees of the GPU: registers, their bits, packets, kernel objects, codes.
//
// The build writes the C header weft_registers.h from it (write_header.cpp), for firmware and drivers and for
// Weft itself, and weft.svd (write_svd.cpp), for tools; RegisterFile reads from it which accesses are
// allowed.
#ifndef WEFT_HOST_REGISTER_TABLE_H
#define WEFT_HOST_REGISTER_TABLE_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft::host {

// Of a configuration, at most.
inline constexpr unsigned kMostWindows = 4, kMostQueues = 64;

enum class RegisterAccess : std::uint8_t {
  kNone,
  kReadOnly,
  kReadWrite,
  kWriteOneToClear,  // reads as it is; a 1 that is written clears the bit
};

struct RegisterEntry {
  const char* name;  // without WEFT_
  std::uint32_t offset;
  RegisterAccess access;
  const char* meaning;
};

// A named number: a bit, a code, an address, a size.
struct ConstantEntry {
  const char* name;
  std::uint64_t value;
  const char* meaning;
};

struct FieldEntry {
  const char* type;  // of C99's <stdint.h>
  const char* name;
  unsigned count;  // elements of an array; 1: no array
  const char* meaning;
};

// A structure without padding, little endian.
struct StructureEntry {
  const char* name;
  unsigned bytes;
  const char* meaning;
  std::vector<FieldEntry> fields;
};

struct ConstantGroup {
  const char* meaning;
  std::vector<ConstantEntry> constants;
};

// Registers that lie together, and where.
struct RegisterBlock {
  const char* prefix;  // of the registers' names in C
  const char* meaning;
  const std::vector<RegisterEntry>& registers;
  const char* base;    // name of the constant; nullptr: 0, and there is one block
  const char* stride;  // the same
  unsigned most;       // blocks that there may be; WEFT_REG_<count> says how many there are
  const char* count;
};

// What the bits of a register, or the codes that it holds, are called: the constants that begin with
// `values`.
struct RegisterValues {
  const char* block;  // RegisterBlock::prefix
  const char* name;
  const char* values;
};

const std::vector<RegisterEntry>& global_registers();
// Offsets within a window's and a queue's blocks.
const std::vector<RegisterEntry>& window_registers();
const std::vector<RegisterEntry>& queue_registers();
const std::vector<RegisterEntry>& queue_fault_registers();
const std::vector<RegisterEntry>& queue_runtime_registers();
const std::vector<RegisterBlock>& register_blocks();
const std::vector<RegisterValues>& register_values();
const std::vector<ConstantGroup>& constant_groups();
// A constant by its name. The second throws std::runtime_error if there is none.
std::optional<std::uint64_t> find_constant(const std::string& name);
std::uint64_t constant(const std::string& name);
const std::vector<StructureEntry>& structures();

}  // namespace weft::host

#endif
