// One bank of the L2 cache: write-back, write-allocate, between the crossbar and one DRAM channel.
//
// A request goes through a pipeline of `latency` stages, one entering per cycle; at its end the tags are
// looked up, in order, one line (or sector of one) per cycle. A hit is answered from here, a miss is merged
// or fetched; what lacks a way, an MSHR, a place in the miss queue, a write-back buffer or a place for the
// response stalls the pipeline. Writes that cover their line need no fetch. An atomic keeps the bank busy for
// atomic_lanes x atomic_interval cycles. Latency of a lone hit, from BEGIN_REQ to BEGIN_RESP: `latency`
// cycles, and far_latency more for an SM of another partition.
//
// Tags and states only: the image behind the channel holds the bytes. The bank is the point at which accesses
// take effect in order: foreign payloads (without TransactionOrigin) move their data at the lookup.
#ifndef WEFT_L2_L2_BANK_H
#define WEFT_L2_L2_BANK_H

#include <string>
#include <systemc>
#include <tlm>
#include <utility>
#include <vector>

#include "bus/clock_domain.h"
#include "bus/initiator_port.h"
#include "bus/memory_transaction.h"
#include "bus/target_port.h"
#include "cache/mshr_table.h"
#include "cache/sector_tags.h"
#include "common/probes.h"
#include "common/ring.h"
#include "memory/channel_map.h"
#include "weft/common/archive.h"
#include "weft/common/statistics.h"
#include "weft/l2/l2_config.h"

