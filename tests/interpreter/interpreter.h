// A plain PTX interpreter, one thread after the other: the reference for everything that executes PTX in
// Weft. It shares no code with modules/isa.
//
//   std::vector<std::uint8_t> memory(bytes);
//   Interpreter interpreter(memory, base_address);
//   interpreter.run({&program, {blocks, 1, 1}, {threads, 1, 1}, parameters, dynamic_shared_bytes});
//
// Thread blocks run one after the other in order of x, y, z; within a block the threads take turns of some
// instructions each, so that a thread which waits for another in a loop does not wait for ever. %laneid and
// %warpid are those of warps of 32, %smid is 0, the clocks count this block's instructions.
#ifndef WEFT_TESTS_INTERPRETER_INTERPRETER_H
#define WEFT_TESTS_INTERPRETER_INTERPRETER_H

#include <array>
#include <cstdint>
#include <vector>

#include "weft/ptx/program.h"

namespace weft::test {

struct Launch {
  const ptx::Program* program = nullptr;
  std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
  std::vector<std::uint8_t> parameters;  // the parameter block, laid out as Program::parameters says
  std::uint64_t dynamic_shared = 0;      // bytes
  std::uint64_t stack_bytes = 1024;      // of a thread, where functions call themselves
};

class Interpreter {
 public:
  // `memory` holds the global addresses [base_address, base_address + memory.size()).
  Interpreter(std::vector<std::uint8_t>& memory, std::uint64_t base_address)
      : memory_(memory), base_address_(base_address) {}

  // Instructions that one block may execute before it counts as hung.
  void set_step_limit(std::uint64_t steps) { step_limit_ = steps; }

  // Throws std::runtime_error that names block, thread and PC: access outside of memory or misaligned,
  // instruction without a meaning, barrier at which some threads never arrive, step limit.
  void run(const Launch& launch);

  // Instructions executed by all threads since construction.
  std::uint64_t thread_instructions() const { return thread_instructions_; }

  // Registers and predicates of the last block's threads, thread by thread: for tests of single instructions.
  struct Registers {
    std::vector<std::uint32_t> rows;
    std::vector<bool> predicates;
  };
  const std::vector<Registers>& last_registers() const { return last_registers_; }

 private:
  std::vector<std::uint8_t>& memory_;
  std::uint64_t base_address_;
  std::uint64_t step_limit_ = 200'000'000;
  std::uint64_t thread_instructions_ = 0;
  std::vector<Registers> last_registers_;
};

}  // namespace weft::test

#endif
