#include "platform/soc/soc.h"

#include <cstring>
#include <nlohmann/json.hpp>

#include "host/address_space.h"
#include "platform/firmware/soc_map.h"
#include "soc/cpu_core_loader.h"
#include "soc/elf_image.h"
#include "weft/common/error.h"
#include "weft/memory/memory_image.h"
#include "weft/weft_registers.h"

namespace weft {

namespace {

enum Target : unsigned { kRam, kUart, kInterrupts, kTimer, kSystem, kGpu };
enum Initiator : unsigned { kCpu, kGpuDma, kInitiators };

// The first bytes of device memory, which is all that QEMU's 32-bit BARs can hold.
constexpr std::uint32_t kQemuAperture = 16u << 20;

// What is added to the addresses of devices. A guest of QEMU has its own devices and its own addresses, and
// its memory begins at 0: ours lie beyond it, where no driver of the GPU opens a window.
std::uint64_t devices_base(const SocConfig& config) {
  return config.cpu.kind == "qemu" ? std::uint64_t{1} << 48 : 0;
}

std::vector<soc::SystemBus::Region> regions(const SocConfig& config, const GpuConfig& gpu) {
  const std::uint64_t base = devices_base(config);
  return {{"ram", config.memory_base(), config.memory_bytes()},
          {"uart", base + SOC_UART_BASE, SOC_DEVICE_BYTES},
          {"interrupts", base + SOC_INTERRUPTS_BASE, SOC_DEVICE_BYTES},
          {"timer", base + SOC_TIMER_BASE, SOC_DEVICE_BYTES},
          {"system", base + SOC_SYSTEM_BASE, SOC_DEVICE_BYTES},
          {"gpu", base + SOC_GPU_BASE, WEFT_APERTURE + gpu.dram.bytes}};
}

GpuConfig with_system_memory(GpuConfig gpu) {
  gpu.system.enabled = true;
  return gpu;
}

}  // namespace

Soc::Soc(sc_core::sc_module_name name, const SocConfig& config, GpuConfig gpu, std::ostream& console,
         const Gpu::Options& options)
    : sc_module(name),
      config_(config.checked(this->name())),
      latency_(config.peripherals.latency_ns, sc_core::SC_NS),
      bus_("bus", config.bus, kInitiators, regions(config, gpu)),
      uart_("uart", console, config.peripherals.stamps, latency_),
      interrupts_("interrupts", SOC_SOURCES, latency_),
      timer_("timer", latency_),
      software_bytes_(config.software_bytes(gpu)),
      finisher_("system", software_bytes_, latency_),
      gpu_("gpu", with_system_memory(std::move(gpu)), options),
      sources_("source", SOC_SOURCES),
      interrupt_("interrupt") {
  if (config.cpu.kind != "qemu") ram_.emplace("ram", config.ram);
  if (config.cpu.kind == "qemu") {
    const std::uint64_t gpu_base = devices_base(config) + SOC_GPU_BASE;
    qemu_.emplace("cpu", config.cpu.qemu,
                  std::array<soc::QemuDevice::Bar, 2>{
                      {{gpu_base, WEFT_REGISTER_BYTES}, {gpu_base + WEFT_APERTURE, kQemuAperture}}});
  } else if (config.cpu.kind == "external") {
    external_.emplace("cpu", config.cpu.external, &*ram_, SOC_RAM_BASE);
  } else {
    // The aperture is memory; what lies between it and the registers is nothing.
    const std::uint64_t aperture = SOC_GPU_BASE + WEFT_APERTURE;
    cpu_.emplace("cpu", config.cpu.timing, soc::load_cpu_core(config.cpu.kind),
                 std::vector<soc::HostCpu::Range>{{SOC_RAM_BASE, config.ram.bytes, true},
                                                  {SOC_UART_BASE, 4 * SOC_DEVICE_BYTES, false},
                                                  {SOC_GPU_BASE, WEFT_REGISTER_BYTES, false},
                                                  {aperture, gpu_.config().dram.bytes / 4096 * 4096, true}});
  }
  if (options.monitors) {
    cpu_monitor_.emplace("hop_cpu");
    gpu_monitor_.emplace("hop_gpu_dma");
  }
  wire();
  if (config.cpu.kind == "qemu" && config.cpu.qemu.doorbells) wire_doorbells();
  SC_METHOD(pause);
  sensitive << finisher_.finished() << cpu_ended();
  dont_initialize();
}

void Soc::wire() {
  const auto join = [](auto& initiator, auto& target, std::optional<HopMonitor>& monitor) {
    if (!monitor.has_value()) {
      initiator.bind(target);
      return;
    }
    initiator.bind(monitor->target);
    monitor->initiator.bind(target);
  };
  if (qemu_.has_value()) {
    join(qemu_->socket, bus_.initiators[kCpu], cpu_monitor_);
    bus_.targets[kRam].bind(qemu_->memory);
    qemu_->bind(statistics_.group("cpu"));
  } else if (cpu_.has_value()) {
    join(cpu_->socket, bus_.initiators[kCpu], cpu_monitor_);
    cpu_->interrupt(interrupt_);
    cpu_->bind(statistics_.group("cpu"));
  } else {
    join(external_->socket, bus_.initiators[kCpu], cpu_monitor_);
    external_->interrupt(interrupt_);
    external_->bind(statistics_.group("cpu"));
  }
  join(gpu_.dma_socket, bus_.initiators[kGpuDma], gpu_monitor_);
  bus_.targets[kUart].bind(uart_.socket);
  bus_.targets[kInterrupts].bind(interrupts_.socket);
  bus_.targets[kTimer].bind(timer_.socket);
  bus_.targets[kSystem].bind(finisher_.socket);
  bus_.targets[kGpu].bind(gpu_.host_socket);
  gpu_.irq(sources_[SOC_SOURCE_GPU]);
  timer_.interrupt(sources_[SOC_SOURCE_TIMER]);
  for (unsigned i = 0; i < SOC_SOURCES; ++i) interrupts_.sources[i](sources_[i]);
  interrupts_.interrupt(interrupt_);
  bus_.bind(statistics_.group("bus"));
  if (ram_.has_value()) {
    bus_.targets[kRam].bind(ram_->socket);
    ram_->bind(statistics_.group("ram"));
  }
}

// The guest has device memory as it is, and an interrupt for each queue.
void Soc::wire_doorbells() {
  if (gpu_.config().carve_out.enabled) {
    throw InputError(
        config_.gpu + ": /carve_out/enabled",
        "found true; allowed in a system with cpu.qemu.doorbells: false, because device memory is "
        "shared with the guest as a memory of its own");
  }
  qemu_->share(gpu_.memory().share(), static_cast<unsigned>(gpu_.queue_irq.size()));
  for (unsigned i = 0; i < gpu_.queue_irq.size(); ++i) {
    doorbells_.push_back(
        std::make_unique<InterruptCall>(("doorbell" + std::to_string(i)).c_str(), [this, i](bool high) {
          if (high) qemu_->interrupt(i);
        }));
    gpu_.queue_irq[i](doorbells_.back()->line);
  }
}

const sc_core::sc_event& Soc::cpu_ended() const {
  if (qemu_.has_value()) return qemu_->ended();
  return cpu_.has_value() ? cpu_->faulted() : external_->faulted();
}

void Soc::load(const std::string& path, const std::string& initrd) {
  if (external_.has_value()) throw InputError(path, "an external CPU runs its own program");
  if (qemu_.has_value()) {
    // A driver asks the GPU itself only for what is in registers.
    qemu_->start({path, initrd, {{"opt/weft/gpu.json", effective_config(gpu_.config()).dump()}}});
  } else if (!initrd.empty()) {
    throw InputError(initrd,
                     "a host CPU of kind " + config_.cpu.kind + " has no use for an initial RAM disk");
  } else {
    load_into_memory(path);
  }
}

void Soc::load_into_memory(const std::string& path) {
  const auto image = soc::ElfImage::read(path);
  const std::uint16_t wanted = config_.cpu.kind == "rv64" ? soc::ElfImage::kRiscV : soc::ElfImage::kAArch64;
  if (image.machine != wanted) {
    throw InputError(path, "is for ELF machine " + std::to_string(image.machine) + "; a host CPU of kind " +
                               config_.cpu.kind + " needs " + std::to_string(wanted));
  }
  for (const auto& segment : image.segments) {
    const std::uint64_t offset = segment.address - SOC_RAM_BASE;
    if (offset >= software_bytes_ || segment.bytes.size() > software_bytes_ - offset) {
      throw InputError(path, "has " + std::to_string(segment.bytes.size()) + " bytes at address " +
                                 std::to_string(segment.address) + "; allowed: addresses in memory (" +
                                 std::to_string(software_bytes_) + " bytes from " +
                                 std::to_string(SOC_RAM_BASE) + " on)");
    }
    std::memcpy(ram_->data() + offset, segment.bytes.data(), segment.bytes.size());
  }
  cpu_->set_entry(image.entry);
}

void Soc::give_up_if(const std::function<bool()>& condition) {
  if (external_.has_value()) external_->give_up_if(condition);
  if (qemu_.has_value()) qemu_->give_up_if(condition);
  gpu_.interrupt_untimed(condition);
}

std::optional<int> Soc::exit_code() const {
  return qemu_.has_value() ? qemu_->exit_code() : finisher_.exit_code();
}

std::string Soc::fault() const {
  if (exit_code().has_value()) return "";
  if (qemu_.has_value()) return qemu_->fault();
  return cpu_.has_value() ? cpu_->fault() : external_->fault();
}

std::string Soc::violations() const {
  std::string text = gpu_.violations();
  for (const auto* monitor : {&cpu_monitor_, &gpu_monitor_}) {
    if (monitor->has_value()) text += (*monitor)->report();
  }
  return text;
}

void Soc::pause() {
  sc_core::sc_pause();
}

}  // namespace weft
