// Memory: loosely timed, approximately timed, direct (DMI) and debug accesses. Of approximately timed
// accesses it takes `places` at a time and answers in order: each after the latency, and not before its bytes
// have passed at the bandwidth. Data move when an access completes.
#ifndef WEFT_SOC_RAM_H
#define WEFT_SOC_RAM_H

#include <cstdint>
#include <systemc>
#include <tlm>

#include "bus/target_port.h"
#include "common/ring.h"
#include "weft/common/config_visitor.h"
#include "weft/common/statistics.h"
#include "weft/soc/ram_config.h"

namespace weft::soc {

class Ram : public sc_core::sc_module, private bus::EventTargetPort::Listener {
 public:
  SC_HAS_PROCESS(Ram);
  tlm::tlm_target_socket<32> socket;

  // Addresses begin at `base`. Throws InputError if the host cannot give the memory.
  Ram(sc_core::sc_module_name name, const RamConfig& config, std::uint64_t base = 0);
  ~Ram() override;

  unsigned char* data() const { return data_; }
  std::uint64_t bytes() const { return config_.bytes; }
  // The file that holds the memory, for who maps it in another process; it belongs to the Ram.
  int file_descriptor() const { return file_; }
  void bind(statistics::Group& group);

 private:
  struct Waiting {
    tlm::tlm_generic_payload* payload = nullptr;
    sc_core::sc_time ready;
  };

  bus::Verdict request(unsigned, tlm::tlm_generic_payload& payload, sc_core::sc_time ready,
                       sc_core::sc_time& delay) override;
  void blocking(unsigned, tlm::tlm_generic_payload& payload, sc_core::sc_time& delay) override;
  bool dmi(unsigned, tlm::tlm_generic_payload& payload, tlm::tlm_dmi& region) override;
  unsigned debug(unsigned, tlm::tlm_generic_payload& payload) override;
  // Addresses below the base become far too large.
  bool contains(std::uint64_t address, std::uint64_t bytes) const {
    return bytes <= config_.bytes && address - base_ <= config_.bytes - bytes;
  }
  unsigned char* at(std::uint64_t address) const { return data_ + (address - base_); }
  void access(tlm::tlm_generic_payload& payload);
  void take(tlm::tlm_generic_payload& payload, const sc_core::sc_time& at);
  void respond();

  const RamConfig config_;
  const std::uint64_t base_;
  const sc_core::sc_time latency_;
  int file_ = -1;
  unsigned char* data_ = nullptr;
  Ring<Waiting> queue_;  // in the order of their answers
  sc_core::sc_time last_ready_;
  sc_core::sc_event work_;
  const bus::EventPace pace_;
  bus::EventTargetPort port_;
  std::uint64_t reads_ = 0, writes_ = 0, bytes_read_ = 0, bytes_written_ = 0;
};

}  // namespace weft::soc

#endif
