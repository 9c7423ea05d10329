// A CPU core in simulated time: one instruction per `cycles_per_instruction` clock periods, ahead of the rest
// by at most a quantum (temporal decoupling, IEEE 1666-2011, 10.3.2). It asks for direct pointers to the
// memory ranges; where none is granted, and to devices, it makes transactions, and before each of them it
// lets the others catch up, so that a device sees it at the right time and its interrupt line is seen at the
// right instruction. Waiting for an interrupt costs nothing: the process sleeps until the line rises.
//
// Code that others write to memory (DMA, kernels) is seen at the end of the quantum, and after every wait for
// an interrupt.
#ifndef WEFT_SOC_HOST_CPU_H
#define WEFT_SOC_HOST_CPU_H

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/tlm_quantumkeeper.h>

#include <cstdint>
#include <memory>
#include <string>
#include <systemc>
#include <tlm>
#include <vector>

#include "soc/cpu_core.h"
#include "weft/common/config_visitor.h"
#include "weft/common/statistics.h"

namespace weft::soc {

class HostCpu : public sc_core::sc_module, private CpuCore::Bus {
 public:
  SC_HAS_PROCESS(HostCpu);
  struct Config {
    double mhz = 1000;
    double cycles_per_instruction = 1;
    double quantum_ns = 10'000;
    void describe(config::Visitor& v);
  };
  // Bases and sizes are multiples of 4096.
  struct Range {
    std::uint64_t base = 0, bytes = 0;
    bool memory = false;  // ask for a direct pointer
  };

  tlm_utils::simple_initiator_socket<HostCpu> socket;
  sc_core::sc_in<bool> interrupt;

  HostCpu(sc_core::sc_module_name name, const Config& config, std::unique_ptr<CpuCore> core,
          std::vector<Range> ranges);

  // Where the first instruction is; before the simulation starts.
  void set_entry(std::uint64_t address) { entry_ = address; }

  // Why it stopped for good (an exception, an access where nothing is, a bus error); empty: it has not.
  const std::string& fault() const { return fault_; }
  const sc_core::sc_event& faulted() const { return faulted_; }
  std::uint64_t instructions() const { return instructions_; }
  void bind(statistics::Group& group);

 private:
  // The quantum of this CPU, not the global one.
  class Keeper : public tlm_utils::tlm_quantumkeeper {
   public:
    explicit Keeper(const sc_core::sc_time& quantum) : quantum_(quantum) { reset(); }
    sc_core::sc_time left() const {
      return m_next_sync_point > get_current_time() ? m_next_sync_point - get_current_time()
                                                    : sc_core::SC_ZERO_TIME;
    }

   protected:
    sc_core::sc_time compute_local_quantum() override { return quantum_; }

   private:
    const sc_core::sc_time quantum_;
  };

  std::uint64_t read(std::uint64_t address, unsigned bytes) override;
  void write(std::uint64_t address, unsigned bytes, std::uint64_t value) override;
  void transact(tlm::tlm_command command, std::uint64_t address, unsigned char* data, unsigned bytes);
  void invalidate(sc_dt::uint64 begin, sc_dt::uint64 end);

  void run();
  void map_ranges();
  bool map_directly(const Range& range);
  void charge();
  void synchronise();
  void sleep();
  void stop(const std::string& reason);

  const Config config_;
  const sc_core::sc_time period_;  // per instruction
  const std::unique_ptr<CpuCore> core_;
  const std::vector<Range> ranges_;
  Keeper keeper_;
  tlm::tlm_generic_payload payload_;
  std::uint64_t entry_ = 0;
  std::uint64_t charged_ = 0;  // instructions whose time has been counted
  bool remap_ = true;
  std::string fault_;
  sc_core::sc_event faulted_;
  std::uint64_t instructions_ = 0, reads_ = 0, writes_ = 0, sleeps_ = 0, slices_ = 0, asleep_ns_ = 0;
};

}  // namespace weft::soc

#endif
