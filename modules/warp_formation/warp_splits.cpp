#include "warp_formation/warp_splits.h"

#include <algorithm>
#include <string>
#include <utility>

namespace weft::warp_formation {

WarpSplits::WarpSplits(unsigned warp_size) {
  // Each split has a thread, or is in flight and has left some to what landed; each point had two.
  splits_.reserve(2 * std::size_t{warp_size} + 1);
  points_.reserve(std::size_t{warp_size} + 1);
  best_.reserve(points_.capacity());
  dropped_.reserve(splits_.capacity());
  points_.resize(1);
}

void WarpSplits::start(const WarpMask& threads) {
  splits_.clear();
  points_.resize(1);
  points_[kWhole] = Point();
  points_[kWhole].live = true;
  points_[kWhole].pending = threads;
  count_ = live_points_ = 0;
  end_ = 0;
  points_end_ = 1;
  last_line_ = 0;
  last_serial_ = 0;
  Split split;
  split.state = State::kReady;
  split.mask = threads;
  add(split);
}

WarpSplits::Index WarpSplits::add(const Split& split) {
  Index i = 0;
  while (i < end_ && !splits_[i].is(State::kFree)) ++i;
  if (i == end_) {
    ++end_;
    splits_.emplace_back();
  }
  splits_[i] = split;
  splits_[i].changed = true;
  ++count_;
  return i;
}

void WarpSplits::remove(Index split) {
  Split& s = splits_[split];
  s.state = State::kFree;
  s.source = kNone;
  if (s.context != kNone) dropped_.push_back(std::exchange(s.context, kNone));
  --count_;
}

WarpSplits::Index WarpSplits::add_point(const Point& point) {
  Index i = 1;
  while (i < points_end_ && points_[i].live) ++i;
  if (i == points_end_) {
    ++points_end_;
    points_.emplace_back();
  }
  points_[i] = point;
  points_[i].live = true;
  points_[i].serial = ++last_serial_;
  ++live_points_;
  ++traffic_.made;
  return i;
}

// --- an instruction's way ----------------------------------------------------------------------------------

void WarpSplits::deposit(Index split, const Outcome& outcome, const WarpMask& mask) {
  splits_[split].mask.remove(mask);
  if (outcome.kind == Outcome::Kind::kExit) return gone(splits_[split].point, mask, false);
  Split piece = splits_[split];
  piece.pc = outcome.next_pc;
  piece.depth = outcome.depth;
  piece.mask = mask;
  piece.source = split;
  piece.context = kNone;
  piece.runs = false;
  piece.number = 0;
  piece.state = State::kLanded;
  if (outcome.kind == Outcome::Kind::kBarrier) {
    piece.state = State::kAtBarrier;
    piece.number = static_cast<std::uint8_t>(outcome.argument);
  } else if (outcome.kind == Outcome::Kind::kWarpSync) {
    piece.state = State::kAtSync;
  }
  for (Index i = 0; i < end_; ++i) {
    Split& other = splits_[i];
    if (other.source != split || other.state != piece.state || other.number != piece.number ||
        other.pc != piece.pc || other.depth != piece.depth)
      continue;
    other.mask |= mask;
    return;
  }
  add(piece);
}

unsigned WarpSplits::places(Index split, std::vector<ReconvergenceStack::Path>& places) const {
  places.clear();
  for (Index i = 0; i < end_; ++i) {
    const Split& piece = splits_[i];
    if (piece.is(State::kFree) || piece.source != split) continue;
    const auto same = [&](const auto& place) { return place.pc == piece.pc && place.depth == piece.depth; };
    const auto known = std::find_if(places.begin(), places.end(), same);
    if (known == places.end()) {
      places.push_back({piece.pc, piece.depth, piece.mask});
    } else {
      known->mask |= piece.mask;
    }
  }
  return static_cast<unsigned>(places.size());
}

void WarpSplits::land(Index split, const Parting& parting,
                      const std::vector<ReconvergenceStack::Path>& places) {
  if (places.size() > 1) return place(split, parting, places);
  bool waits = false;
  Index goes = kNone;
  for (Index i = 0; i < end_; ++i) {
    Split& piece = splits_[i];
    if (piece.is(State::kFree) || piece.source != split) continue;
    piece.source = kNone;
    if (piece.waits()) {
      waits = true;
    } else if (goes != kNone) {  // released meanwhile
      splits_[goes].mask |= piece.mask;
      remove(i);
    } else {
      piece.state = State::kReady;
      goes = i;
    }
  }
  remove(split);
  if (goes == kNone) return;
  splits_[goes].beside = waits;
  if (!waits) arrive_if_there(goes);
}

// The paths of a branch get their lines, and a point at which they meet.
void WarpSplits::place(Index split, const Parting& parting,
                       const std::vector<ReconvergenceStack::Path>& places) {
  const Split from = splits_[split];
  const Point& around = points_[from.point];
  const bool known = parting.meet != ptx::kNoPc;
  // Paths of which one runs at a time leave those alone that run beside the split.
  const bool alone = parting.at_a_time != AtATime::kOne || companions(split) == 0;
  const bool own = (known && (parting.meet != around.pc || parting.depth != around.depth)) || !alone;
  const ptx::Pc meet = own && known ? parting.meet : around.pc;
  const std::uint16_t depth = own && known ? parting.depth : around.depth;
  const auto meets = [&](const auto& place) { return place.pc == meet && place.depth == depth; };
  const auto going = static_cast<unsigned>(
      places.size() - static_cast<std::size_t>(std::count_if(places.begin(), places.end(), meets)));

  Index point = from.point;
  if (own) {
    Point made;
    made.pc = meet;
    made.depth = depth;
    made.outer = from.point;
    // Of two that run at a time, those beside the branch wait until its paths have met.
    made.line = parting.at_a_time == AtATime::kTwo ? ++last_line_ : from.line;
    made.line_then = from.line;
    for (const auto& place : places) made.pending |= place.mask;
    point = add_point(made);
  }

  const bool all = parting.at_a_time == AtATime::kAll;
  const unsigned at_a_time = all ? going : parting.at_a_time == AtATime::kTwo ? 2 : 1;
  const bool in_line = going <= 1 || going + (own ? 0 : companions(split)) <= at_a_time || all;
  std::uint32_t line = own ? 0 : from.line;
  unsigned left = going;
  for (const auto& place : places) {
    const bool arrives = meets(place);
    if (!arrives && !in_line && (left == going || left % at_a_time == 0)) line = ++last_line_;
    if (!arrives) --left;
    for (Index i = 0; i < end_; ++i) {
      Split& piece = splits_[i];
      if (piece.is(State::kFree) || piece.source != split || piece.pc != place.pc ||
          piece.depth != place.depth)
        continue;
      piece.source = kNone;
      piece.point = point;
      piece.line = line;
      if (piece.is(State::kLanded)) piece.state = State::kReady;
    }
  }
  remove(split);
  for (Index i = 0; i < end_; ++i) {
    const Split& piece = splits_[i];
    if (piece.is(State::kReady) && piece.point == point && !passes(i, piece.pc, piece.depth))
      arrive_if_there(i);
  }
}

unsigned WarpSplits::companions(Index split) const {
  const Split& s = splits_[split];
  return static_cast<unsigned>(
      std::count_if(splits_.begin(), splits_.begin() + end_, [&](const Split& other) {
        return &other != &s && !other.is(State::kFree) && other.source != split && other.point == s.point &&
               other.line == s.line;
      }));
}

bool WarpSplits::has_landed(Index split) const {
  return std::any_of(splits_.begin(), splits_.begin() + end_,
                     [&](const Split& piece) { return piece.is(State::kLanded) && piece.source == split; });
}

WarpSplits::Index WarpSplits::detach(Index split) {
  for (Index i = 0; i < end_; ++i) {
    Split& piece = splits_[i];
    if (!piece.is(State::kLanded) || piece.source != split) continue;
    piece.source = kNone;
    piece.state = State::kReady;
    if (passes(i, piece.pc, piece.depth)) return i;
    arrive_if_there(i);
    return kNone;
  }
  return kNone;
}

// --- points ------------------------------------------------------------------------------------------------

void WarpSplits::arrive_if_there(Index split) {
  const Split& s = splits_[split];
  if (passes(split, s.pc, s.depth)) return;
  const WarpMask threads = s.mask;
  const Index point = s.point;
  remove(split);
  gone(point, threads, true);
}

// Threads below the point have come there, or have exited.
void WarpSplits::gone(Index point, const WarpMask& threads, bool arrives) {
  if (arrives) {
    points_[point].arrived |= threads;
    points_[point].news = true;
    ++traffic_.arrivals;
    points_[point].pending.remove(threads);
    if (points_[point].pending.empty()) complete(point);
    return;
  }
  for (Index p = point; p != kNone; p = points_[p].outer) points_[p].pending.remove(threads);
  while (point != kWhole && points_[point].pending.empty()) {
    const Index outer = points_[point].outer;
    complete(point);
    point = outer;
  }
}

void WarpSplits::complete(Index point) {
  points_[point].live = false;
  --live_points_;
  ++traffic_.met;
  depart(point);
}

void WarpSplits::depart(Index point) {
  Point& p = points_[point];
  if (p.arrived.empty()) return;
  Split split;
  split.pc = p.pc;
  split.depth = p.depth;
  split.state = State::kReady;
  split.point = p.outer;
  split.line = p.line_then;
  split.mask = p.arrived;
  p.arrived = {};
  p.news = false;
  arrive_if_there(add(split));
}

WarpSplits::Index WarpSplits::innermost_waiting() const {
  Index found = kNone;
  for (Index p = 1; p < points_end_; ++p) {
    const Point& point = points_[p];
    if (!point.live || point.arrived.empty()) continue;
    if (found == kNone || point.serial > points_[found].serial) found = p;
  }
  return found;
}

WarpMask WarpSplits::arrived() const {
  WarpMask threads;
  for (Index p = 1; p < points_end_; ++p) {
    if (points_[p].live) threads |= points_[p].arrived;
  }
  return threads;
}

WarpMask WarpSplits::ending(const ptx::Program& program) const {
  WarpMask threads;
  for (Index p = 1; p < points_end_; ++p) {
    const Point& point = points_[p];
    if (!point.live || point.pc == ptx::kNoPc) continue;
    const ptx::Instruction& next = program.code[point.pc];
    if (next.is_exit() && next.guard < 0) threads |= point.arrived;
  }
  return threads;
}

WarpMask WarpSplits::held_by(const WarpMask& standing) const {
  WarpMask threads;
  for (Index p = 1; p < points_end_; ++p) {
    if (points_[p].live && points_[p].pending.intersects(standing)) threads |= points_[p].arrived;
  }
  return threads;
}

// --- who runs ----------------------------------------------------------------------------------------------

bool WarpSplits::choose() {
  bool any = false, others = false;
  for (Index i = 0; i < end_; ++i) {
    any |= splits_[i].can_run();
    others |= splits_[i].can_run() && !splits_[i].beside;
  }
  if (!any) return false;
  // Those who waited for others of their path go on without them if nobody else can.
  if (!others) {
    for (Index i = 0; i < end_; ++i) {
      if (!splits_[i].is(State::kReady)) continue;
      splits_[i].beside = false;
      arrive_if_there(i);
    }
    return choose();
  }
  const auto asks = [this](Index i) { return splits_[i].can_run() && !splits_[i].beside; };
  if (last_line_ == 0) {
    for (Index i = 0; i < end_; ++i) splits_[i].runs = asks(i);
    return true;
  }
  best_.assign(points_end_, 0);
  for (Index i = 0; i < end_; ++i) {
    if (!asks(i)) continue;
    std::uint32_t line = splits_[i].line;
    for (Index p = splits_[i].point; p != kNone; p = points_[p].outer) {
      best_[p] = std::max(best_[p], line);
      line = points_[p].line;
    }
  }
  for (Index i = 0; i < end_; ++i) {
    bool runs = asks(i);
    std::uint32_t line = splits_[i].line;
    for (Index p = splits_[i].point; runs && p != kNone; p = points_[p].outer) {
      runs = line == best_[p];
      line = points_[p].line;
    }
    splits_[i].runs = runs;
  }
  return true;
}

bool WarpSplits::any(State state) const {
  return std::any_of(splits_.begin(), splits_.begin() + end_, [&](const Split& s) { return s.is(state); });
}

WarpSplits::Index WarpSplits::mate(Index split) const {
  const Split& s = splits_[split];
  for (Index i = 0; i < end_; ++i) {
    const Split& other = splits_[i];
    if (i != split && other.is(State::kReady) && other.pc == s.pc && other.depth == s.depth &&
        other.point == s.point && other.line == s.line)
      return i;
  }
  return kNone;
}

void WarpSplits::join(Index split, Index mate) {
  splits_[mate].mask |= splits_[split].mask;
  splits_[mate].changed = true;
  splits_[mate].beside = false;
  remove(split);
}

WarpSplits::Index WarpSplits::divide(Index split, const WarpMask& threads) {
  Split part = splits_[split];
  part.mask &= threads;
  part.context = kNone;
  splits_[split].mask.remove(threads);
  splits_[split].changed = true;
  return add(part);
}

void WarpSplits::meet_at(Index a, Index b, ptx::Pc pc) {
  Point made;
  made.pc = pc;
  made.depth = splits_[a].depth;
  made.outer = splits_[a].point;
  made.line = made.line_then = splits_[a].line;
  const Point& outer = points_[made.outer];
  if (outer.pc == made.pc && outer.depth == made.depth) return;
  for (const Index split : {a, b}) made.pending |= splits_[split].mask;
  for (const Split& piece : splits_) {
    if (!piece.is(State::kFree) && (piece.source == a || piece.source == b)) made.pending |= piece.mask;
  }
  const Index point = add_point(made);
  for (Split& split : splits_) {
    const bool theirs =
        &split == &splits_[a] || &split == &splits_[b] || split.source == a || split.source == b;
    if (split.is(State::kFree) || !theirs) continue;
    split.point = point;
    split.line = 0;
  }
}

// --- barriers ----------------------------------------------------------------------------------------------

bool WarpSplits::open_barrier(unsigned barrier) {
  bool any = false;
  for (Index i = 0; i < end_; ++i) {
    if (!splits_[i].is(State::kAtBarrier) || splits_[i].number != barrier) continue;
    go_on(i);
    any = true;
  }
  return any;
}

bool WarpSplits::release_syncs(const WarpMask& mask) {
  bool any = false;
  for (Index i = 0; i < end_; ++i) {
    if (!splits_[i].is(State::kAtSync) || !splits_[i].mask.intersects(mask)) continue;
    WarpMask rest = splits_[i].mask;
    if (!rest.remove(mask).empty()) divide(i, rest);
    go_on(i);
    any = true;
  }
  return any;
}

// Threads that waited are released. They meet those whom their guard let pass, and others that were released
// at their place.
void WarpSplits::go_on(Index split) {
  Split& s = splits_[split];
  s.number = 0;
  s.changed = true;
  if (s.source != kNone) {
    s.state = State::kLanded;
    return;
  }
  s.state = State::kReady;
  const Index other = mate(split);
  if (other != kNone) join(split, other);
  arrive_if_there(other != kNone ? other : split);
}

// --- reports -----------------------------------------------------------------------------------------------

void WarpSplits::count(Census& census) const {
  for (Index i = 0; i < end_; ++i) {
    const unsigned threads = splits_[i].mask.count();
    switch (splits_[i].state) {
      case State::kFree:
        break;
      case State::kReady:
        (splits_[i].runs ? census.ready : census.inactive_path) += threads;
        break;
      case State::kInFlight:
      case State::kLanded:
        census.issued += threads;
        break;
      case State::kAtBarrier:
        census.barrier += threads;
        break;
      case State::kAtSync:
        census.warp_sync += threads;
        break;
    }
  }
  census.reconvergence += arrived().count();
}

void WarpSplits::describe(std::ostream& out, unsigned size, const ptx::Program& program) const {
  const auto line = [&](const std::string& what, ptx::Pc pc, unsigned depth, const WarpMask& mask) {
    out << "    " << what << " at pc " << pc << " (" << program.place(pc) << ")";
    if (depth != 0) out << ", call depth " << depth;
    out << ", " << mask.count() << (mask.count() == 1 ? " thread" : " threads") << ", mask";
    for (unsigned w = (size + kChunk - 1) / kChunk; w-- > 0;)
      out << " " << std::hex << mask.words[w] << std::dec;
    out << "\n";
  };
  for (Index i = 0; i < end_; ++i) {
    const Split& split = splits_[i];
    if (split.is(State::kFree)) continue;
    std::string what = "ready";
    if (split.is(State::kInFlight) || split.is(State::kLanded)) what = "runs";
    if (split.is(State::kReady) && !split.runs) what = "waits for its turn";
    if (split.is(State::kAtBarrier)) what = "waits at barrier " + std::to_string(split.number);
    if (split.is(State::kAtSync)) what = "waits at a warp-level primitive";
    line(what, split.pc, split.depth, split.mask);
  }
  for (Index p = 1; p < points_end_; ++p) {
    const Point& point = points_[p];
    if (!point.live || point.arrived.empty()) continue;
    line("waits for " + std::to_string(point.pending.count()) + " others", point.pc, point.depth,
         point.arrived);
  }
}

}  // namespace weft::warp_formation
