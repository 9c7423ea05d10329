#include "soc/uart.h"

#include <cstdio>
#include <ostream>

namespace weft::soc {

Uart::Uart(sc_core::sc_module_name name, std::ostream& out, bool stamps, const sc_core::sc_time& latency)
    : RegisterDevice(name, latency), out_(out), stamps_(stamps) {}

Uart::~Uart() {
  flush();
}

void Uart::flush() {
  if (!line_.empty()) end_line();
}

void Uart::end_line() {
  out_ << line_ << '\n' << std::flush;
  line_.clear();
}

RegisterDevice::Access Uart::read(std::uint64_t offset, std::uint32_t& value, const sc_core::sc_time&, bool) {
  value = offset == 4 ? 1 : 0;
  return offset <= 4 ? Access::kDone : Access::kNoRegister;
}

RegisterDevice::Access Uart::write(std::uint64_t offset, std::uint32_t value, const sc_core::sc_time& at) {
  if (offset != 0) return offset == 4 ? Access::kNotAllowed : Access::kNoRegister;
  const char character = static_cast<char>(value & 0xff);
  if (stamps_ && line_.empty()) {
    char stamp[40];
    std::snprintf(stamp, sizeof stamp, "[%13.3f ns] ", at / sc_core::sc_time(1, sc_core::SC_NS));
    line_ = stamp;
  }
  if (character == '\n') {
    end_line();
  } else if (character != '\r') {
    line_ += character;
    if (line_.size() >= kLongestLine) end_line();
  }
  return Access::kDone;
}

}  // namespace weft::soc
