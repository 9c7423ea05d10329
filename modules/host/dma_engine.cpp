#include "host/dma_engine.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace weft::host {
namespace {

// Consecutive bytes. A piece lies within one burst at both ends.
class ConsecutiveBytes final : public DmaPlan {
 public:
  ConsecutiveBytes(std::uint64_t from, std::uint64_t to, std::uint64_t bytes)
      : from_(from), to_(to), bytes_(bytes) {}

  bool next(DmaPiece& piece, std::uint64_t most) override {
    if (bytes_ == 0) return false;
    const std::uint64_t bytes = std::min({most - from_ % most, most - to_ % most, bytes_});
    piece.reads.push_back({from_, bytes});
    piece.writes.push_back({to_, bytes});
    from_ += bytes, to_ += bytes, bytes_ -= bytes;
    return true;
  }

 private:
  std::uint64_t from_, to_, bytes_;
};

// A piece lies within one burst. Its pattern begins with the byte that it has there.
class RepeatedPattern final : public DmaPlan {
 public:
  RepeatedPattern(std::uint64_t to, std::uint64_t bytes, std::uint32_t pattern)
      : to_(to), bytes_(bytes), pattern_(pattern) {}

  bool next(DmaPiece& piece, std::uint64_t most) override {
    if (bytes_ == 0) return false;
    const std::uint64_t bytes = std::min(most - to_ % most, bytes_);
    piece.writes.push_back({to_, bytes});
    piece.pattern = pattern_;
    to_ += bytes, bytes_ -= bytes;
    const auto bits = static_cast<unsigned>(bytes % sizeof pattern_ * 8);
    if (bits != 0) pattern_ = pattern_ >> bits | pattern_ << (32 - bits);
    return true;
  }

 private:
  std::uint64_t to_, bytes_;
  std::uint32_t pattern_;  // of the next piece
};

}  // namespace

DmaEngine::State::State(std::size_t slots, std::uint64_t burst_bytes) : slots(slots) {
  for (Slot& slot : this->slots) {
    slot.in.resize(burst_bytes);
    slot.out.resize(burst_bytes);
    free.push_back(&slot);
  }
}

DmaEngine::DmaEngine(const Config& config, Bus& bus, ClockDomain& domain)
    : burst_bytes_(config.burst_bytes),
      bus_(bus),
      domain_(domain),
      state_(config.dma_slots, config.burst_bytes) {}

void DmaEngine::copy(Copy copy) {
  run(std::make_unique<ConsecutiveBytes>(copy.from, copy.to, copy.bytes), std::move(copy.done));
}

void DmaEngine::fill(Fill fill) {
  run(std::make_unique<RepeatedPattern>(fill.to, fill.bytes, fill.pattern), std::move(fill.done));
}

void DmaEngine::run(std::unique_ptr<DmaPlan> plan, Done done) {
  state_.jobs.emplace_back();
  state_.jobs.back().number = next_number_++;
  state_.jobs.back().plan = std::move(plan);
  state_.jobs.back().done = std::move(done);
  domain_.wake(index_);
}

Cycle DmaEngine::step(Cycle) {
  for (Job& job : state_.jobs) {
    while (!state_.free.empty() && job.outcome.done && !job.exhausted) job.exhausted = !begin_piece(job);
  }
  // Those that end may ask for more, which the next step begins; iterators would not survive that.
  // NOLINTNEXTLINE(modernize-loop-convert)
  for (std::size_t i = 0; i < state_.jobs.size(); ++i) {
    Job& job = state_.jobs[i];
    const bool over = job.exhausted || !job.outcome.done;
    if (job.told || !over || job.open != 0) continue;
    job.told = true;
    ++copies_;
    if (observer_ != nullptr && job.begun) observer_->job_ended(job.number, job.bytes);
    if (job.done) job.done(job.outcome);
  }
  while (!state_.jobs.empty() && state_.jobs.front().told) state_.jobs.pop_front();
  return kNever;  // transfers that end, and new jobs, wake it
}

bool DmaEngine::begin_piece(Job& job) {
  Slot& slot = *state_.free.back();
  slot.piece.clear();
  if (!job.plan->next(slot.piece, burst_bytes_)) return false;
  state_.free.pop_back();
  slot.job = &job;
  ++job.open;
  if (!job.begun && observer_ != nullptr) observer_->job_began(job.number);
  job.begun = true;
  if (!slot.piece.reads.empty()) {
    start(slot, slot.piece.reads, false);
    return true;
  }
  for (std::size_t i = 0; i < slot.out.size(); i += sizeof slot.piece.pattern)
    std::memcpy(&slot.out[i], &slot.piece.pattern, sizeof slot.piece.pattern);
  start(slot, slot.piece.writes, true);
  return true;
}

// All of them at once; each has its place behind the others' in the slot's buffer.
void DmaEngine::start(Slot& slot, const std::vector<DmaPiece::Run>& runs, bool write) {
  slot.writing = write;
  slot.open = static_cast<unsigned>(runs.size());
  if (slot.parts.size() < runs.size()) slot.parts.resize(runs.size());
  std::uint64_t offset = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    Part& part = slot.parts[i];
    part.slot = &slot;
    part.client = this;
    part.command = write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND;
    part.address = runs[i].address;
    part.bytes = runs[i].bytes;
    part.data = (write ? slot.out : slot.in).data() + offset;
    offset += runs[i].bytes;
  }
  // Each ends in a later step, none while the others begin.
  for (std::size_t i = 0; i < runs.size(); ++i) bus_.start(slot.parts[i]);
}

void DmaEngine::start_writes(Slot& slot) {
  for (const DmaPiece::Move& move : slot.piece.moves)
    std::memcpy(&slot.out[move.to], &slot.in[move.from], move.bytes);
  if (slot.piece.moves.empty()) slot.in.swap(slot.out);
  start(slot, slot.piece.writes, true);
}

void DmaEngine::transferred(Transfer& transfer) {
  Slot& slot = *static_cast<Part&>(transfer).slot;
  Job& job = *slot.job;
  if (transfer.status == tlm::TLM_OK_RESPONSE) {
    if (slot.writing) {
      bytes_ += transfer.bytes;
      job.bytes += transfer.bytes;
    }
  } else if (job.outcome.done) {
    job.outcome = {false, transfer.failed_address};
    ++errors_;
  }
  if (--slot.open != 0) return;
  if (!slot.writing && job.outcome.done) return start_writes(slot);
  slot.job = nullptr;
  --job.open;
  state_.free.push_back(&slot);
  domain_.wake(index_);
}

void DmaEngine::reset() {
  state_ = State(state_.slots.size(), burst_bytes_);
  if (observer_ != nullptr) observer_->jobs_forgotten();
}

void DmaEngine::probes(const Probes::Scope& scope) const {
  scope.signal("jobs", Probes::kCountBits, [this](Cycle) { return state_.jobs.size(); });
  scope.signal("slots", Probes::kCountBits,
               [this](Cycle) { return state_.slots.size() - state_.free.size(); });
}

void DmaEngine::bind(statistics::Group& group) {
  group.counter("copies", statistics::Unit("copies"), "copies and fills that ended", copies_);
  group.counter("bytes", units::kBytes, "bytes written", bytes_);
  group.counter("errors", statistics::Unit("copies"), "copies and fills that the bus refused", errors_);
}

}  // namespace weft::host
