// A parsed PTX module: every directive, with places for messages; and the decoding of one of its kernels.
//
//   ptx::Module module = ptx::parse(text, "kernel.ptx");           // InputError with file:line:column
//   ptx::Program program = ptx::decode(module, "vadd", symbols);   // InputError for what Weft cannot execute
#ifndef WEFT_PTX_MODULE_H
#define WEFT_PTX_MODULE_H

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "weft/ptx/program.h"

namespace weft::ptx {

struct ModuleText;  // the syntax tree; its shape is in syntax.h

// .texref, .samplerref, .surfref: 64-bit variables that the runtime fills with objects.
enum class Opaque : std::uint8_t { kNone, kTexture, kSampler, kSurface };

// The initial value of a .samplerref (5.3).
struct SamplerState {
  enum class Address : std::uint8_t { kWrap, kClamp, kMirror, kBorder };
  std::array<Address, 3> address{Address::kClamp, Address::kClamp, Address::kClamp};
  bool linear = false;
  bool normalized_coordinates = true;
};

// A .global, .const, .shared or .extern variable at module scope.
struct Variable {
  std::string name;
  Space space = Space::kGlobal;
  Type type = Type::kB8;
  std::uint64_t size = 0;  // bytes; 0 for .extern .shared name[]
  std::uint64_t align = 1;
  bool is_extern = false, is_weak = false, is_visible = false;
  bool managed = false;
  Opaque opaque = Opaque::kNone;
  SamplerState sampler;               // of a .samplerref
  std::vector<std::uint8_t> initial;  // empty: zero
  struct Relocation {  // initial bytes [offset, offset + 8) hold the address of `symbol` + addend
    std::uint64_t offset = 0;
    std::string symbol;
    std::int64_t addend = 0;
    bool generic = false;
  };
  std::vector<Relocation> relocations;
};

class Module {
 public:
  std::string file;
  std::string version, target;
  unsigned address_size = 64;
  std::vector<Variable> variables;
  std::vector<std::string> kernels;  // .entry names in order
  std::shared_ptr<const ModuleText> text;
};

// Parses a whole module. Throws InputError("file:line:column", ...).
Module parse(std::string_view text, const std::string& file);

// Addresses of the module's .global and .const variables, as the device placed them, and of its functions.
using Symbols = std::map<std::string, std::uint64_t>;

// Adds addresses for the functions with a body, from number `first` on; returns the number after the last.
// Throws InputError if there are more than kMaxFunctions.
std::uint64_t add_functions(const Module& module, std::uint64_t first, Symbols& symbols);

// One of several modules that are linked: its own variables and functions, and those that others define for
// it.
struct LinkedModule {
  const Module* module = nullptr;
  const Symbols* symbols = nullptr;
};

// No kernel is made to do with fewer registers than this.
inline constexpr std::uint32_t kLeastRegisters = 16;

struct DecodeOptions {
  // Per thread. What does not fit is kept in local memory; without `spill`, or if that does not help, it is
  // an error that says by how much. A kernel's .maxnreg is another limit, if `spill`.
  std::uint32_t max_registers = 255;
  bool spill = true;
  Scalarization scalarization = Scalarization::kOff;
};

// Decodes one kernel. Throws InputError for an unknown kernel (listing the known ones) and for an instruction
// that Weft does not execute (file, line, column, the instruction).
Program decode(const Module& module, const std::string& kernel, const Symbols& symbols,
               const DecodeOptions& options = {});

// Likewise of one of several linked modules, with the device functions that it reaches in any of them. `why`:
// by PC, why an instruction of the kernel is not scalar; empty for others, and without scalarization.
Program decode(const std::vector<LinkedModule>& modules, const std::string& kernel,
               const DecodeOptions& options = {}, std::vector<std::string>* why = nullptr);

// What scalarization makes of a program. Registers have 32 bits and are those of a warp of 32 threads.
struct ScalarCounts {
  std::uint32_t instructions = 0, scalar_instructions = 0;
  std::uint32_t predicates_per_thread = 0;
  std::uint32_t registers = 0;        // 32 x registers_per_thread + scalars_per_warp
  std::uint32_t with_predicates = 0;  // ... if each predicate is a register too
};
ScalarCounts count_scalars(const Program& program);

// Addresses for a module that no device has loaded: they do not matter for a listing, but there must be some.
Symbols listing_symbols(const Module& module);

// Text for `weft ptx FILE`: per kernel its blocks, edges, reconvergence points, registers.
// `refused`: why kernels cannot be executed, each with its place. `test` may find more than decoding does; it
// throws InputError.
std::string describe(const Module& module, const DecodeOptions& options = {},
                     std::vector<std::string>* refused = nullptr,
                     const std::function<void(const Program&)>& test = nullptr);

}  // namespace weft::ptx

#endif