namespace weft::l2 {

class L2Bank : public sc_core::sc_module,
               public Clocked,
               private bus::TargetPort::Listener,
               private bus::InitiatorPort::Listener {
 public:
  tlm::tlm_target_socket<32> target;
  tlm::tlm_initiator_socket<32> memory;

  // Bank `bank` of channel `channel` of the map. Throws InputError if a line is larger than the map's chunk.
  L2Bank(sc_core::sc_module_name name, const Config& config, ClockDomain& domain,
         const memory::ChannelMap& map, unsigned channel, unsigned bank);

  // Drops everything under way and all lines.
  void reset();
  // Between two launches. Throws NotAtRest also while lines are still being fetched or written back.
  void archive(Archive& archive);
  void bind(statistics::Group& group);
  Cycle step(Cycle now) override;

  // Its own transactions to memory have their bytes with them from now on, for who looks at a hop. Time is
  // the same.
  void carry_data(bool carries);

  // SMs of other partitions of the chip, by number: their requests come over a link of far_latency cycles,
  // one per cycle, beside those of the near ones.
  void set_far(std::vector<bool> sms) { far_sms_ = std::move(sms); }
  // The host has copied to these bytes, all in this bank and one chunk: their sectors are here now, in no
  // time, as far as their sets have room. What they evict is not written back: the image has its bytes.
  void host_copied(std::uint64_t address, std::uint64_t bytes);

  // Nothing is under way. Dirty lines may stay: the image has their bytes already.
  bool idle() const {
    return state_.free_requests.size() == state_.requests.size() && target_port_.withheld() == nullptr &&
           state_.memory_in_flight == 0 && state_.misses.empty();
  }
  const cache::SectorTags& tags() const { return tags_; }
  // Requests in each stage; `miss_queue` is what waits to be sent, fetches and write-backs.
  void probes(const Probes::Scope& all) const;

 private:
  using Payload = tlm::tlm_generic_payload;
  using Sector = cache::Sector;  // the unit of all that follows: a whole line, if there are no sectors
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  struct Request {
    Payload* payload = nullptr;
    TransactionOrigin* origin = nullptr;  // null: it is foreign
    std::uint64_t begin = 0;              // of its bytes, in the bank
    Cycle ready = 0;  // first edge at which it may enter the pipeline, then the edge at which it leaves it
    Sector next = 0;  // the one to look up next
    Sector last = 0;
    unsigned missing = 0;  // sectors that it waits for
    std::uint32_t lanes = 0;
    bool write = false;
    bool looked_up = false;      // all its sectors
    bool stall_counted = false;  // for `next`
    tlm::tlm_response_status status = tlm::TLM_OK_RESPONSE;
  };
  struct Miss {  // what goes to memory
    Sector first = 0;
    std::uint32_t sectors = 1;
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
    Sector sector = 0;
    bool dirty = false;  // a write waits for the fetch
    tlm::tlm_response_status status = tlm::TLM_OK_RESPONSE;
  };

  // Beside that of its parts: tags, MSHRs and ports.
  struct State {
    explicit State(const Config& config);
    std::vector<Request> requests;
    std::vector<std::uint32_t> free_requests;
    Ring<std::uint32_t> link;  // far requests on their way to `input`
    Ring<std::uint32_t> input;
    Ring<std::uint32_t> pipeline;
    Ring<Miss> misses;             // to memory
    Ring<Fill> fills;              // from memory
    Ring<std::uint32_t> released;  // closed MSHRs whose waiters are being answered
    std::uint32_t waiter = kNone;  // the next of them, or kNone
    Ring<Response> responses;
    Cycle busy_until = 0;    // an atomic has the bank
    Cycle lookup_until = 0;  // a lookup of several cycles is under way
    std::vector<Slot> slots;
    std::vector<std::uint32_t> free_write_backs;
    std::size_t memory_in_flight = 0;
    void archive(Archive& archive) {
      auto& [requests_, free_requests_, link_, input_, pipeline_, misses_, fills_, released_, waiter_,
             responses_, busy_until_, lookup_until_, slots_, free_write_backs_, memory_in_flight_] = *this;
      archive(at_rest(link_), at_rest(input_), at_rest(pipeline_), at_rest(misses_), at_rest(fills_),
              at_rest(released_), at_rest(responses_), at_rest(memory_in_flight_), busy_until_,
              lookup_until_);
      // Numbers of records that are free, of which nothing depends on which is taken.
      set_anew(requests_, free_requests_, waiter_, slots_, free_write_backs_);
    }
  };

  bus::Verdict request(unsigned, Payload& payload, Cycle ready, sc_core::sc_time& delay) override;
  void blocking(unsigned, Payload& payload, sc_core::sc_time& delay) override;
  bool dmi(unsigned, Payload& payload, tlm::tlm_dmi& region) override;
  unsigned debug(unsigned, Payload& payload) override;
  bool response(unsigned, Payload& payload, Cycle ready) override;
  void invalidate(unsigned, sc_dt::uint64 begin, sc_dt::uint64 end) override;

  // The stages, in the order in which a step runs them, each if its queue holds something. They return
  // whether anything moved.
  bool take_fill(Cycle now);
  bool release_waiter(Cycle now);
  bool cross_link(Cycle now);
  bool enter_pipeline(Cycle now);
  bool look_up(Cycle now) {
    if (wide_) return look_up_wide(now);
    const bool done = look_up_next(now);
    lookup_cycles_ += done ? 1 : 0;
    return done;
  }
  bool look_up_wide(Cycle now);
  bool look_up_next(Cycle now);
  bool send_miss(Cycle now);
  bool respond(Cycle now);
  void admit_blocked(Cycle now);
  Cycle next_work(Cycle now, bool moved) const;

  tlm::tlm_response_status check_request(const Payload& payload);
  std::uint32_t new_request(Payload& payload, Cycle ready);
  bool is_far(const Payload& payload) const;
  bool has_place(bool far) const { return far ? !state_.link.full() : !state_.input.full(); }
  void accept(Payload& payload, bool far, Cycle ready);
  using Found = cache::SectorTags::Found;
  bool look_up_present(Request& request, std::uint32_t handle, const Found& found, Cycle now);
  bool look_up_pending(Request& request, std::uint32_t handle, const Found& found);
  bool look_up_absent(Request& request, std::uint32_t handle, const Found& found, Cycle now);
  bool covers(const Request& request, Sector sector) const;
  std::uint64_t bytes_of(const Request& request, Sector sector) const;
  void write_back(const cache::SectorTags::Victim& victim);
  bool finish_line(Request& request, std::uint32_t handle, Cycle now);
  void wait_for_memory(Request& request);
  void queue_response(Request& request, std::uint32_t handle, Cycle now);
  void stall(Request& request, cache::MshrOutcome cause);
  void free_slot(std::uint32_t slot);
  unsigned char* bytes_of(std::uint64_t address, std::uint32_t slot);
  unsigned char* evicted_of(std::uint32_t slot);
  void read_memory(std::uint64_t address, unsigned char* bytes, unsigned count);
  void find_image();
  void move_foreign_data(Request& request);

  const Config config_;
  ClockDomain& domain_;
  const memory::ChannelMap& map_;
  const unsigned channel_;
  const unsigned bank_;
  const std::size_t index_;
  const bool wide_;  // bytes_per_cycle is given
  const unsigned lookups_per_cycle_;
  const Cycle lookup_cycles_each_;
  std::vector<bool> far_sms_;

  bus::TargetPort target_port_;
  bus::InitiatorPort memory_port_;
  cache::SectorTags tags_;
  cache::MshrTable mshrs_;
  State state_;
  TransactionPool pool_;

  // The image, if memory grants DMI; else a line's buffer per slot.
  bool carries_data_ = false;
  std::vector<unsigned char> evicted_;  // ... of the lines to be written back, by slot
  bool asked_for_image_ = false;
  unsigned char* image_ = nullptr;
  std::uint64_t image_begin_ = 0;
  std::uint64_t image_end_ = 0;  // inclusive
  std::vector<unsigned char> buffers_;

  std::uint64_t reads_ = 0;
  std::uint64_t writes_ = 0;
  std::uint64_t atomics_ = 0;
  std::uint64_t lookup_cycles_ = 0;
  std::uint64_t atomic_cycles_ = 0;
  std::uint64_t fetches_ = 0;
  std::uint64_t write_backs_ = 0;
  std::uint64_t memory_errors_ = 0;
  std::uint64_t blocked_requests_ = 0;
  std::uint64_t queue_stalls_ = 0;
  std::uint64_t far_requests_ = 0;
};

}  // namespace weft::l2

#endif
