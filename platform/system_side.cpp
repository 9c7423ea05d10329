#include "platform/system_side.h"

#include "weft/common/error.h"

namespace weft {
namespace {

using system_port::SystemPort;

void address(tlm::tlm_generic_payload& payload, bool write, std::uint64_t to) {
  payload.set_command(write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND);
  payload.set_address(to);
}

// What the outside grants around an address; without `data` if it does not grant it.
execute::SystemMemory::Region direct_region(SystemPort& port, std::uint64_t around, bool write) {
  tlm::tlm_generic_payload payload;
  address(payload, write, around);
  tlm::tlm_dmi dmi;
  execute::SystemMemory::Region region;
  if (!port.system->get_direct_mem_ptr(payload, dmi) || !dmi.is_read_allowed()) return region;
  region.first = dmi.get_start_address();
  region.last = dmi.get_end_address();
  region.data = dmi.get_dmi_ptr();
  region.writable = dmi.is_write_allowed();
  return region;
}

bool move_without_time(SystemPort& port, bool write, std::uint64_t to, unsigned char* data, unsigned bytes) {
  tlm::tlm_generic_payload payload;
  address(payload, write, to);
  payload.set_data_ptr(data);
  payload.set_data_length(bytes);
  payload.set_streaming_width(bytes);
  return port.system->transport_dbg(payload) == bytes;
}

}  // namespace

SystemSide::SystemSide(const GpuConfig& config, memory::MemoryImage& image)
    : config_(config), image_(image), windows_(config.sm.addresses, image.bytes()) {
  if (config.carve_out.enabled) carve_out_.emplace(image, config.carve_out.base);
}

void SystemSide::make_ports(ClockDomain& interconnect, unsigned memory_ports) {
  if (config_.system.enabled) {
    window_port_.emplace("system_port", config_.system.port, interconnect, 1, nullptr,
                         config_.host.burst_bytes);
    reach_windows();
  }
  if (!carve_out_.has_value()) return;
  memory_port_.emplace("carve_out", config_.carve_out.port, interconnect, memory_ports, &*carve_out_,
                       config_.host.burst_bytes);
  memory_port_->on_invalidate = [this](std::uint64_t first, std::uint64_t last) {
    carve_out_->withdraw(first, last);
  };
}

void SystemSide::reach_windows() {
  window_port_->on_invalidate = [this](std::uint64_t first, std::uint64_t last) {
    windows_.forget(first, last);
    on_withdrawn(first, last);
  };
  window_port_->on_written = [this](std::uint64_t address, const tlm::tlm_generic_payload& write) {
    on_written(address, write);
  };
  execute::SystemMemory::Path path;
  path.ask = [this](std::uint64_t around, bool write) { return direct_region(*window_port_, around, write); };
  path.move = [this](bool write, std::uint64_t to, std::uint8_t* data, unsigned bytes) -> std::string {
    if (const auto instead = transact(write, to, data, bytes)) return *instead;
    return move_without_time(*window_port_, write, to, data, bytes) ? "" : "does not answer";
  };
  path.look = [this](std::uint64_t from, std::uint8_t* data, unsigned bytes) {
    return move_without_time(*window_port_, false, from, data, bytes);
  };
  windows_.reach_through(std::move(path));
}

system_port::CarveOut::Path SystemSide::memory_path() {
  system_port::CarveOut::Path path;
  path.direct = [this](std::uint64_t from, std::uint64_t bytes) -> unsigned char* {
    const auto region = direct_region(*memory_port_, from, true);
    return region.writable && region.holds(from, bytes) ? region.at(from) : nullptr;
  };
  path.move = [this](bool write, std::uint64_t to, unsigned char* data, unsigned bytes) {
    return move_without_time(*memory_port_, write, to, data, bytes);
  };
  return path;
}

void SystemSide::attach(const std::string& where, bool bound) {
  if (!carve_out_.has_value()) return;
  if (!bound) {
    throw InputError(where,
                     "device memory lies in system memory (carve_out.enabled), but dma_socket is not bound; "
                     "allowed: a GPU whose dma_socket leads to system memory");
  }
  carve_out_->attach(memory_path(), where);
  attached_ = true;
  if (on_attached) on_attached();
}

void SystemSide::exchange(const std::vector<std::uint8_t>& mapped, std::uint64_t page_bytes) {
  if (attached_) carve_out_->exchange(mapped, page_bytes);
}

void SystemSide::reset_ports() {
  if (memory_port_.has_value()) memory_port_->reset();
  if (window_port_.has_value()) window_port_->reset();
  windows_.reset();
}

void SystemSide::reset_memory() {
  if (attached_) {
    carve_out_->reset();
  } else {
    image_.reset();
  }
}

void SystemSide::probes(const Probes::Scope& root) const {
  if (window_port_.has_value()) window_port_->probes(root.scope("system_port"));
  if (memory_port_.has_value()) memory_port_->probes(root.scope("carve_out"));
}

void SystemSide::bind(statistics::Group& root) {
  if (window_port_.has_value()) window_port_->bind(root.group("system_port"));
  if (memory_port_.has_value()) memory_port_->bind(root.group("carve_out"));
}

}  // namespace weft
