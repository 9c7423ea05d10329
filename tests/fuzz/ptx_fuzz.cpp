// libFuzzer on the PTX front end: a text is parsed and every kernel of it decoded. A text may be refused, by
// an InputError that names its place; a Program that comes out must be consistent in itself.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "fuzz/require.h"
#include "weft/common/error.h"
#include "weft/ptx/module.h"

namespace weft::ptx {
namespace {

constexpr const char* kFile = "fuzz.ptx";
constexpr std::size_t kMostDescribedKernels = 4;

void check_operand(const Program& program, const Operand& operand) {
  switch (operand.kind) {
    case Operand::Kind::kNone:
    case Operand::Kind::kDynamic:
      return;
    case Operand::Kind::kRow:
      fuzz::require(operand.index < program.rows, "a row lies outside the registers");
      return;
    case Operand::Kind::kPredicate:
      fuzz::require(operand.index < program.predicates, "a predicate that was not allocated");
      return;
    case Operand::Kind::kConstant:
      fuzz::require(operand.index < program.constants.size(), "a constant that does not exist");
      return;
  }
  fuzz::require(false, "an operand of no kind");
}

void check_instruction(const Program& program, const Instruction& instruction) {
  for (const Operand& operand : instruction.dst) check_operand(program, operand);
  for (const Operand& operand : instruction.src) check_operand(program, operand);
  fuzz::require(instruction.guard < static_cast<int>(program.predicates), "a guard that was not allocated");
  fuzz::require(instruction.target == kNoPc || instruction.target < program.code.size(),
                "a branch out of the program");
  fuzz::require(instruction.reconvergence == kNoPc || instruction.reconvergence < program.code.size(),
                "a reconvergence point out of the program");
  fuzz::require(
      instruction.plain_reconvergence == kNoPc || instruction.plain_reconvergence < program.code.size(),
      "a post-dominator out of the program");
  fuzz::require(instruction.read_count <= instruction.reads.size() &&
                    instruction.write_count <= instruction.writes.size(),
                "more scoreboard keys than there is room for");
  for (unsigned k = 0; k < instruction.read_count; ++k) {
    fuzz::require(instruction.reads[k] < program.rows + program.predicates, "a scoreboard key out of range");
  }
  for (unsigned k = 0; k < instruction.write_count; ++k) {
    fuzz::require(instruction.writes[k] < program.rows + program.predicates, "a scoreboard key out of range");
  }
}

// Blocks cover the code in order, without gaps.
void check_blocks(const Program& program) {
  Pc next = 0;
  for (const BasicBlock& block : program.blocks) {
    fuzz::require(block.first == next && block.last >= block.first, "blocks leave a gap");
    next = block.last + 1;
    for (const std::uint32_t successor : block.successors) {
      fuzz::require(successor <= program.blocks.size(), "a successor that does not exist");
    }
    fuzz::require(block.post_dominator <= program.blocks.size(), "a post-dominator that does not exist");
  }
  fuzz::require(next == program.code.size(), "blocks do not cover the code");
}

void check_program(const Program& program) {
  fuzz::require(!program.code.empty(), "an empty program");
  for (const Instruction& instruction : program.code) check_instruction(program, instruction);
  check_blocks(program);
  std::uint64_t end = 0;
  for (const Parameter& parameter : program.parameters) {
    fuzz::require(parameter.offset >= end, "parameters overlap");
    end = parameter.offset + parameter.size;
  }
  fuzz::require(end <= program.parameter_bytes, "parameters outside their block");
}

void decode_all(const Module& module) {
  Symbols symbols;
  std::uint64_t address = 0x1'0000'0000;
  for (const Variable& variable : module.variables) symbols[variable.name] = (address += 0x1000);
  for (const std::string& kernel : module.kernels) {
    try {
      check_program(decode(module, kernel, symbols));
    } catch (const InputError& error) {
      fuzz::require_place(error, kFile);
    }
  }
  if (module.kernels.size() <= kMostDescribedKernels)
    fuzz::require(!describe(module).empty(), "nothing said");
}

}  // namespace
}  // namespace weft::ptx

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weft;
  try {
    ptx::decode_all(ptx::parse({reinterpret_cast<const char*>(data), size}, ptx::kFile));
  } catch (const InputError& error) {
    fuzz::require_place(error, ptx::kFile);
  }
  return 0;
}
