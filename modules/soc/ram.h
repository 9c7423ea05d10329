// Memory: loosely timed, approximately timed, direct (DMI) and debug accesses. Of approximately timed
// accesses it takes `places` at a time and answers in order: each after the latency, and not before its bytes
// have passed at the bandwidth. Data move when an access completes.
#ifndef WEFT_SOC_RAM_H
#define WEFT_SOC_RAM_H

#include <tlm_utils/passthrough_target_socket.h>

#include <cstdint>
#include <systemc>
#include <tlm>

#include "common/config_visitor.h"
#include "common/ring.h"
#include "common/statistics.h"

namespace weft::soc {

class Ram : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(Ram);
  struct Config {
    std::uint64_t bytes = 64u << 20;
    double latency_ns = 50;
    double bytes_per_ns = 16;
    std::uint64_t places = 16;
    bool dmi = true;
    void describe(config::Visitor& v);
    void describe_timing(config::Visitor& v);  // all but `bytes`
    // Throws InputError.
    void check(const std::string& where) const;
  };

  tlm_utils::passthrough_target_socket<Ram> socket;

  // Addresses begin at `base`. Throws InputError if the host cannot give the memory.
  Ram(sc_core::sc_module_name name, const Config& config, std::uint64_t base = 0);
  ~Ram() override;

  unsigned char* data() const { return data_; }
  std::uint64_t bytes() const { return config_.bytes; }
  // The file that holds the memory, for who maps it in another process; it belongs to the Ram.
  int file_descriptor() const { return file_; }
  void bind(statistics::Registry& registry, const std::string& prefix);

 private:
  struct Waiting {
    tlm::tlm_generic_payload* payload = nullptr;
    sc_core::sc_time ready;
  };

  tlm::tlm_sync_enum forward(tlm::tlm_generic_payload& payload, tlm::tlm_phase& phase,
                             sc_core::sc_time& delay);
  void blocking(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);
  bool dmi(tlm::tlm_generic_payload& payload, tlm::tlm_dmi& region);
  unsigned debug(tlm::tlm_generic_payload& payload);
  // Addresses below the base become far too large.
  bool contains(std::uint64_t address, std::uint64_t bytes) const {
    return bytes <= config_.bytes && address - base_ <= config_.bytes - bytes;
  }
  unsigned char* at(std::uint64_t address) const { return data_ + (address - base_); }
  void access(tlm::tlm_generic_payload& payload);
  void take(tlm::tlm_generic_payload& payload, const sc_core::sc_time& at);
  void respond();

  const Config config_;
  const std::uint64_t base_;
  const sc_core::sc_time latency_;
  int file_ = -1;
  unsigned char* data_ = nullptr;
  Ring<Waiting> queue_;                             // in the order of their answers
  tlm::tlm_generic_payload* held_ = nullptr;        // END_REQ withheld
  tlm::tlm_generic_payload* responding_ = nullptr;  // from BEGIN_RESP to END_RESP
  sc_core::sc_time last_ready_;
  sc_core::sc_event work_;
  std::uint64_t reads_ = 0, writes_ = 0, bytes_read_ = 0, bytes_written_ = 0;
};

}  // namespace weft::soc

#endif
