// Device functions of random kernels: they call each other directly, by address and recursively, to a bounded
// depth.
#ifndef WEFT_TESTS_EQUIVALENCE_FUNCTION_GENERATOR_H
#define WEFT_TESTS_EQUIVALENCE_FUNCTION_GENERATOR_H

#include <cstdint>
#include <string>

#include "equivalence/choices.h"

namespace weft::test {

class FunctionGenerator {
 public:
  explicit FunctionGenerator(Choices& choices) : choices_(choices) {}

  // The PTX of the functions that were called, to stand before the kernel. A call takes at most some thousand
  // instructions.
  std::string functions();
  // Statements that set the 32-bit register `result` from registers `a` and `b`. `guard` may be "@%p1 ". With
  // `may_exit` some threads may end in the call. Uses %rd20 to %rd23 and %p6.
  std::string call(const std::string& result, const std::string& a, const std::string& b,
                   const std::string& guard, bool may_exit);
  // A statement that calls a function with a block barrier, before which threads may end by the value of
  // register `a`.
  std::string meet(const std::string& a);

 private:
  unsigned below(unsigned n) { return choices_.below(n); }
  std::string number() { return std::to_string(below(50)); }
  std::string callee() { return "f" + std::to_string(below(kFunctions)); }
  std::string function(unsigned which);
  std::string inner_call(const std::string& result);
  std::string step();

  static constexpr unsigned kFunctions = 3, kLevels = 3;
  Choices& choices_;
  unsigned labels_ = 0;
  bool called_ = false, quits_ = false, meets_ = false;
};

}  // namespace weft::test

#endif
