#include "debugger/stop_points.h"

#include <algorithm>
#include <string>

#include "debugger/packets.h"

namespace weft::debugger {
namespace {

constexpr std::uint64_t kFirstWatchKind = 2, kLastKind = 4;

struct Place {
  std::uint64_t kind = 0, address = 0, bytes = 0;
};

bool take_place(std::string_view& text, Place& place) {
  return take_number(text, place.kind) && place.kind <= kLastKind && take(text, ",") &&
         take_number(text, place.address) && take(text, ",") && take_number(text, place.bytes);
}

// ";X3,0a0b0c;X..."
bool take_conditions(std::string_view text, std::vector<AgentExpression>& conditions) {
  while (take(text, ";")) {
    std::uint64_t bytes = 0;
    if (!take(text, "X") || !take_number(text, bytes) || !take(text, ",") || 2 * bytes > text.size())
      return false;
    std::string code;
    if (!from_hex(text.substr(0, 2 * bytes), code)) return false;
    text.remove_prefix(2 * bytes);
    conditions.emplace_back(std::move(code));
  }
  return text.empty();
}

Watchpoint watchpoint_of(const Place& place) {
  return {static_cast<Watchpoint::Kind>(place.kind), place.address, std::max<std::uint64_t>(place.bytes, 1)};
}

}  // namespace

bool StopPoints::insert(std::string_view text) {
  Place place;
  if (!take_place(text, place)) return false;
  if (place.kind >= kFirstWatchKind) {
    const Watchpoint wanted = watchpoint_of(place);
    if (std::find(watchpoints_.begin(), watchpoints_.end(), wanted) == watchpoints_.end())
      watchpoints_.push_back(wanted);
    return true;
  }
  std::vector<AgentExpression> conditions;
  if (!take_conditions(text, conditions)) return false;
  code_[place.address] = std::move(conditions);
  return true;
}

bool StopPoints::remove(std::string_view text) {
  Place place;
  if (!take_place(text, place)) return false;
  if (place.kind < kFirstWatchKind) {
    code_.erase(place.address);
  } else {
    watchpoints_.erase(std::remove(watchpoints_.begin(), watchpoints_.end(), watchpoint_of(place)),
                       watchpoints_.end());
  }
  return true;
}

const std::vector<AgentExpression>* StopPoints::code(std::uint64_t address, bool kept) const {
  const auto found = code_.find(address);
  if (found != code_.end()) return &found->second;
  if (!kept) return nullptr;
  const auto old = kept_.find(address);
  return old == kept_.end() ? nullptr : &old->second;
}

const Watchpoint* StopPoints::watched(std::uint64_t address, std::uint64_t bytes, bool reads,
                                      bool writes) const {
  using Kind = Watchpoint::Kind;
  for (const Watchpoint& one : watchpoints_) {
    const bool meant = one.kind == Kind::kAccess || (one.kind == Kind::kRead ? reads : writes);
    if (meant && address < one.address + one.bytes && one.address < address + bytes) return &one;
  }
  return nullptr;
}

}  // namespace weft::debugger
