// Where GDB wants threads to stop: breakpoints on instructions, and watchpoints on memory.
#ifndef WEFT_DEBUGGER_STOP_POINTS_H
#define WEFT_DEBUGGER_STOP_POINTS_H

#include <cstdint>
#include <map>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "debugger/agent_expression.h"

namespace weft::debugger {

struct Watchpoint {
  enum class Kind : std::uint8_t { kWrite = 2, kRead = 3, kAccess = 4 };  // of packets Z2 to Z4
  Kind kind = Kind::kWrite;
  std::uint64_t address = 0, bytes = 0;
};
inline bool operator==(const Watchpoint& a, const Watchpoint& b) {
  return a.kind == b.kind && a.address == b.address && a.bytes == b.bytes;
}

class StopPoints {
 public:
  // "0,address,kind;conditions" of the packets Z and z. False: there is no such kind, or the text is wrong.
  bool insert(std::string_view text);
  bool remove(std::string_view text);

  // GDB takes a breakpoint away while one thread steps over it, and only then. Others must not miss it: those
  // that were there when all threads went on last stay for them.
  void all_go_on() { kept_ = code_; }
  // The conditions of the breakpoint at the address, one of which has to hold, if there are any; nullptr:
  // there is no breakpoint. `kept`: also those that GDB has taken away for the thread that steps.
  const std::vector<AgentExpression>* code(std::uint64_t address, bool kept) const;
  bool any_code() const { return !code_.empty() || !kept_.empty(); }

  const std::vector<Watchpoint>& watchpoints() const { return watchpoints_; }
  // The watchpoint that an access concerns; nullptr: none.
  const Watchpoint* watched(std::uint64_t address, std::uint64_t bytes, bool reads, bool writes) const;

 private:
  using Breakpoints = std::unordered_map<std::uint64_t, std::vector<AgentExpression>>;
  Breakpoints code_, kept_;
  std::vector<Watchpoint> watchpoints_;
};

}  // namespace weft::debugger

#endif
