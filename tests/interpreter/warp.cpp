#include "interpreter/warp.h"

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace weft::test {

using ptx::Atomic;
using ptx::Instruction;
using ptx::Mode;
using ptx::Opcode;

namespace {

using Members = std::map<unsigned, Participant>;

// The pseudo code of shfl.
WarpResult shuffle(Mode mode, unsigned laneid, const Members& members) {
  const Participant& own = members.at(laneid);
  const int lane = static_cast<int>(laneid);
  const int bval = static_cast<int>(own.b % 32), cval = static_cast<int>(own.c % 32);
  const int segmask = static_cast<int>(own.c / 256 % 32);
  const int max_lane = (lane & segmask) | (cval & ~segmask);
  const int min_lane = lane & segmask;
  int j = 0;
  bool pval = false;
  switch (mode) {
    case Mode::kUp:
      j = lane - bval;
      pval = j >= max_lane;
      break;
    case Mode::kDown:
      j = lane + bval;
      pval = j <= max_lane;
      break;
    case Mode::kBfly:
      j = lane ^ bval;
      pval = j <= max_lane;
      break;
    case Mode::kIdx:
      j = min_lane | (bval & ~segmask);
      pval = j <= max_lane;
      break;
    default:
      throw std::runtime_error("no such shuffle");
  }
  if (!pval) j = lane;
  const auto source = members.find(static_cast<unsigned>(j));
  // A source that does not take part gives an undefined value; Weft says, as silicon does: 0.
  return {static_cast<std::uint32_t>(source == members.end() ? 0 : source->second.a), pval};
}

std::uint32_t mask_of(const Members& members) {
  std::uint32_t mask = 0;
  for (const auto& member : members) mask += std::uint32_t{1} << member.first;
  return mask;
}

std::uint32_t reduced(const Instruction& in, const Members& members) {
  std::vector<std::int64_t> values;
  for (const auto& [lane, member] : members) {
    const auto word = static_cast<std::uint32_t>(member.a);
    values.push_back(in.type == ptx::Type::kS32 ? std::int64_t{static_cast<std::int32_t>(word)}
                                                : std::int64_t{word});
  }
  std::int64_t result = values[0];
  for (std::size_t i = 1; i < values.size(); ++i) {
    switch (in.atomic) {
      case Atomic::kAdd:
        result += values[i];
        break;
      case Atomic::kMin:
        result = std::min(result, values[i]);
        break;
      case Atomic::kMax:
        result = std::max(result, values[i]);
        break;
      case Atomic::kAnd:
        result &= values[i];
        break;
      case Atomic::kOr:
        result |= values[i];
        break;
      case Atomic::kXor:
        result ^= values[i];
        break;
      default:
        throw std::runtime_error("no such reduction");
    }
  }
  return static_cast<std::uint32_t>(result);
}

WarpResult vote(Mode mode, const Members& members) {
  std::size_t holds = 0;
  std::uint32_t ballot = 0;
  for (const auto& [lane, member] : members) {
    holds += member.a != 0 ? 1 : 0;
    ballot += member.a != 0 ? std::uint32_t{1} << lane : 0;
  }
  const bool all = holds == members.size();
  switch (mode) {
    case Mode::kAll:
      return {0, all};
    case Mode::kAny:
      return {0, holds > 0};
    case Mode::kUni:
      return {0, all || holds == 0};
    default:
      return {ballot, false};
  }
}

WarpResult match(Mode mode, unsigned lane, const Members& members) {
  Members equal;
  for (const auto& member : members) {
    if (member.second.a == members.at(lane).a) equal.insert(member);
  }
  if (mode == Mode::kAny) return {mask_of(equal), false};
  const bool all = equal.size() == members.size();
  return {all ? mask_of(members) : 0, all};
}

}  // namespace

std::map<unsigned, WarpResult> evaluate_warp(const Instruction& in, const Members& members) {
  std::map<unsigned, WarpResult> results;
  for (const auto& member : members) {
    const unsigned lane = member.first;
    WarpResult& result = results[lane];
    switch (in.op) {
      case Opcode::kShfl:
        result = shuffle(in.mode, lane, members);
        break;
      case Opcode::kVote:
        result = vote(in.mode, members);
        break;
      case Opcode::kMatch:
        result = match(in.mode, lane, members);
        break;
      case Opcode::kRedux:
        result.d = reduced(in, members);
        break;
      case Opcode::kElect:
        result = {members.begin()->first, lane == members.begin()->first};
        break;
      case Opcode::kWarpBarrier:
        break;
      default:
        throw std::runtime_error("no warp-level primitive");
    }
  }
  return results;
}

}  // namespace weft::test
