// Where software says that it is done, and learns how much memory there is.
//
//   0x00  EXIT        write: the exit code, 0 to 255 (the low byte); the first write counts
//   0x04  RAM_PAGES   read only: memory in pages of 4096 bytes
#ifndef WEFT_SOC_FINISHER_H
#define WEFT_SOC_FINISHER_H

#include <optional>

#include "soc/register_device.h"

namespace weft::soc {

class Finisher : public RegisterDevice {
 public:
  Finisher(sc_core::sc_module_name name, std::uint64_t ram_bytes, const sc_core::sc_time& latency)
      : RegisterDevice(name, latency), ram_pages_(static_cast<std::uint32_t>(ram_bytes / 4096)) {}

  std::optional<int> exit_code() const { return exit_code_; }
  // Notified when the code has been written.
  const sc_core::sc_event& finished() const { return finished_; }

 private:
  Access read(std::uint64_t offset, std::uint32_t& value, const sc_core::sc_time&, bool) override {
    value = ram_pages_;
    return offset == 0 ? Access::kNotAllowed : offset == 4 ? Access::kDone : Access::kNoRegister;
  }
  Access write(std::uint64_t offset, std::uint32_t value, const sc_core::sc_time& at) override {
    if (offset != 0) return offset == 4 ? Access::kNotAllowed : Access::kNoRegister;
    if (!exit_code_.has_value()) {
      exit_code_ = static_cast<int>(value & 0xff);
      finished_.notify(at - sc_core::sc_time_stamp());
    }
    return Access::kDone;
  }

  const std::uint32_t ram_pages_;
  std::optional<int> exit_code_;
  sc_core::sc_event finished_;
};

}  // namespace weft::soc

#endif
