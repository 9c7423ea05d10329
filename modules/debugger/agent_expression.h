// A breakpoint's condition as GDB compiles it for the other side, which looks at it thread by thread (the GDB
// manual, appendix "The GDB Agent Expression Mechanism").
#ifndef WEFT_DEBUGGER_AGENT_EXPRESSION_H
#define WEFT_DEBUGGER_AGENT_EXPRESSION_H

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace weft::debugger {

// What an expression can ask of a thread. None: it does not have it.
class ThreadView {
 public:
  virtual ~ThreadView() = default;
  virtual std::optional<std::uint64_t> register_value(std::uint64_t number) const = 0;
  virtual std::optional<std::uint64_t> memory(std::uint64_t address, unsigned bytes) const = 0;
};

class AgentExpression {
 public:
  explicit AgentExpression(std::string code) : code_(std::move(code)) {}

  // None: it asks for what is not there, or is no code that is known here.
  std::optional<std::uint64_t> value(const ThreadView& thread) const;

 private:
  std::string code_;
};

}  // namespace weft::debugger

#endif
