// One bank of the L2 cache: write-back, write-allocate, between the crossbar and one GDDR5 channel.
//
// A request goes through a pipeline of `latency` stages, one entering per cycle; at its end the tags are
// looked up, in order, one line per cycle. A hit is answered from here, a miss is merged or fetched; what
// lacks a way, an MSHR, a place in the miss queue, a write-back buffer or a place for the response stalls the
// pipeline. Writes that cover their line need no fetch. An atomic keeps the bank busy for atomic_lanes x
// atomic_interval cycles. Latency of a lone hit, from BEGIN_REQ to BEGIN_RESP: `latency` cycles.
//
// Tags and states only: the image behind the channel holds the bytes. The bank is the point at which accesses
// take effect in order: foreign payloads (without TransactionOrigin) move their data at the lookup.
#ifndef WEFT_L2_L2_BANK_H
#define WEFT_L2_L2_BANK_H

#include <tlm_utils/passthrough_target_socket.h>
#include <tlm_utils/simple_initiator_socket.h>

#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "cache/mshr_table.h"
#include "cache/tag_array.h"
#include "common/clock_domain.h"
#include "common/hop_gate.h"
#include "common/memory_transaction.h"
#include "common/ring.h"
#include "common/statistics.h"
#include "gddr5/address_map.h"

namespace weft::l2 {

enum class WriteMiss : std::uint8_t { kFetch, kNoFetch };

class L2Bank : public sc_core::sc_module, public Clocked {
 public:
  struct Config {
    cache::TagArray::Config tags;
    cache::MshrTable::Config mshrs{256, 4};
    std::uint64_t latency = 120;
    std::uint64_t input_queue = 8;
    std::uint64_t miss_queue = 8;
    std::uint64_t response_queue = 8;
    std::uint64_t write_back_buffers = 8;
    std::uint64_t atomic_interval = 1;
    WriteMiss write_miss = WriteMiss::kFetch;

    void describe(config::Visitor& v);
    void check(const std::string& where) const;
  };

  tlm_utils::passthrough_target_socket<L2Bank> target;
  tlm_utils::simple_initiator_socket<L2Bank> memory;

  // Bank `bank` of channel `channel` of the map. Throws InputError if a line is larger than the map's chunk.
  L2Bank(sc_core::sc_module_name name, const Config& config, ClockDomain& domain,
         const gddr5::AddressMap& map, unsigned channel, unsigned bank);

  // Drops everything under way and all lines.
  void reset();
  void bind(statistics::Registry& registry, const std::string& prefix);
  Cycle step(Cycle now) override;

  // Nothing is under way. Dirty lines may stay: the image has their bytes already.
  bool idle() const {
    return free_requests_.size() == requests_.size() && memory_in_flight_ == 0 && misses_.empty();
  }
  const cache::TagArray& tags() const { return tags_; }
  // Requests in each stage, for waveforms; `misses` counts what waits to be sent, fetches and write-backs.
  struct QueueLengths {
    std::size_t input = 0, pipeline = 0, mshrs = 0, misses = 0, responses = 0;
  };
  QueueLengths queue_lengths() const {
    return {input_.size(), pipeline_.size(), mshrs_.in_use(), misses_.size(), responses_.size()};
  }

 private:
  using Payload = tlm::tlm_generic_payload;
  using Line = cache::Line;
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  struct Request {
    Payload* payload = nullptr;
    Cycle ready = 0;  // first edge at which it may enter the pipeline, then the edge at which it leaves it
    Line next = 0;    // the line to look up next
    Line last = 0;
    unsigned missing = 0;  // lines that it waits for
    std::uint32_t lanes = 0;
    bool write = false;
    bool looked_up = false;      // all its lines
    bool stall_counted = false;  // for the line `next`
    tlm::tlm_response_status status = tlm::TLM_OK_RESPONSE;
  };
  struct Miss {  // what goes to memory
    Line line = 0;
    std::uint32_t slot = 0;
    bool write_back = false;
  };
  struct Fill {  // what came back
    std::uint32_t slot = 0;
    tlm::tlm_response_status status = tlm::TLM_OK_RESPONSE;
    Cycle ready = 0;
  };
  struct Response {
    std::uint32_t request = 0;
    Cycle ready = 0;
  };
  // A transaction with memory: slots below the number of MSHRs are fetches, those above write-backs.
  struct Slot {
    Payload* payload = nullptr;
    Line line = 0;
    bool dirty = false;  // a write waits for the fetch
    tlm::tlm_response_status status = tlm::TLM_OK_RESPONSE;
  };

