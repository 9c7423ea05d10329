#include "vcd/gpu_waveform.h"

#include <algorithm>

#include "common/error.h"

namespace weft::vcd {
namespace {

using warp_formation::Stall;

constexpr unsigned kCountBits = 16;  // lanes, warps, places in queues
constexpr unsigned kBlockBits = VcdWriter::kMaxWidth;
constexpr unsigned kPcBits = 32;
constexpr unsigned kStallBits = 4;
static_assert(warp_formation::kStalls <= 1u << kStallBits);

}  // namespace

GpuWaveform::GpuWaveform(const std::string& file, const std::string& scope, Window window, Parts parts)
    : parts_(std::move(parts)),
      window_{std::max<Cycle>(window.first, 1), window.last},
      units_(sc_core::sc_time(1, sc_core::SC_PS).value()),
      vcd_(file),
      index_(parts_.core.add(*this)),
      wanted_(window_.first),
      traces_(parts_.sms.size()) {
  define(scope);
  for (std::size_t i = 0; i < traces_.size(); ++i) parts_.sms[i].trace(&traces_[i]);
}

GpuWaveform::~GpuWaveform() {
  finish();
}

void GpuWaveform::define(const std::string& scope) {
  vcd_.comment("core clock " + std::to_string(parts_.core.megahertz()) +
               " MHz; a value holds from one core edge on");
  std::string codes = "stall:";
  for (unsigned s = 0; s < warp_formation::kStalls; ++s) {
    codes += " " + std::to_string(s) + "=" + (s == 0 ? "issued" : name_of(static_cast<Stall>(s)));
  }
  vcd_.comment(codes);

  vcd_.open_scope(scope);
  launch_ = vcd_.vector("launch", kPcBits);
  kernel_ = vcd_.text("kernel");
  blocks_done_ = vcd_.vector("blocks_done", kBlockBits);
  blocks_total_ = vcd_.vector("blocks_total", kBlockBits);
  for (std::size_t i = 0; i < parts_.sms.size(); ++i) {
    vcd_.open_scope("sm" + std::to_string(i));
    SmSignals signals{};
    signals.pc = vcd_.vector("pc", kPcBits);
    signals.active_lanes = vcd_.vector("active_lanes", kCountBits);
    signals.stall = vcd_.vector("stall", kStallBits);
    signals.ready_warps = vcd_.vector("ready_warps", kCountBits);
    sms_.push_back(signals);
    vcd_.close_scope();
  }
  for (std::size_t i = 0; i < parts_.l2.size(); ++i) {
    vcd_.open_scope("l2_" + std::to_string(i));
    L2Signals signals{};
    signals.input_queue = vcd_.vector("input_queue", kCountBits);
    signals.pipeline = vcd_.vector("pipeline", kCountBits);
    signals.mshrs = vcd_.vector("mshrs", kCountBits);
    signals.miss_queue = vcd_.vector("miss_queue", kCountBits);
    signals.response_queue = vcd_.vector("response_queue", kCountBits);
    l2_.push_back(signals);
    vcd_.close_scope();
  }
  for (std::size_t i = 0; i < parts_.channels.size(); ++i) {
    vcd_.open_scope("gddr5_" + std::to_string(i));
    channels_.push_back(vcd_.vector("queue", kCountBits));
    vcd_.close_scope();
  }
  vcd_.close_scope();
  vcd_.end_definitions();
}

void GpuWaveform::wake() {
  if (!vcd_.open()) return;
  wanted_ = std::min(wanted_, std::max(parts_.core.next_edge(), window_.first));
  parts_.core.wake_at(index_, wanted_);
}

void GpuWaveform::reset() {
  std::fill(traces_.begin(), traces_.end(), sm::SmTrace());
  wake();
}

Cycle GpuWaveform::step(Cycle now) {
  if (now < wanted_ || !vcd_.open()) return wanted_;
  wanted_ = kNever;
  if (now > window_.last) {
    finish();
    return kNever;
  }
  if (sample(now)) wanted_ = now + 1;
  if (!vcd_.open()) finish();
  return wanted_;
}

bool GpuWaveform::sample(Cycle now) {
  sampled_ = now;
  vcd_.at(picoseconds(now));
  const LaunchState state = parts_.launches();
  vcd_.set(launch_, state.launches);
  vcd_.set(kernel_, state.kernel.empty() ? "-" : state.kernel);
  vcd_.set(blocks_done_, state.blocks_done);
  vcd_.set(blocks_total_, state.blocks_total);
  for (std::size_t i = 0; i < sms_.size(); ++i) {
    const sm::SmTrace& trace = traces_[i];
    // An SM that sleeps issues nothing; all else stays as its last step left it.
    const bool stepped = trace.cycle == now;
    const bool issued = stepped && trace.pc != ptx::kNoPc;
    vcd_.set(sms_[i].pc, issued ? trace.pc : VcdWriter::kUndriven);
    vcd_.set(sms_[i].active_lanes, stepped ? trace.active_lanes : 0);
    vcd_.set(sms_[i].stall, static_cast<std::uint64_t>(trace.stall));
    vcd_.set(sms_[i].ready_warps, trace.ready_warps);
  }
  const bool memory_busy = sample_memory();
  vcd_.begin(picoseconds(now));
  return state.active || (memory_busy && !state.faulted);
}

bool GpuWaveform::sample_memory() {
  std::uint64_t waiting = 0;
  const auto set = [&](Signal signal, std::size_t length) {
    vcd_.set(signal, length);
    waiting += length;
  };
  for (std::size_t i = 0; i < l2_.size(); ++i) {
    const l2::L2Bank::QueueLengths lengths = parts_.l2[i].queue_lengths();
    set(l2_[i].input_queue, lengths.input);
    set(l2_[i].pipeline, lengths.pipeline);
    set(l2_[i].mshrs, lengths.mshrs);
    set(l2_[i].miss_queue, lengths.misses);
    set(l2_[i].response_queue, lengths.responses);
  }
  for (std::size_t i = 0; i < channels_.size(); ++i) set(channels_[i], parts_.channels[i].queued());
  return waiting != 0;
}

void GpuWaveform::finish() {
  vcd_.end(picoseconds(sampled_ + 1));
  for (auto& sm : parts_.sms) sm.trace(nullptr);
}

void GpuWaveform::close() {
  finish();
  if (!vcd_.error().empty()) throw InputError("", vcd_.error());
}

std::uint64_t GpuWaveform::picoseconds(Cycle edge) const {
  return parts_.core.time_of(edge).value() / units_;
}

}  // namespace weft::vcd
