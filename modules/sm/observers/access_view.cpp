#include "sm/observers/access_view.h"

namespace weft::sm {

void AccessView::show_to(execute::AccessObserver* observer) {
  if (observer_ == nullptr && observer != nullptr) sm_.attach(*this);
  if (observer_ != nullptr && observer == nullptr) sm_.detach(*this);
  observer_ = observer;
  sees_instructions_ = observer != nullptr && observer->sees_instructions();
  sm_.observe(observer);
}

template <class Show>
void AccessView::each_group(const InFlight& flight, Show&& show) const {
  execute::ObservedInstruction shown;
  shown.kernel = sm_.core().kernel();
  shown.pc = flight.pc;
  shown.sm = sm_.core().index;
  shown.block = &sm_.core().state.blocks[flight.slot];
  shown.registers = &sm_.core().registers;
  for (unsigned g = 0; g < flight.group_count; ++g) {
    shown.chunk = flight.groups[g].chunk;
    shown.mask = flight.groups[g].mask;
    shown.executing = flight.executing[g];
    show(shown);
  }
}

void AccessView::issued(const Issue& issue) {
  const InFlight& flight = issue.flight;
  using Shown = execute::ObservedInstruction;
  if (sees_instructions_)
    each_group(flight, [this](const Shown& shown) { observer_->instruction_starts(shown); });
  if (!execute::orders(*flight.op->instruction)) return;
  each_group(flight, [this](const Shown& shown) {
    if (shown.executing == 0) return;
    observer_->ordered({shown.kernel, shown.pc, shown.sm, shown.block, shown.chunk, shown.executing});
  });
}

void AccessView::executed(const InFlight& flight) {
  if (!sees_instructions_) return;
  each_group(flight,
             [this](const execute::ObservedInstruction& shown) { observer_->instruction_done(shown); });
}

}  // namespace weft::sm
