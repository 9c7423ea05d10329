#include "platform/gpu_parts.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "weft/common/error.h"

namespace weft {

Gpu::Impl::Impl(const GpuConfig& c, const Options& o, Gpu& gpu)
    : config(c),
      options(o),
      memory_clock("memory_clock", c.clocks.memory_mhz),
      interconnect_clock("interconnect_clock", c.clocks.interconnect_mhz),
      core("core_clock", c.clocks.core_mhz),
      image(c.dram.bytes),
      map(c.dram.map),
      system(config, image),
      windows(system.windows()),
      crossbar("crossbar", config.crossbar, interconnect_clock, map, static_cast<unsigned>(c.sm.count),
               map.ports(), c.system.enabled, 1),
      host_control(gpu, image, system, core),
      connections(config.host.queues),
      host("host", config.host, connections, interconnect_clock, host_control, config.sm.addresses,
           image.bytes(), map.chunk_bytes()),
      observers(options.monitors, options.observations),
      // Checks are of one launch at a time: with an observer they do not overlap.
      launches(config, core, make_sms(),
               {[this](const execute::Kernel& kernel) { return with_services(view(), kernel); },
                [this] { return observer == nullptr; },
                [this](const execute::Kernel& kernel, Cycle now, bool alone) { begun(kernel, now, alone); },
                [this] {
                  watchdog.stop();
                  idle.notify(sc_core::SC_ZERO_TIME);
                },
                [this](const execute::Kernel& kernel, Cycle last) { recorders.launch_ended(kernel, last); },
                [this] {
                  if (rests) rests();
                }}),
      watchdog(core, c.watchdog.cycles, sms),
      recorders({config, core, sms, crossbar, l2, channels, system, host, launches, tree,
                 [this] { return static_cast<bool>(fault); }, [this] { settle(); }, gpu.name(),
                 gpu.basename()}),
      pages((c.dram.bytes + kPageBytes - 1) / kPageBytes, 0),
      engine(config.sm, config.clocks.core_mhz) {
  // At equal times memory goes before interconnect, and interconnect before core.
  interconnect_clock.runs_after(memory_clock);
  core.runs_after(memory_clock);
  core.runs_after(interconnect_clock);
  for (ClockDomain* clock : {&memory_clock, &interconnect_clock, &core})
    clock->set_sleeping(options.sleeping);

  for (auto& sm : sms) views.emplace_back(sm);
  make_memory();
  connect();
  observers.check();
  if (observers.replace() && !map.linear()) {
    throw InputError(
        "dram/slice_hash",
        "found a hash with a replaced part of the memory; allowed: none, because the replacement "
        "counts the chunks of its hop");
  }
  crossbar.divide_blocking(observers.replace());
  for (auto& sm : sms) sm.carry_data(observers.see_data());
  for (auto& bank : l2) bank.carry_data(observers.see_data());
  watchdog.traffic = [this] { return Watchdog::Traffic{crossbar.bytes_of_sms(), crossbar.transmits()}; };
  watchdog.on_hang = [this](const std::string& what) {
    std::string dump;
    for (const auto& sm : sms) dump += sm.dump();
    hang({FaultKind::kHang,
          "kernel " + launches.kernel_names() + " hangs: " + what + what_helps(what) + "\n" + dump});
  };
  bind();
}

// Code for compute capability 7.0 and above may rely on the progress of each thread, which the scheme of
// these GPUs gives.
std::string Gpu::Impl::what_helps(const std::string& hang) const {
  constexpr std::uint32_t kFirstWithProgress = 70;
  const char* const scheme = "convergence_barriers";
  if (hang.rfind("SIMT deadlock", 0) != 0 || launches.least_target() < kFirstWithProgress) return "";
  if (config.warp_formation.scheme == scheme) return "";
  return "; a GPU since Volta lets these threads go on, as --set warp_formation.scheme=" +
         std::string(scheme) + " does";
}

void Gpu::Impl::make_memory() {
  const unsigned banks = config.l2.enabled ? map.l2_banks() : 1;
  for (unsigned i = 0; !system.has_carve_out() && i < map.channels(); ++i) {
    const std::string name = "dram" + std::to_string(i);
    channels.emplace_back(name.c_str(), config.dram.channel, memory_clock, image, map, i, banks);
  }
  for (unsigned i = 0; config.l2.enabled && i < map.ports(); ++i) {
    const std::string name = "l2_" + std::to_string(i);
    l2.emplace_back(name.c_str(), config.l2.bank, interconnect_clock, map, i / map.l2_banks(),
                    i % map.l2_banks());
    if (config.l2.bank.partitions > 1) l2[i].set_far(far_sms(i));
  }
  system.make_ports(interconnect_clock, map.ports());
  system.transact = [this](bool write, std::uint64_t address, std::uint8_t* data,
                           unsigned bytes) -> std::optional<std::string> {
    if (!untimed.is_caller()) return std::nullopt;
    const tlm::tlm_response_status status = host.waiting_master().access(
        write ? tlm::TLM_WRITE_COMMAND : tlm::TLM_READ_COMMAND, address, data, bytes);
    if (untimed.abandoned()) return "is not there since the reset for";
    if (status == tlm::TLM_OK_RESPONSE) return "";
    tlm::tlm_generic_payload answer;
    answer.set_response_status(status);
    return "answered " + answer.get_response_string() + " to";
  };
  system.on_attached = [this] { host.withdraw_access(); };
  system.on_written = [this](std::uint64_t address, const tlm::tlm_generic_payload& write) {
    for (auto& sm : sms) sm.memory().update_system_lines(address, write);
  };
  system.on_withdrawn = [this](std::uint64_t first, std::uint64_t last) {
    for (auto& sm : sms) sm.memory().drop_system_lines(first, last);
  };
}

// SMs and L2 banks belong to partitions by their number, as many to each as can be.
std::vector<bool> Gpu::Impl::far_sms(unsigned bank) const {
  const std::size_t partitions = config.l2.bank.partitions;
  std::vector<bool> far(sms.size());
  for (std::size_t sm = 0; sm < far.size(); ++sm)
    far[sm] = sm * partitions / far.size() != bank * partitions / map.ports();
  return far;
}

void Gpu::Impl::host_copied(std::uint64_t offset, std::uint64_t bytes) {
  if (!config.l2.enabled || !config.l2.bank.host_copies_fill) return;
  for (std::uint64_t done = 0; done < bytes;) {
    const std::uint64_t address = offset + done;
    const std::uint64_t part = std::min(bytes - done, map.chunk_bytes() - address % map.chunk_bytes());
    l2[map.route(address).port].host_copied(address, part);
    done += part;
  }
}

void Gpu::Impl::connect() {
  const auto join = [this](auto& initiator, auto& target, const std::string& name) {
    observers.join(initiator, target, {name, image.bytes()});
  };
  // One of those over which device memory is interleaved, by the number of its port (memory/channel_map.h).
  const auto join_part = [this](auto& initiator, auto& target, const std::string& name, unsigned port) {
    const HopAddresses addresses =
        map.linear() ? HopAddresses{0, map.chunk_bytes(), map.ports(), map.index_of(port)} : HopAddresses{};
    observers.join(initiator, target, {name + std::to_string(port), image.bytes(), addresses});
  };
  for (unsigned i = 0; i < sms.size(); ++i) {
    join(sms[i].memory_socket, crossbar.sm_sockets[i], "hop_sm" + std::to_string(i));
  }
  join(host.device_socket(), crossbar.sm_sockets[sms.size()], "hop_host");
  if (auto* const port = system.window_port()) {
    join(crossbar.memory_sockets[map.ports()], port->targets[0], "hop_system");
    port->system.bind(host.system_target());
  }
  auto* const carve_out = system.memory_port();
  if (carve_out != nullptr) carve_out->system.bind(host.device_memory_target());
  for (unsigned i = 0; i < map.ports(); ++i) {
    const auto below = [&](auto& initiator) {
      if (carve_out != nullptr) return join_part(initiator, carve_out->targets[i], "hop_carve_out_", i);
      auto& channel = channels[i / map.l2_banks()];
      join_part(initiator, channel.sockets[i % map.l2_banks()], "hop_dram", i);
    };
    if (config.l2.enabled) {
      join_part(crossbar.memory_sockets[i], l2[i].target, "hop_l2_", i);
      below(l2[i].memory);
    } else {
      below(crossbar.memory_sockets[i]);
    }
  }
}

// Those of the packet's queue, if it has any.
execute::DeviceMemoryView Gpu::Impl::with_services(execute::DeviceMemoryView memory,
                                                   const execute::Kernel& kernel) {
  const std::optional<std::uint32_t> queue = HostControl::queue_of(kernel.launch);
  execute::DeviceServices* const own = queue.has_value() ? host.services(*queue) : nullptr;
  if (own != nullptr) memory.services = own;
  return memory;
}

void Gpu::Impl::begun(const execute::Kernel& kernel, Cycle now, bool alone) {
  if (windows != nullptr) windows->ask_again();
  exchange();
  if (observer != nullptr) observer->kernel_started(kernel, static_cast<unsigned>(sms.size()));
  if (alone) watchdog.start(now);
  recorders.launch_began(kernel, now, alone);
}

// The first level holds bytes of system memory that the kernel may have changed. What a reset has abandoned
// leaves nothing behind.
Fault Gpu::Impl::run_untimed(execute::Kernel& kernel) {
  if (fault) return fault;
  if (windows != nullptr) windows->ask_again();
  engine.observe(observer);
  Fault why = engine.run(kernel, with_services(untimed_view(), kernel),
                         [this] { return fault || untimed.abandoned() || (interrupted && interrupted()); });
  if (untimed.abandoned()) {
    engine.reset();
    return {FaultKind::kStopped, "reset"};
  }
  exchange();
  for (auto& sm : sms) sm.memory().drop_system_lines(0, UINT64_MAX);
  if (fault) return fault;  // the GPU stopped while the kernel waited
  if (why && engine.was_interrupted()) why = {FaultKind::kStopped, "interrupted"};
  const bool alone = kernel.launch.contained && why.kind != FaultKind::kStopped;
  if (why && !alone) stop(why);
  return why;
}

// Without windows there is nothing to wait for.
void Gpu::Impl::run_untimed(const std::shared_ptr<execute::Kernel>& kernel,
                            std::function<void(const Fault&)> ended) {
  if (windows == nullptr) return ended(run_untimed(*kernel));
  untimed.push([this, kernel, ended = std::move(ended)] {
    const Fault why = run_untimed(*kernel);
    if (!untimed.abandoned()) ended(why);
  });
}

// Launches that run hang together: which one the others wait for is not known.
void Gpu::Impl::hang(const Fault& why) {
  if (launches.end_contained(why)) {
    watchdog.start(core.current_edge());
  } else {
    stop(why);
  }
}

// Nothing moves any more after a fault, until the reset.
void Gpu::Impl::stop(const Fault& why, unsigned guilty) {
  if (fault) return;
  fault = why;
  watchdog.stop();
  launches.stop(fault, guilty);
  idle.notify(sc_core::SC_ZERO_TIME);
}

void Gpu::Impl::reset() {
  settle();
  recorders.reset_begins();
  for (ClockDomain* clock : {&memory_clock, &interconnect_clock, &core}) clock->reset();
  // From memory towards the SMs: who holds a payload drops it before its owner frees it.
  for (auto& channel : channels) channel.reset();
  for (auto& bank : l2) bank.reset();
  system.reset_ports();
  crossbar.reset();
  host.reset();
  untimed.reset();
  objects.clear();
  for (auto& sm : sms) sm.reset();
  observers.reset();
  launches.reset();
  watchdog.stop();
  system.reset_memory();
  std::fill(pages.begin(), pages.end(), std::uint8_t{0});
  tree.reset();
  fault = {};
  engine.reset();
  recorders.reset_ends();
}

// The host side has had nothing to do, and the watchdog begins anew with the next launch.
void Gpu::Impl::archive(Archive& archive) {
  archive.mark("clocks");
  memory_clock.archive(archive);
  interconnect_clock.archive(archive);
  core.archive(archive, launches.dispatcher().clock_index());
  archive.mark("memory");
  for (auto& channel : channels) archive(channel);
  for (auto& bank : l2) archive(bank);
  archive(crossbar);
  archive.mark("sm");
  for (auto& sm : sms) archive(sm);
  archive.mark("launches");
  archive(launches);
  archive.mark("statistics");
  archive(tree);
  recorders.archive(archive);
}

void Gpu::Impl::bind() {
  statistics::Group& gpu = tree.group("gpu");
  gpu.derived("cycles", statistics::Quantity::kSum, units::kCycles,
              "core cycles in which a launch was active",
              [this] { return static_cast<double>(launches.cycles()); });
  gpu.counter("launches", units::kLaunches, "kernels started", launches.begun());
  for (unsigned i = 0; i < sms.size(); ++i) sms[i].bind(tree.group("sm", i));
  columns = sm_columns(tree.groups({"sm"}));
  crossbar.bind(tree.group("crossbar"));
  system.bind(tree);
  for (unsigned i = 0; i < l2.size(); ++i) l2[i].bind(tree.group("l2", i));
  for (unsigned i = 0; i < channels.size(); ++i) channels[i].bind(tree.group("dram", i));
  derived = measures::TreeReadings(measures::kTotals, tree);
  recorders.bound();
}

}  // namespace weft