  tlm::tlm_sync_enum forward(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  tlm::tlm_sync_enum backward(Payload& payload, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  void blocking(Payload& payload, sc_core::sc_time& delay);
  bool dmi(Payload& payload, tlm::tlm_dmi& region);
  unsigned debug(Payload& payload);
  void invalidate(sc_dt::uint64 begin, sc_dt::uint64 end);

  // The stages, in the order in which a step runs them. Each returns whether anything moved.
  bool take_fill(Cycle now);
  bool release_waiter(Cycle now);
  bool enter_pipeline(Cycle now);
  bool look_up(Cycle now);
  bool send_miss(Cycle now);
  bool respond(Cycle now);
  void admit_blocked(Cycle now);
  Cycle next_work(Cycle now, bool moved) const;

  tlm::tlm_response_status check_request(const Payload& payload);
  std::uint32_t new_request(Payload& payload, Cycle ready);
  bool look_up_present(Request& request, std::uint32_t handle, Cycle now);
  bool look_up_pending(Request& request, std::uint32_t handle);
  bool look_up_absent(Request& request, std::uint32_t handle, Cycle now);
  bool covers(const Request& request, Line line) const;
  bool finish_line(Request& request, std::uint32_t handle, Cycle now);
  void queue_response(Request& request, std::uint32_t handle, Cycle now);
  void stall(Request& request, cache::MshrOutcome cause);
  void memory_answered(Payload& payload, Cycle ready);
  void end_response(Cycle usable_from);
  void free_slot(std::uint32_t slot);
  unsigned char* bytes_of(std::uint64_t address, std::uint32_t slot);
  void find_image();
  void move_foreign_data(Request& request);
  Cycle edge_of(const sc_core::sc_time& delay) const;

  const Config config_;
  ClockDomain& domain_;
  const gddr5::AddressMap& map_;
  const unsigned channel_;
  const unsigned bank_;
  const std::size_t index_;

  cache::TagArray tags_;
  cache::MshrTable mshrs_;
  std::vector<Request> requests_;
  std::vector<std::uint32_t> free_requests_;
  Ring<std::uint32_t> input_;
  Ring<std::uint32_t> pipeline_;
  std::uint32_t blocked_;         // END_REQ withheld, or kNone
  Ring<Miss> misses_;             // to memory
  Ring<Fill> fills_;              // from memory
  Ring<std::uint32_t> released_;  // closed MSHRs whose waiters are being answered
  std::uint32_t waiter_;          // the next of them, or kNone
  Ring<Response> responses_;
  Payload* responding_ = nullptr;
  HopGate response_gate_;
  HopGate request_gate_;
  Cycle busy_until_ = 0;  // an atomic has the bank

  TransactionPool pool_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_write_backs_;
  std::size_t memory_in_flight_ = 0;
  std::uint32_t last_slot_ = 0;  // the slot whose request was sent last

  // The image, if memory grants DMI; else a line's buffer per slot.
  bool asked_for_image_ = false;
  unsigned char* image_ = nullptr;
  std::uint64_t image_begin_ = 0;
  std::uint64_t image_end_ = 0;  // inclusive
  std::vector<unsigned char> buffers_;

  std::uint64_t reads_ = 0;
  std::uint64_t writes_ = 0;
  std::uint64_t atomics_ = 0;
  std::uint64_t atomic_cycles_ = 0;
  std::uint64_t fetches_ = 0;
  std::uint64_t write_backs_ = 0;
  std::uint64_t memory_errors_ = 0;
  std::uint64_t blocked_requests_ = 0;
  std::uint64_t queue_stalls_ = 0;
};

}  // namespace weft::l2

#endif
