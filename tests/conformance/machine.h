// What executes the kernels of conformance cases: device memory, modules, launches.
#ifndef WEFT_TESTS_CONFORMANCE_MACHINE_H
#define WEFT_TESTS_CONFORMANCE_MACHINE_H

#include <memory>
#include <stdexcept>

#include "conformance/case.h"
#include "isa/isa.h"

namespace weft::test::conformance {

// A fault in a kernel took the machine's memory with it: a Bench has to be made anew.
class Lost : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Machine {
 public:
  virtual ~Machine() = default;
  virtual std::uint64_t allocate(std::uint64_t bytes) = 0;
  virtual void write(std::uint64_t to, const void* from, std::uint64_t bytes) = 0;
  virtual void read(void* to, std::uint64_t from, std::uint64_t bytes) = 0;
  // .version and .target of modules that it takes.
  virtual std::string header() const { return kHeader; }
  // The module replaces the one before. Throws what says why it was refused.
  virtual void load(const std::string& text) = 0;
  virtual std::uint64_t variable(const std::string& name) = 0;
  // Kernel "k", `blocks` blocks of `threads` threads, with arguments in order; returns when it is done.
  // Throws Lost if a fault in it ended everything that the machine held.
  virtual void launch(unsigned blocks, unsigned threads,
                      const std::vector<std::vector<std::uint8_t>>& arguments) = 0;
};

// PTX text -> decode -> the lane functions of modules/isa, compiled for `set`, on the register file of one
// SM, without time: instruction after instruction, for kernels that do not branch.
std::unique_ptr<Machine> make_straight_line_machine(isa::InstructionSet set = isa::best_instruction_set());
// PTX text -> decode -> tests/interpreter, which shares no code with modules/isa.
std::unique_ptr<Machine> make_interpreter_machine();
// The whole simulated GPU. One per process.
std::unique_ptr<Machine> make_gpu_machine();

struct Outcome {
  std::vector<Cells> operands, results;
};
// Runs a case on random operands, `count` of them or what the case wants (0). Bits above a value's width are
// random in memory. Buffers are made once per machine.
class Bench {
 public:
  explicit Bench(Machine& machine);
  Outcome run(const Case& c, unsigned count = 0, std::uint64_t seed = 2026);

 private:
  void launch(const Case& c, const std::vector<Cells>& operands, Random& random, std::vector<Cells>& results);

  Machine& machine_;
  std::uint64_t in_ = 0, out_ = 0;
};

// The first mismatches of an outcome in words, and how many there are. `worst`: the largest error of an
// approximate function, in units of its bound.
struct Verdict {
  std::size_t wrong = 0;
  double worst = 0;
  std::string text;
};
Verdict judge(const Case& c, const Outcome& outcome);

}  // namespace weft::test::conformance

#endif
