#include "host/bus_master.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "bus/payload_data.h"

namespace weft::host {

std::uint64_t Transfer::find(bool enabled, std::uint64_t from, std::uint64_t end) const {
  if (enables == nullptr) return enabled ? from : end;
  while (from < end && (enables[from % enables_bytes] != TLM_BYTE_DISABLED) != enabled) ++from;
  return from;
}

BusMaster::BusMaster(sc_core::sc_module_name name, const Config& config, std::uint64_t base, Allowed allowed,
                     ClockDomain& domain, std::size_t index)
    : sc_module(name),
      socket("socket"),
      config_(config),
      base_(base),
      allowed_(std::move(allowed)),
      domain_(domain),
      index_(index),
      port_(socket, *this, {domain, index}),
      ended_(config.outstanding) {
  returned_.master = this;
}

BusMaster::Burst& BusMaster::take_free() {
  if (free_.empty()) {
    bursts_.push_back(std::make_unique<Burst>());
    bursts_.back()->buffer.resize(config_.burst_bytes);
    bursts_.back()->enables.resize(config_.burst_bytes);
    bursts_.back()->set_mm(&returned_);
    free_.reserve(bursts_.size());
    return *bursts_.back();
  }
  Burst& burst = *free_.back();
  free_.pop_back();
  return burst;
}

void BusMaster::start(Transfer& transfer) {
  transfer.status = tlm::TLM_OK_RESPONSE;
  transfer.begun = transfer.find(true, 0, transfer.bytes);
  transfer.open = 0;
  append(transfer);
  domain_.wake(index_);
}

bool BusMaster::peek(std::uint64_t address, unsigned char* to, std::size_t bytes) {
  if (!bound()) return false;
  tlm::tlm_generic_payload payload;
  payload.set_command(tlm::TLM_READ_COMMAND);
  payload.set_address(address - base_);
  payload.set_data_ptr(to);
  payload.set_data_length(static_cast<unsigned>(bytes));
  payload.set_streaming_width(static_cast<unsigned>(bytes));
  return socket->transport_dbg(payload) == bytes;
}

void BusMaster::append(Transfer& transfer) {
  transfer.next = nullptr;
  (last_ != nullptr ? last_->next : first_) = &transfer;
  last_ = &transfer;
}

Cycle BusMaster::step(Cycle now) {
  while (!ended_.empty() && ended_.front().ready <= now) {
    const Ended end = ended_.front();
    ended_.pop();
    finish(end);
  }
  if (first_ != nullptr && port_.usable(now) && open_ != config_.outstanding) begin_burst();

  Cycle next = ended_.empty() ? kNever : std::max(ended_.front().ready, now + 1);
  // With all bursts under way, or with a request open, whatever comes from the bus wakes us.
  if (first_ != nullptr && open_ != config_.outstanding && !port_.busy()) {
    next = std::min(next, std::max(now + 1, port_.usable_from()));
  }
  return next;
}

void BusMaster::begin_burst() {
  Transfer& transfer = *first_;
  first_ = transfer.next;
  if (first_ == nullptr) last_ = nullptr;
  const std::uint64_t address = transfer.address + transfer.begun;
  const std::uint64_t bytes = length_of_burst(transfer);
  if (!bound() || !allowed_(address, bytes)) {
    transfer.status = tlm::TLM_ADDRESS_ERROR_RESPONSE;
    transfer.failed_address = address;
    ++errors_;
    settle(transfer);
    return;
  }
  Burst& burst = take_free();
  burst.transfer = &transfer;
  burst.offset = transfer.begun;
  burst.set_command(transfer.command);
  burst.set_address(address - base_);
  burst.set_data_ptr(burst.buffer.data());
  burst.set_data_length(static_cast<unsigned>(bytes));
  burst.set_streaming_width(static_cast<unsigned>(bytes));
  enable(burst, transfer, bytes);
  burst.set_dmi_allowed(false);
  burst.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  burst.acquire();
  burst.held = true;
  ++open_;
  if (burst.is_write()) {
    std::memcpy(burst.buffer.data(), transfer.data + transfer.begun, bytes);
    ++writes_;
    bytes_written_ += bytes;
  } else {
    ++reads_;
    bytes_read_ += bytes;
  }
  transfer.begun = transfer.find(true, transfer.begun + bytes, transfer.bytes);
  ++transfer.open;
  if (transfer.begun < transfer.bytes) append(transfer);
  port_.send(burst);
}

// From the first byte that is not begun to the end of the burst, of the transfer, or of the enabled bytes.
std::uint64_t BusMaster::length_of_burst(const Transfer& transfer) const {
  const std::uint64_t address = transfer.address + transfer.begun;
  const std::uint64_t most =
      std::min(config_.burst_bytes - address % config_.burst_bytes, transfer.bytes - transfer.begun);
  if (!transfer.split) return most;
  return transfer.find(false, transfer.begun, transfer.begun + most) - transfer.begun;
}

void BusMaster::enable(Burst& burst, const Transfer& transfer, std::uint64_t bytes) {
  const std::uint64_t end = transfer.begun + bytes;
  const bool all = transfer.find(false, transfer.begun, end) == end;
  for (std::uint64_t i = 0; !all && i < bytes; ++i)
    burst.enables[i] = transfer.enables[(transfer.begun + i) % transfer.enables_bytes];
  burst.set_byte_enable_ptr(all ? nullptr : burst.enables.data());
  burst.set_byte_enable_length(all ? 0 : static_cast<unsigned>(bytes));
}

bool BusMaster::response(unsigned, tlm::tlm_generic_payload& payload, Cycle ready) {
  auto* const burst = dynamic_cast<Burst*>(&payload);
  // One that is forgotten, or a target that responds twice.
  if (burst == nullptr || !burst->held || ended_.full()) return true;
  ended_.push({burst, ready});
  domain_.wake_at(index_, ready);
  return true;
}

void BusMaster::finish(const Ended& end) {
  Burst& burst = *end.burst;
  Transfer* transfer = burst.transfer;
  burst.transfer = nullptr;
  if (transfer != nullptr) {
    const tlm::tlm_response_status status = burst.get_response_status();
    if (status != tlm::TLM_OK_RESPONSE) {
      ++errors_;
      if (transfer->status == tlm::TLM_OK_RESPONSE) {
        transfer->status = status == tlm::TLM_INCOMPLETE_RESPONSE ? tlm::TLM_GENERIC_ERROR_RESPONSE : status;
        transfer->failed_address = transfer->address + burst.offset;
      }
    } else if (burst.is_read()) {
      for_each_enabled_run(burst, [&](unsigned from, unsigned bytes) {
        std::memcpy(transfer->data + burst.offset + from, burst.buffer.data() + from, bytes);
      });
    }
    --transfer->open;
    settle(*transfer);
  }
  let_go(burst);
}

void BusMaster::let_go(Burst& burst) {
  if (!burst.held) return;
  burst.held = false;
  --open_;
  if (burst.abandoned) --abandoned_;
  burst.abandoned = false;
  burst.release();
}

// Tells the client if the transfer is done; after an error no further burst begins.
void BusMaster::settle(Transfer& transfer) {
  const bool failed = transfer.status != tlm::TLM_OK_RESPONSE;
  if (failed && transfer.begun < transfer.bytes) {
    transfer.begun = transfer.bytes;
    Transfer* before = nullptr;
    for (Transfer* other = first_; other != nullptr; before = other, other = other->next) {
      if (other != &transfer) continue;
      (before != nullptr ? before->next : first_) = other->next;
      if (last_ == other) last_ = before;
      break;
    }
  }
  if (transfer.open == 0 && transfer.begun == transfer.bytes) transfer.client->transferred(transfer);
}

void BusMaster::Returned::free(tlm::tlm_generic_payload* payload) {
  payload->reset();
  master->free_.push_back(static_cast<Burst*>(payload));
}

void BusMaster::reset(bool bus_is_reset) {
  first_ = last_ = nullptr;
  for (const auto& burst : bursts_) {
    burst->transfer = nullptr;
    if (!burst->held || burst->abandoned) continue;
    burst->abandoned = true;
    ++abandoned_;
  }
  if (!bus_is_reset) return;
  ended_.clear();
  port_.reset();
  for (const auto& burst : bursts_) let_go(*burst);
}

void BusMaster::bind(statistics::Group& group) {
  group.counter("reads", units::kTransactions, "reads begun", reads_);
  group.counter("writes", units::kTransactions, "writes begun", writes_);
  group.counter("bytes_read", units::kBytes, "bytes of the reads", bytes_read_);
  group.counter("bytes_written", units::kBytes, "bytes of the writes", bytes_written_);
  group.counter("errors", units::kTransactions, "refused here or answered by an error", errors_);
}

}  // namespace weft::host
