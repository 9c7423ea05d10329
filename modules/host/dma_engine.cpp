#include "host/dma_engine.h"

#include <algorithm>
#include <utility>

namespace weft::host {

DmaEngine::DmaEngine(const Config& config, Bus& bus, ClockDomain& domain)
    : burst_bytes_(config.burst_bytes), bus_(bus), domain_(domain), slots_(config.dma_slots) {
  for (Slot& slot : slots_) {
    slot.buffer.resize(burst_bytes_);
    slot.transfer.data = slot.buffer.data();
    slot.transfer.client = this;
    free_.push_back(&slot);
  }
}

void DmaEngine::copy(Copy copy) {
  jobs_.emplace_back();
  jobs_.back().copy = std::move(copy);
  domain_.wake(index_);
}

Cycle DmaEngine::step(Cycle) {
  for (Job& job : jobs_) {
    while (!free_.empty() && job.outcome.done && job.begun < job.copy.bytes) begin_piece(job);
  }
  // Those that end may ask for more, which the next step begins; iterators would not survive that.
  // NOLINTNEXTLINE(modernize-loop-convert)
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    Job& job = jobs_[i];
    const bool over = job.begun == job.copy.bytes || !job.outcome.done;
    if (job.told || !over || job.open != 0) continue;
    job.told = true;
    ++copies_;
    if (job.copy.done) job.copy.done(job.outcome);
  }
  while (!jobs_.empty() && jobs_.front().told) jobs_.pop_front();
  return kNever;  // transfers that end, and new copies, wake it
}

// A piece lies within one burst at both ends.
void DmaEngine::begin_piece(Job& job) {
  const std::uint64_t from = job.copy.from + job.begun;
  const std::uint64_t to = job.copy.to + job.begun;
  const std::uint64_t bytes = std::min(
      {burst_bytes_ - from % burst_bytes_, burst_bytes_ - to % burst_bytes_, job.copy.bytes - job.begun});
  job.begun += bytes;
  ++job.open;
  Slot& slot = *free_.back();
  free_.pop_back();
  slot.job = &job;
  slot.to = to;
  slot.writing = false;
  slot.transfer.command = tlm::TLM_READ_COMMAND;
  slot.transfer.address = from;
  slot.transfer.bytes = bytes;
  bus_.start(slot.transfer);
}

void DmaEngine::transferred(Transfer& transfer) {
  Slot& slot = *std::find_if(slots_.begin(), slots_.end(),
                             [&](const Slot& candidate) { return &candidate.transfer == &transfer; });
  Job& job = *slot.job;
  if (transfer.status == tlm::TLM_OK_RESPONSE && !slot.writing && job.outcome.done) {
    slot.writing = true;
    transfer.command = tlm::TLM_WRITE_COMMAND;
    transfer.address = slot.to;
    bus_.start(transfer);
    return;
  }
  if (transfer.status == tlm::TLM_OK_RESPONSE) {
    if (slot.writing) bytes_ += transfer.bytes;
  } else if (job.outcome.done) {
    job.outcome = {false, transfer.failed_address};
    ++errors_;
  }
  slot.job = nullptr;
  --job.open;
  free_.push_back(&slot);
  domain_.wake(index_);
}

void DmaEngine::reset() {
  jobs_.clear();
  free_.clear();
  for (Slot& slot : slots_) {
    slot.job = nullptr;
    free_.push_back(&slot);
  }
}

void DmaEngine::bind(statistics::Registry& registry, const std::string& prefix) {
  registry.counter(prefix + ".copies", "copies", "copies that ended", copies_);
  registry.counter(prefix + ".bytes", "bytes", "bytes copied", bytes_);
  registry.counter(prefix + ".errors", "copies", "copies that the bus refused", errors_);
}

}  // namespace weft::host
