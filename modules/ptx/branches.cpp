#include "ptx/branches.h"

#include <algorithm>
#include <utility>

namespace weft::ptx {
namespace {

constexpr std::uint32_t kNoLabel = UINT32_MAX;

DraftInstruction draft_branch(const DraftBuilder& code) {
  DraftInstruction d = code.draft(Opcode::kBra, Type::kNone);
  d.fixed.unit = Unit::kControl;
  return d;
}

bool ends(const Draft& draft) {
  if (draft.code.empty()) return false;
  const Instruction& last = draft.code.back().fixed;
  return last.guard < 0 &&
         (last.is_exit() || last.is_branch() || last.op == Opcode::kBrx || last.op == Opcode::kReturn);
}

}  // namespace

bool Branches::is_label_at(Pc pc) const {
  return std::find(places_.begin(), places_.end(), pc) != places_.end();
}

std::uint32_t Branches::add_label() {
  places_.push_back(kNoPc);
  return static_cast<std::uint32_t>(places_.size() - 1);
}

void Branches::emit(const DraftInstruction& branch, std::uint32_t label) {
  labels_.resize(code_.here(), kNoLabel);
  labels_.push_back(label);
  code_.emit(branch);
}

void Branches::emit_indexed(DraftInstruction branch, std::vector<std::uint32_t> labels) {
  branch.fixed.target = static_cast<Pc>(draft_.tables.size());
  branch.fixed.target_count = static_cast<std::uint32_t>(labels.size());
  indexed_targets_ += labels.size();
  draft_.tables.push_back(std::move(labels));  // of labels, until `finish`
  code_.emit(branch);
}

void Branches::emit_around(std::uint32_t label) {
  DraftInstruction d = draft_branch(code_);
  d.fixed.guard_negated = !d.fixed.guard_negated;
  emit(d, label);
}

void Branches::emit_leave() {
  emit(draft_branch(code_), return_label_);
}

void Branches::place_return() {
  // A `ret` as the last statement needs no branch, if no label follows it.
  const Pc size = code_.here();
  const bool jumps_here = size != 0 && labels_.size() == size && labels_.back() == return_label_ &&
                          draft_.code.back().fixed.guard < 0;
  if (jumps_here && !is_label_at(size)) {
    draft_.code.pop_back();
    labels_.pop_back();
  }
  place(return_label_);
}

void Branches::finish() {
  if (is_label_at(code_.here()) || !ends(draft_)) {
    code_.stand_at_last();
    DraftInstruction d = code_.draft(Opcode::kRet, Type::kNone);
    d.fixed.unit = Unit::kControl;
    code_.emit(d);
  }
  for (Pc pc = 0; pc < labels_.size(); ++pc) {
    if (labels_[pc] != kNoLabel) draft_.code[pc].fixed.target = places_[labels_[pc]];
  }
  for (auto& table : draft_.tables) {
    for (Pc& target : table) target = places_[target];
  }
}

}  // namespace weft::ptx
