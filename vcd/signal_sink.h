// Where the values of signals go: a file of our own, or the file of whoever traces with SystemC.
#ifndef WEFT_VCD_SIGNAL_SINK_H
#define WEFT_VCD_SIGNAL_SINK_H

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <systemc>
#include <vector>

#include "common/probes.h"
#include "vcd/vcd_writer.h"

namespace weft::vcd {

using Signals = std::vector<const Probes::Probe*>;

class SignalSink {
 public:
  virtual ~SignalSink() = default;
  // Values from now on are those at `time`, in ps.
  virtual void at(std::uint64_t time) = 0;
  virtual void set(std::size_t signal, std::uint64_t value) = 0;
  virtual void set(std::size_t signal, std::string_view text) = 0;
  // All signals have been set.
  virtual void sampled() = 0;
  // No values follow. `time`: until here the last ones hold.
  virtual void end(std::uint64_t time) = 0;
  // False: values would be lost.
  virtual bool open() const { return true; }
  virtual std::string error() const { return ""; }
};

class VcdSink final : public SignalSink {
 public:
  // Throws InputError if the file cannot be written.
  VcdSink(const std::string& file, const std::string& scope, const std::vector<std::string>& comments,
          const Signals& signals);

  void at(std::uint64_t time) override;
  void set(std::size_t signal, std::uint64_t value) override { vcd_.set(ids_[signal], value); }
  void set(std::size_t signal, std::string_view text) override {
    vcd_.set(ids_[signal], text.empty() ? "-" : text);
  }
  void sampled() override { vcd_.begin(time_); }
  void end(std::uint64_t time) override { vcd_.end(time); }
  bool open() const override { return vcd_.open(); }
  std::string error() const override { return vcd_.error(); }

 private:
  VcdWriter vcd_;
  std::vector<VcdWriter::Signal> ids_;
  std::uint64_t time_ = 0;
};

// SystemC looks at its variables at the end of each step of time, so they are set within one. A signal
// without a value, and every signal outside the selected time, is high impedance. A text is its first
// characters in ASCII, the last in the lowest bits.
class ScTraceSink final : public SignalSink {
 public:
  static constexpr unsigned kTextBytes = 32;
  // `prefix` stands before every name. Only before the first time step of `file`.
  ScTraceSink(sc_core::sc_trace_file* file, const std::string& prefix, const Signals& signals);

  void at(std::uint64_t) override {}
  void set(std::size_t signal, std::uint64_t value) override;
  void set(std::size_t signal, std::string_view text) override;
  void sampled() override {}
  void end(std::uint64_t time) override;

 private:
  struct Variable {
    sc_dt::sc_lv_base bits;
    std::uint64_t value = Probes::kUndriven;
    std::string text{};
    explicit Variable(unsigned width) : bits(sc_dt::SC_LOGIC_Z, static_cast<int>(width)) {}
  };
  static constexpr int kWordBits = 32;
  // Bits 32 word to 32 word + 31, as far as `bits` has them; not driven: high impedance.
  static void put(sc_dt::sc_lv_base& bits, int word, std::uint64_t data, bool driven);

  std::deque<Variable> variables_;  // the file refers to them
};

}  // namespace weft::vcd

#endif
