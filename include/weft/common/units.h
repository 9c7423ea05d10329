// What a statistic counts in. A unit of one's own is `constexpr statistics::Unit kHops{"hops"};`, of a text
// that lives on.
#ifndef WEFT_COMMON_UNITS_H
#define WEFT_COMMON_UNITS_H

#include <string_view>

namespace weft {
namespace statistics {

class Unit {
 public:
  constexpr Unit() = default;
  constexpr explicit Unit(std::string_view name) : name_(name) {}
  constexpr std::string_view name() const { return name_; }
  friend constexpr bool operator==(Unit a, Unit b) { return a.name_ == b.name_; }
  friend constexpr bool operator!=(Unit a, Unit b) { return !(a == b); }

 private:
  std::string_view name_;
};

}  // namespace statistics

namespace units {
using statistics::Unit;
inline constexpr Unit kAccesses{"accesses"};
inline constexpr Unit kBits{"bits"};
inline constexpr Unit kBlocks{"blocks"};
inline constexpr Unit kBranches{"branches"};
inline constexpr Unit kBytes{"bytes"};
inline constexpr Unit kCommands{"commands"};
inline constexpr Unit kCycles{"cycles"};
inline constexpr Unit kEntries{"entries"};
inline constexpr Unit kFetches{"fetches"};
inline constexpr Unit kFlits{"flits"};
inline constexpr Unit kInstructions{"instructions"};
inline constexpr Unit kIssues{"issues"};
inline constexpr Unit kLanes{"lanes"};
inline constexpr Unit kLaunches{"launches"};
inline constexpr Unit kLines{"lines"};
inline constexpr Unit kNanoseconds{"ns"};
inline constexpr Unit kPackets{"packets"};
inline constexpr Unit kRatio{"ratio"};
inline constexpr Unit kRequests{"requests"};
inline constexpr Unit kThreads{"threads"};
inline constexpr Unit kTransactions{"transactions"};
inline constexpr Unit kWarps{"warps"};
}  // namespace units
}  // namespace weft

#endif
