#include "sm/observers/spin_observer.h"

#include <sstream>

#include "execute/register_file.h"

namespace weft::sm {

void SpinObserver::start() {
  active_ = sm_.core().kernel() != nullptr;
  if (!active_) return;
  const unsigned chunks = sm_.core().chunks();
  threads_.assign(std::size_t{chunks} * execute::RegisterFile::kLanes, Thread());
  issued_.assign(chunks, 0);
  if (!attached_) sm_.attach(*this);
  attached_ = true;
}

void SpinObserver::stop() {
  active_ = false;
  if (attached_) sm_.detach(*this);
  attached_ = false;
}

void SpinObserver::issued(const Issue& issue) {
  if (!active_) return;
  for (const auto& group : issue.flight.all()) issued_[group.chunk] |= group.mask;
}

void SpinObserver::went_back(const InFlight& flight) {
  if (!active_) return;
  for (unsigned g = 0; g < flight.group_count; ++g) {
    const unsigned chunk = flight.groups[g].chunk;
    for (std::uint32_t rest = flight.executing[g]; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
      Thread& thread = threads_[chunk * execute::RegisterFile::kLanes + lane];
      if (thread.changed || (thread.visits != 0 && thread.pc != flight.pc)) continue;
      const std::uint64_t state = sm_.core().registers.hash(chunk, lane);
      if (thread.visits != 0 && thread.state != state) thread.changed = true;
      thread.pc = flight.pc;
      thread.state = state;
      if (thread.visits < kEnough) ++thread.visits;
    }
  }
}

SpinObserver::Verdict SpinObserver::verdict() const {
  Verdict verdict;
  if (!active_) return verdict;
  for (std::size_t chunk = 0; chunk < issued_.size(); ++chunk) {
    for (std::uint32_t rest = issued_[chunk]; rest != 0; rest &= rest - 1) {
      const std::size_t position =
          chunk * execute::RegisterFile::kLanes + static_cast<unsigned>(__builtin_ctz(rest));
      const Thread& thread = threads_[position];
      ++verdict.issued;
      if (thread.visits < kEnough || thread.changed) continue;
      if (verdict.spinning++ == 0) {
        verdict.pc = thread.pc;
        verdict.position = static_cast<unsigned>(position);
      }
    }
  }
  return verdict;
}

// Its threads issued nothing in the span.
bool SpinObserver::is_busy() const {
  if (!active_) return false;
  bool busy = false;
  sm_.core().in_flight.each([&](const InFlight& flight) {
    for (const auto& group : flight.all()) busy = busy || (group.mask & ~issued_[group.chunk]) != 0;
  });
  return busy;
}

std::string SpinObserver::place_of(const Verdict& verdict) const {
  std::ostringstream text;
  for (const execute::ResidentBlock& block : sm_.core().state.blocks) {
    constexpr unsigned kLanes = execute::RegisterFile::kLanes;
    const unsigned chunk = verdict.position / kLanes;
    if (!block.live || chunk < block.first_chunk || chunk >= block.first_chunk + block.warps()) continue;
    text << "thread " << block.thread_of(chunk, verdict.position % kLanes) << " of block (" << block.index[0]
         << "," << block.index[1] << "," << block.index[2] << ") at pc " << verdict.pc << " ("
         << sm_.core().kernel()->program.place(verdict.pc) << ")";
  }
  return text.str();
}

}  // namespace weft::sm
