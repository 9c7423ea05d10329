// A machine without time: memory is one vector of bytes, and what executes a kernel is left to the class
// derived from it.
#ifndef WEFT_TESTS_CONFORMANCE_FLAT_MEMORY_H
#define WEFT_TESTS_CONFORMANCE_FLAT_MEMORY_H

#include <map>

#include "conformance/machine.h"
#include "weft/ptx/module.h"

namespace weft::test::conformance {

class FlatMemory : public Machine {
 public:
  std::uint64_t allocate(std::uint64_t bytes) override;
  void write(std::uint64_t to, const void* from, std::uint64_t bytes) override;
  void read(void* to, std::uint64_t from, std::uint64_t bytes) override;
  void load(const std::string& text) override;
  std::uint64_t variable(const std::string& name) override { return symbols_.at(name); }

 protected:
  static constexpr std::uint64_t kBase = 0x7000'0000'0000, kBytes = 1 << 21;

  std::vector<std::uint8_t>& memory() { return memory_; }
  std::shared_ptr<const ptx::Program> program() const { return program_; }
  // The parameter block of the loaded kernel.
  std::vector<std::uint8_t> parameters(const std::vector<std::vector<std::uint8_t>>& arguments) const;

 private:
  std::vector<std::uint8_t> memory_ = std::vector<std::uint8_t>(kBytes);
  std::uint64_t used_ = 256;
  std::map<std::string, std::uint64_t> places_;  // of variables, by name: a module's replaces the one before
  ptx::Symbols symbols_;
  std::shared_ptr<const ptx::Program> program_;
};

}  // namespace weft::test::conformance

#endif
