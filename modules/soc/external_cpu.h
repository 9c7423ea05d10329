// A host CPU that is another process: it connects to a Unix socket and makes accesses (external_protocol.h).
// The simulation stands still while it waits for a message, therefore results do not depend on how fast the
// client is.
#ifndef WEFT_SOC_EXTERNAL_CPU_H
#define WEFT_SOC_EXTERNAL_CPU_H

#include <tlm_utils/simple_initiator_socket.h>

#include <cstdint>
#include <functional>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "soc/external_protocol.h"
#include "soc/ram.h"
#include "weft/common/config_visitor.h"
#include "weft/common/statistics.h"

namespace weft::soc {

class ExternalCpu : public sc_core::sc_module {
 public:
  SC_HAS_PROCESS(ExternalCpu);
  struct Config {
    std::string socket = "weft.socket";
    bool reconnect = false;
    void describe(config::Visitor& v);
  };

  tlm_utils::simple_initiator_socket<ExternalCpu> socket;
  sc_core::sc_in<bool> interrupt;

  // Listens at once, so that a client may connect before the simulation starts. `ram`, if any, is offered to
  // the client as the memory at `ram_base`. Throws InputError if the socket cannot be made: something is at
  // that path, it is too long, no permission.
  ExternalCpu(sc_core::sc_module_name name, const Config& config, const Ram* ram, std::uint64_t ram_base);
  ~ExternalCpu() override;

  // Asked ten times a second while waiting for a client: true gives up.
  void give_up_if(std::function<bool()> condition) { give_up_ = std::move(condition); }
  // Why it stopped for good; empty: it has not.
  const std::string& fault() const { return fault_; }
  const sc_core::sc_event& faulted() const { return faulted_; }
  void bind(statistics::Group& group);

 private:
  enum class Received : std::uint8_t { kMessage, kMalformed, kGone };

  void run();
  bool accept_client();
  void serve();
  Received receive();
  bool receive_bytes(void* to, std::size_t bytes);
  bool readable(int descriptor);
  // False: malformed.
  bool answer();
  bool hello();
  bool access(tlm::tlm_command command);
  bool advance();
  void reply(std::uint32_t status, const void* data = nullptr, std::size_t bytes = 0, int descriptor = -1);
  void stop(const std::string& reason);

  const Config config_;
  const Ram* const ram_;
  const std::uint64_t ram_base_;
  int listener_ = -1, client_ = -1;
  bool greeted_ = false, gone_ = false;
  weft_external_header header_{};
  std::vector<unsigned char> content_, reply_;
  std::function<bool()> give_up_;
  std::string fault_;
  sc_core::sc_event faulted_;
  std::uint64_t reads_ = 0, writes_ = 0, advances_ = 0, clients_ = 0, malformed_ = 0;
};

}  // namespace weft::soc

#endif
