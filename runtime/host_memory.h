// Memory of the host's own process as system memory of a simulated GPU: addresses are host pointers.
//
// A target of the TLM-2.0 base protocol, approximately and loosely timed. The bytes of an access take their
// time on a link that serves one access after the other, in the order of the requests; then it takes the
// latency, during which the link serves others. Ranges are the ones that were added; they grant direct
// access, everything else is an address error.
#ifndef WEFT_RUNTIME_HOST_MEMORY_H
#define WEFT_RUNTIME_HOST_MEMORY_H

#include <cstdint>
#include <deque>
#include <map>
#include <systemc>
#include <tlm>

#include "bus/target_port.h"
#include "weft/runtime/host_link.h"

namespace weft::runtime {

class HostMemory : public sc_core::sc_module, private bus::EventTargetPort::Listener {
 public:
  SC_HAS_PROCESS(HostMemory);
  tlm::tlm_target_socket<32> socket;

  HostMemory(sc_core::sc_module_name name, const HostLink& link);

  // Throws InputError for 0 bytes and for a range that overlaps another.
  void add(void* begin, std::uint64_t bytes);
  // Memory that is there for good, at an address of its own.
  void hold(std::uint64_t address, unsigned char* data, std::uint64_t bytes);
  // The range that begins there; direct access to it ends. Throws InputError if there is none.
  void remove(void* begin);
  void clear();  // all ranges but those held

 private:
  struct Range {
    unsigned char* data = nullptr;
    std::uint64_t bytes = 0;
    bool held = false;
  };

  void insert(std::uint64_t address, const Range& range);

  void invalidate(std::uint64_t address, const Range& range);
  // The host pointer to these bytes; nullptr: not all of them lie in one range.
  unsigned char* at(std::uint64_t address, std::uint64_t bytes) const;
  bool move(tlm::tlm_generic_payload& payload) const;
  bus::Verdict request(unsigned, tlm::tlm_generic_payload& payload, sc_core::sc_time ready,
                       sc_core::sc_time& delay) override;
  void blocking(unsigned, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override;
  bool dmi(unsigned, tlm::tlm_generic_payload& payload, tlm::tlm_dmi& region) override;
  unsigned debug(unsigned, tlm::tlm_generic_payload& payload) override;
  void respond();

  const HostLink link_;
  std::map<std::uint64_t, Range> ranges_;  // by address
  sc_core::sc_time link_free_;
  struct Response {
    tlm::tlm_generic_payload* payload = nullptr;
    sc_core::sc_time ready;
  };
  std::deque<Response> responses_;  // in the order of their times
  sc_core::sc_event respond_;
  const bus::EventPace pace_;
  bus::EventTargetPort port_;
};

}  // namespace weft::runtime

#endif
