// Labels of a function, branches to them, and the one return of a device function. Where a label lies is
// known only after all statements: `finish` fills in the targets.
#ifndef WEFT_PTX_BRANCHES_H
#define WEFT_PTX_BRANCHES_H

#include <cstdint>
#include <vector>

#include "ptx/draft_builder.h"

namespace weft::ptx {

class Branches {
 public:
  // `labels`: how many the text has; they are numbered in its order. `code` and `draft` outlive this.
  Branches(DraftBuilder& code, Draft& draft, std::uint32_t labels)
      : code_(code), draft_(draft), places_(labels + 1, kNoPc), return_label_(labels) {}

  void place(std::uint32_t label) { places_[label] = code_.here(); }
  std::uint32_t add_label();  // that the text does not have

  void emit(const DraftInstruction& branch, std::uint32_t label);
  void emit_indexed(DraftInstruction branch, std::vector<std::uint32_t> labels);
  // Of all indexed branches so far.
  std::uint64_t indexed_targets() const { return indexed_targets_; }
  // For the threads for which the statement's guard does not hold.
  void emit_around(std::uint32_t label);
  // A device function has one return, at its end, where threads that took different ways meet again. Every
  // `ret` branches there.
  void emit_leave();
  void place_return();

  // Fills in the targets. A kernel that does not end in a branch or a return gets a return.
  void finish();

 private:
  bool is_label_at(Pc pc) const;

  DraftBuilder& code_;
  Draft& draft_;
  std::vector<Pc> places_;  // by label
  const std::uint32_t return_label_;
  std::uint64_t indexed_targets_ = 0;
  std::vector<std::uint32_t> labels_;  // by PC; kNoLabel: no branch
};

}  // namespace weft::ptx

#endif
