#include "platform/signal_transfers.h"

#include <algorithm>
#include <cstring>

#include "bus/payload_data.h"

namespace weft {

using sc_core::sc_time;

namespace {

constexpr std::uint64_t kBoundary = 4096;  // no transaction crosses a multiple of it
constexpr unsigned kMostWords = 256;
constexpr unsigned kKeptComplaints = 10;

// The bytes of the transaction are those of the image: it comes from an SM or an L2 bank.
bool of_image(const SignalTransfers::Transfer& transfer) {
  if (transfer.payload == nullptr) return true;
  const TransactionOrigin* const origin = origin_of(*transfer.payload);
  return origin != nullptr && !origin->system;
}

}  // namespace

struct SignalTransfers::Blocked {
  bool done = false;
  tlm::tlm_response_status status = tlm::TLM_GENERIC_ERROR_RESPONSE;
};

SignalTransfers::SignalTransfers(const char* name, const Hop& hop, unsigned in_flight, unsigned word_bytes,
                                 tlm::tlm_target_socket<32>& target, tlm::tlm_initiator_socket<32>& initiator)
    : name_(name),
      hop_(hop),
      word_bytes_(word_bytes),
      target_(target),
      initiator_(initiator),
      port_(target, *this, bus::EventPace(wake_)),
      places_(in_flight + 1),
      queue_(in_flight),
      done_(in_flight + 1) {
  for (unsigned i = 0; i < places_.size(); ++i) places_[i].place = i;
  initiator.bind(static_cast<tlm::tlm_bw_transport_if<>&>(*this));
}

void SignalTransfers::bind_rest() {
  has_image_ = initiator_.get_base_port().bind_count() != 0;
  if (!has_image_) initiator_.get_base_port().bind(static_cast<tlm::tlm_fw_transport_if<>&>(*this));
}

void SignalTransfers::reset() {
  for (Transfer& place : places_) {
    if (place.state == Transfer::State::kFree) continue;
    if (place.blocked != nullptr) {
      place.blocked->done = true;
    } else if (place.payload != nullptr) {
      place.payload->release();
    }
    place.state = Transfer::State::kFree;
  }
  port_.reset();
  queue_.clear();
  done_.clear();
  changed_.clear();
  counters_ = {};
  unblock_.notify(sc_core::SC_ZERO_TIME);
}

bool SignalTransfers::idle() const {
  const auto is_free = [](const Transfer& place) { return place.state == Transfer::State::kFree; };
  return changed_.empty() && port_.withheld() == nullptr &&
         std::all_of(places_.begin(), places_.end(), is_free);
}

void SignalTransfers::complain(const std::string& what) {
  if (++complaints_ > kKeptComplaints) return;
  violations_ += sc_core::sc_time_stamp().to_string() + ": " + name_ + ": " + what + "\n";
}

// ---- transactions

tlm::tlm_response_status SignalTransfers::check(const Payload& payload) const {
  if (!payload.is_read() && !payload.is_write()) return tlm::TLM_COMMAND_ERROR_RESPONSE;
  const std::uint64_t address = payload.get_address();
  const unsigned bytes = payload.get_data_length();
  if (bytes == 0 || payload.get_streaming_width() < bytes) return tlm::TLM_BURST_ERROR_RESPONSE;
  if (payload.get_byte_enable_ptr() != nullptr && payload.get_byte_enable_length() == 0)
    return tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE;
  const HopAddresses& map = hop_.addresses;
  const std::uint64_t end = map.base + hop_.memory_bytes;
  if (!map.within(address, 1)) return tlm::TLM_ADDRESS_ERROR_RESPONSE;
  if (hop_.memory_bytes != 0 && (address >= end || bytes > end - address))
    return tlm::TLM_ADDRESS_ERROR_RESPONSE;
  const std::uint64_t local = map.local(address), lead = local % word_bytes_;
  const bool fits = map.within(address, bytes) && local % kBoundary + bytes <= kBoundary &&
                    (lead + bytes + word_bytes_ - 1) / word_bytes_ <= kMostWords;
  return fits ? tlm::TLM_OK_RESPONSE : tlm::TLM_BURST_ERROR_RESPONSE;
}

SignalTransfers::Transfer* SignalTransfers::free_place() {
  const auto place = std::find_if(places_.begin(), places_.end() - 1,
                                  [](const Transfer& p) { return p.state == Transfer::State::kFree; });
  return place != places_.end() - 1 ? &*place : nullptr;
}

void SignalTransfers::fill(Transfer& place, std::uint64_t address, unsigned bytes) {
  const std::uint64_t local = hop_.addresses.local(address);
  place.state = Transfer::State::kQueued;
  place.blocked = nullptr;
  place.address = address;
  place.bytes = bytes;
  place.lead = static_cast<unsigned>(local % word_bytes_);
  place.first_word = local - place.lead;
  place.words = (place.lead + bytes + word_bytes_ - 1) / word_bytes_;
  place.sent = place.answered = 0;
  place.address_sent = place.error = false;
}

void SignalTransfers::accept(Transfer& place, Payload& payload, const sc_time& ready) {
  fill(place, payload.get_address(), payload.get_data_length());
  place.payload = &payload;
  place.write = payload.is_write();
  place.ready = ready;
  queue_.push(place.place);
}

bus::Verdict SignalTransfers::request(unsigned, Payload& payload, sc_time ready, sc_time&) {
  const tlm::tlm_response_status status = check(payload);
  if (status != tlm::TLM_OK_RESPONSE) {
    payload.set_response_status(status);
    return bus::Verdict::kCompleted;
  }
  Transfer* const place = free_place();
  if (place == nullptr) return bus::Verdict::kWithheld;
  accept(*place, payload, ready);
  return bus::Verdict::kTaken;
}

// Takes the time that the RTL takes.
void SignalTransfers::blocking(unsigned, Payload& payload, sc_time& delay) {
  const tlm::tlm_response_status status = check(payload);
  if (status != tlm::TLM_OK_RESPONSE) return payload.set_response_status(status);
  sc_core::wait(delay);
  delay = sc_core::SC_ZERO_TIME;
  Transfer* place = free_place();
  for (; place == nullptr; place = free_place()) sc_core::wait(unblock_);
  accept(*place, payload, sc_core::sc_time_stamp());
  Blocked blocked;
  place->blocked = &blocked;
  while (!blocked.done) sc_core::wait(unblock_);
  payload.set_response_status(blocked.status);
}

bool SignalTransfers::dmi(unsigned, Payload& payload, tlm::tlm_dmi& region) {
  if (has_image_) return initiator_->get_direct_mem_ptr(payload, region);
  region.init();
  return false;
}

unsigned SignalTransfers::debug(unsigned, Payload& payload) {
  if (!has_image_) return 0;
  const unsigned bytes = initiator_->transport_dbg(payload);
  if (payload.is_write()) refresh(payload.get_address(), bytes);
  return bytes;
}

// ---- at an edge

void SignalTransfers::work() {
  respond();
  take_refresh();
  const bus::EventTargetPort::Withheld* const withheld = port_.withheld();
  if (withheld == nullptr) return;
  Transfer* const place = free_place();
  if (place == nullptr) return;
  accept(*place, *withheld->payload, withheld->ready);
  port_.end_request();
}

void SignalTransfers::respond() {
  if (done_.empty() || !port_.usable(sc_core::sc_time_stamp())) return;
  Transfer& place = places_[done_.front()];
  done_.pop();
  place.state = Transfer::State::kFree;
  port_.respond(*place.payload);
  unblock_.notify(sc_core::SC_ZERO_TIME);
}

SignalTransfers::Transfer* SignalTransfers::next() {
  Transfer& refresh = places_.back();
  const bool refreshing = refresh.state == Transfer::State::kQueued;
  if (!refreshing && queue_.empty()) return nullptr;
  Transfer& first = refreshing ? refresh : places_[queue_.front()];
  // What arrives at the time of an edge is too late for it, in whatever order the two happen.
  const bool arrived = refreshing || first.ready < sc_core::sc_time_stamp();
  return arrived && !overlaps(first) ? &first : nullptr;
}

bool SignalTransfers::overlaps(const Transfer& transfer) const {
  const auto end = [this](const Transfer& t) { return t.first_word + std::uint64_t{t.words} * word_bytes_; };
  return std::any_of(places_.begin(), places_.end(), [&](const Transfer& other) {
    return other.state == Transfer::State::kSent && (other.write || transfer.write) &&
           other.first_word < end(transfer) && transfer.first_word < end(other);
  });
}

void SignalTransfers::begin(Transfer& transfer) {
  transfer.state = Transfer::State::kSent;
  if (transfer.payload != nullptr) queue_.pop();
  const std::size_t bytes = std::size_t{transfer.words} * word_bytes_;
  if (transfer.data.size() < bytes) {
    transfer.data.resize(bytes);
    transfer.strobes.resize(bytes);
  }
  std::fill_n(transfer.data.begin(), bytes, 0);
  std::fill_n(transfer.strobes.begin(), bytes, 0);
  unsigned char* const data = transfer.data.data() + transfer.lead;
  unsigned char* const strobes = transfer.strobes.data() + transfer.lead;
  if (transfer.payload == nullptr) {
    std::fill_n(strobes, transfer.bytes, 1);
  } else {
    const unsigned char* const from = transfer.payload->get_data_ptr();
    for_each_enabled_run(*transfer.payload, [&](unsigned offset, unsigned count) {
      std::fill_n(strobes + offset, count, 1);
      if (transfer.write) std::memcpy(data + offset, from + offset, count);
    });
  }
  if (transfer.write && of_image(transfer))
    image(tlm::TLM_READ_COMMAND, transfer.address, data, transfer.bytes);
}

SignalTransfers::Transfer* SignalTransfers::sent(std::uint64_t place) {
  const bool known = place < places_.size() && places_[place].state == Transfer::State::kSent;
  return known ? &places_[place] : nullptr;
}

void SignalTransfers::finish(Transfer& transfer, tlm::tlm_response_status status) {
  if (transfer.payload == nullptr) {
    counters_.refreshed += transfer.bytes;
    transfer.state = Transfer::State::kFree;
    return;
  }
  ++(transfer.write ? counters_.writes : counters_.reads);
  (transfer.write ? counters_.bytes_written : counters_.bytes_read) += transfer.bytes;
  if (status == tlm::TLM_OK_RESPONSE && transfer.write) put_written(transfer);
  if (status == tlm::TLM_OK_RESPONSE && !transfer.write) take_read(transfer);
  if (transfer.blocked != nullptr) {
    transfer.blocked->status = status;
    transfer.blocked->done = true;
    transfer.state = Transfer::State::kFree;
    unblock_.notify(sc_core::SC_ZERO_TIME);
    return;
  }
  transfer.payload->set_response_status(status);
  transfer.state = Transfer::State::kDone;
  done_.push(transfer.place);
}

// ---- bytes

// The bytes of the RTL become those of the transaction. Without TransactionOrigin::carries, nobody looks at
// the data of an SM's transaction, and they are the image itself.
void SignalTransfers::take_read(Transfer& transfer) {
  Payload& payload = *transfer.payload;
  const unsigned char* const data = transfer.data.data() + transfer.lead;
  const TransactionOrigin* const origin = origin_of(payload);
  if (origin == nullptr || origin->carries) {
    for_each_enabled_run(payload, [&](unsigned offset, unsigned count) {
      std::memcpy(payload.get_data_ptr() + offset, data + offset, count);
    });
  }
  if (scratch_.size() < transfer.bytes) scratch_.resize(transfer.bytes);
  if (!image(tlm::TLM_READ_COMMAND, transfer.address, scratch_.data(), transfer.bytes)) return;
  std::uint64_t& other = of_image(transfer) ? counters_.bytes_newer : counters_.bytes_stale;
  for (unsigned i = 0; i < transfer.bytes; ++i) other += data[i] != scratch_[i] ? 1 : 0;
}

// What comes from outside has no effect on the image before.
void SignalTransfers::put_written(const Transfer& transfer) {
  if (of_image(transfer)) return;
  Payload& payload = *transfer.payload;
  for_each_enabled_run(payload, [&](unsigned offset, unsigned count) {
    image(tlm::TLM_WRITE_COMMAND, transfer.address + offset, payload.get_data_ptr() + offset, count);
  });
}

bool SignalTransfers::image(tlm::tlm_command command, std::uint64_t address, unsigned char* bytes,
                            unsigned count) {
  if (!has_image_) return false;
  Payload payload;
  payload.set_command(command);
  payload.set_address(address);
  payload.set_data_ptr(bytes);
  payload.set_data_length(count);
  payload.set_streaming_width(count);
  return initiator_->transport_dbg(payload) == count;
}

// Perhaps before the simulation starts, when it is not known yet whether there is an image.
void SignalTransfers::refresh(std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t base = hop_.addresses.base;
  if (address < base || (hop_.memory_bytes != 0 && address - base >= hop_.memory_bytes)) return;
  if (hop_.memory_bytes != 0) bytes = std::min(bytes, hop_.memory_bytes - (address - base));
  if (bytes != 0) changed_.emplace_back(address, bytes);
}

// The first bytes of a range that lie behind this hop, up to the end of a chunk.
void SignalTransfers::take_refresh() {
  Transfer& place = places_.back();
  const HopAddresses& map = hop_.addresses;
  if (!has_image_) changed_.clear();
  while (!changed_.empty() && place.state == Transfer::State::kFree) {
    auto& [address, left] = changed_.front();
    const std::uint64_t unit = map.chunk_bytes != 0 ? std::min(map.chunk_bytes, kBoundary) : kBoundary;
    const std::uint64_t most = std::min<std::uint64_t>(unit, std::uint64_t{kMostWords} * word_bytes_);
    const std::uint64_t count = std::min(left, most - (address - map.base) % most);
    if (map.within(address, count)) {
      fill(place, address, static_cast<unsigned>(count));
      place.payload = nullptr;
      place.write = true;
    }
    address += count;
    left -= count;
    if (left == 0) changed_.pop_front();
  }
}

}  // namespace weft
