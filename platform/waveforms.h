// The waveforms of a GPU: the table of what can be seen of its parts, and the recordings of it. Made when the
// first one is asked for; without, it costs nothing.
#ifndef WEFT_PLATFORM_WAVEFORMS_H
#define WEFT_PLATFORM_WAVEFORMS_H

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <systemc>
#include <vector>

#include "bus/clock_domain.h"
#include "common/probes.h"
#include "crossbar/crossbar.h"
#include "dram/dram_channel.h"
#include "host/host_interface.h"
#include "l2/l2_bank.h"
#include "platform/energy_columns.h"
#include "platform/launches.h"
#include "platform/system_side.h"
#include "sm/observers/issue_signals.h"
#include "sm/sm.h"
#include "vcd/gpu_waveform.h"

namespace weft {

class Waveforms {
 public:
  // They outlive it.
  struct Parts {
    ClockDomain& core;
    std::deque<sm::Sm>& sms;
    const crossbar::Crossbar& crossbar;
    const std::deque<l2::L2Bank>& l2;
    const std::deque<dram::DramChannel>& channels;
    const SystemSide& system;
    host::HostInterface& host;
    const Launches& launches;
    const statistics::Group& statistics;
    const EnergyColumns* energy;  // nullptr: nobody counts it
    std::function<bool()> faulted;
  };

  explicit Waveforms(const Parts& parts);

  const Probes& probes() const { return probes_; }
  vcd::GpuWaveform& recordings() { return waveform_; }
  // Anything may still change at the next edge.
  bool busy() const;
  // What a file of our own says at its beginning.
  std::vector<std::string> comments() const;

 private:
  // Energy of SMs, in each cycle that is looked at.
  struct Power {
    std::vector<statistics::Columns> meters;  // of each SM
    std::vector<double> picojoules;           // by the cycle that was metered last
    std::vector<std::uint64_t> milliwatts;    // in it
    Cycle metered = 0;
  };

  void watch(const vcd::Signals& recorded);
  void add_probes();
  void add_launches();
  void meter(Cycle now);
  std::string_view kernels();

  const Parts parts_;
  std::deque<sm::IssueSignals> signals_;  // by SM
  Probes probes_;
  Power power_;
  std::string kernels_, shown_kernels_;  // that run: as they are linked, and as they are shown
  vcd::GpuWaveform waveform_;
};

}  // namespace weft

#endif
