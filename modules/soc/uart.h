// Serial output: characters that are written come out as lines on a stream, each with the simulated time of
// its first character if asked.
//
//   0x00  DATA     write: the low byte is sent; read: 0 (nothing is ever received)
//   0x04  STATUS   read only: bit 0, ready to send: always 1
#ifndef WEFT_SOC_UART_H
#define WEFT_SOC_UART_H

#include <iosfwd>
#include <string>

#include "soc/register_device.h"

namespace weft::soc {

class Uart : public RegisterDevice {
 public:
  // `out` outlives the device. With `stamps` a line begins "[  1234567.890 ns] ".
  Uart(sc_core::sc_module_name name, std::ostream& out, bool stamps, const sc_core::sc_time& latency);
  // Writes out an unfinished line, as flush() does.
  ~Uart() override;
  void flush();

 private:
  Access read(std::uint64_t offset, std::uint32_t& value, const sc_core::sc_time& at, bool debug) override;
  Access write(std::uint64_t offset, std::uint32_t value, const sc_core::sc_time& at) override;
  void end_line();

  static constexpr std::size_t kLongestLine = 4096;  // then it is broken
  std::ostream& out_;
  const bool stamps_;
  std::string line_;
};

}  // namespace weft::soc

#endif
