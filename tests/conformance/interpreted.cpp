#include "conformance/flat_memory.h"
#include "interpreter/interpreter.h"

namespace weft::test::conformance {
namespace {

class Interpreted final : public FlatMemory {
 public:
  void launch(unsigned blocks, unsigned threads,
              const std::vector<std::vector<std::uint8_t>>& arguments) override {
    interpreter_.run({program().get(), {blocks, 1, 1}, {threads, 1, 1}, parameters(arguments)});
  }

 private:
  Interpreter interpreter_{memory(), kBase};
};

}  // namespace

std::unique_ptr<Machine> make_interpreter_machine() {
  return std::make_unique<Interpreted>();
}

}  // namespace weft::test::conformance
