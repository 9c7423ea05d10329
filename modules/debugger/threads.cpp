#include "debugger/threads.h"

#include <algorithm>
#include <cstring>

namespace weft::debugger {
namespace {

constexpr ThreadId kMostId = 0x7fff'ffff;

std::uint64_t linear(const dispatch::Dim3& index, const dispatch::Dim3& size) {
  return (std::uint64_t{index[2]} * size[1] + index[1]) * size[0] + index[0];
}

std::string in_words(const dispatch::Dim3& index) {
  return "(" + std::to_string(index[0]) + "," + std::to_string(index[1]) + "," + std::to_string(index[2]) +
         ")";
}

Thread living(SmThreads& sm, unsigned slot, std::uint64_t number) {
  const Thread thread = sm.thread(slot, static_cast<std::uint32_t>(number));
  return sm.pc(thread) == SmThreads::kEnded ? Thread() : thread;
}

}  // namespace

ThreadId Threads::id_of(const Thread& thread) {
  std::uint64_t& first = thread.sm->first_id(thread.slot);
  if (first == 0) {
    const std::uint32_t threads = thread.sm->kernel()->threads;
    if (next_ > kMostId - threads) next_ = 1;
    first = next_;
    next_ += threads;
  }
  return first + thread.number;
}

Thread Threads::find(ThreadId id) {
  for (SmThreads& sm : sms_) {
    for (unsigned slot = 0; slot < sm.slots(); ++slot) {
      const ThreadId first = sm.first_id(slot);
      if (first != 0 && sm.block(slot).live && id >= first && id - first < sm.kernel()->threads)
        return living(sm, slot, id - first);
    }
  }
  return {};
}

Thread Threads::find(SmThreads& sm, const FaultPlace& place) {
  for (unsigned slot = 0; slot < sm.slots(); ++slot) {
    if (!sm.block(slot).live || sm.block(slot).index != place.block) continue;
    const std::uint64_t number = linear(place.thread, sm.kernel()->launch.block);
    if (number < sm.kernel()->threads) return sm.thread(slot, static_cast<std::uint32_t>(number));
  }
  return {};
}

void Threads::each(const std::function<void(const Thread&)>& visit) {
  for (SmThreads& sm : sms_) {
    for (unsigned slot = 0; slot < sm.slots(); ++slot) {
      if (!sm.block(slot).live) continue;
      for (std::uint32_t number = 0; number < sm.kernel()->threads; ++number) {
        if (const Thread thread = living(sm, slot, number)) visit(thread);
      }
    }
  }
}

Thread Threads::any() {
  for (SmThreads& sm : sms_) {
    for (unsigned slot = 0; slot < sm.slots(); ++slot) {
      for (std::uint32_t number = 0; sm.block(slot).live && number < sm.kernel()->threads; ++number) {
        if (const Thread thread = living(sm, slot, number)) return thread;
      }
    }
  }
  return {};
}

dispatch::Dim3 Threads::index_of(const Thread& thread) {
  const dispatch::Dim3& size = thread.sm->kernel()->launch.block;
  return {thread.number % size[0], thread.number / size[0] % size[1], thread.number / size[0] / size[1]};
}

std::string Threads::place_of(const Thread& thread) {
  return "block " + in_words(thread.sm->block(thread.slot).index) + " thread " + in_words(index_of(thread)) +
         ", SM " + std::to_string(thread.sm->number()) + " warp " +
         std::to_string(thread.number / SmThreads::kLanes);
}

std::uint64_t Threads::address_of(const Thread& thread) {
  const ptx::Pc pc = thread.sm->pc(thread);
  return pc == SmThreads::kEnded || thread.sm->code == nullptr ? kThreadEnded
                                                               : thread.sm->code->address_of(pc);
}

const ptx::NamedRegister::Place* ThreadState::place_of(const TargetRegister& one) const {
  const ptx::Pc pc = thread_.sm->pc(thread_);
  if (thread_.sm->code == nullptr || pc == SmThreads::kEnded) return nullptr;
  return debugger::place_of(*thread_.sm->code, one.ptx, pc);
}

std::optional<std::uint64_t> ThreadState::register_value(std::uint64_t number) const {
  SmThreads& sm = *thread_.sm;
  if (number == kPcRegister) return Threads::address_of(thread_);
  if (number == kStackRegister) return kFramesEnd - kFrameBytes * sm.calls(thread_).size();
  const TargetRegister* const one = registers_.find(number);
  if (one == nullptr) return std::nullopt;
  switch (one->kind) {
    case TargetRegister::Kind::kTid:
      return Threads::index_of(thread_)[one->axis];
    case TargetRegister::Kind::kCtaid:
      return sm.block(thread_.slot).index[one->axis];
    case TargetRegister::Kind::kLane:
      return thread_.number % SmThreads::kLanes;
    case TargetRegister::Kind::kSm:
      return sm.number();
    case TargetRegister::Kind::kWarp:
      return thread_.number / SmThreads::kLanes;
    case TargetRegister::Kind::kNamed:
      break;
  }
  const ptx::NamedRegister::Place* const place = place_of(*one);
  if (place == nullptr) return std::nullopt;
  execute::RegisterFile& file = sm.core().registers;
  if (one->type == ptx::Type::kPred) return file.predicate(thread_.chunk, place->index) >> thread_.lane & 1;
  const std::uint32_t* const row = file.row(thread_.chunk, place->index);
  if (one->bytes < 8) return row[thread_.lane];
  std::uint64_t value = 0;  // lanes of 64 bits across two rows
  std::memcpy(&value, row + 2 * std::size_t{thread_.lane}, sizeof value);
  return value;
}

bool ThreadState::write_register(std::uint64_t number, std::uint64_t value) const {
  const TargetRegister* const one = registers_.find(number);
  if (one == nullptr || one->kind != TargetRegister::Kind::kNamed) return false;
  const ptx::NamedRegister::Place* const place = place_of(*one);
  if (place == nullptr) return false;
  execute::RegisterFile& file = thread_.sm->core().registers;
  if (one->type == ptx::Type::kPred) {
    std::uint32_t& lanes = file.predicate(thread_.chunk, place->index);
    lanes = (lanes & ~(1u << thread_.lane)) | (value != 0 ? 1u << thread_.lane : 0u);
    return true;
  }
  std::uint32_t* const row = file.row(thread_.chunk, place->index);
  if (one->bytes < 8) {
    row[thread_.lane] = static_cast<std::uint32_t>(value);
  } else {
    std::memcpy(row + 2 * std::size_t{thread_.lane}, &value, sizeof value);
  }
  return true;
}

std::uint8_t* ThreadState::byte_at(std::uint64_t address) const {
  SmThreads& sm = *thread_.sm;
  return sm.core().executor.word_at(address, 1, sm.block(thread_.slot), thread_.chunk, thread_.lane);
}

std::optional<std::uint64_t> ThreadState::memory(std::uint64_t address, unsigned bytes) const {
  const std::string read = this->read(address, bytes);
  if (read.size() != bytes || bytes > sizeof(std::uint64_t)) return std::nullopt;
  std::uint64_t value = 0;
  std::memcpy(&value, read.data(), bytes);
  return value;
}

std::string ThreadState::read(std::uint64_t address, std::uint64_t count) const {
  const SmThreads& sm = *thread_.sm;
  const auto& calls = sm.calls(thread_);
  const std::uint64_t frames = kFramesEnd - kFrameBytes * calls.size();
  std::string bytes;
  for (std::uint64_t at = address; bytes.size() < count; ++at) {
    if (at >= frames && at < kFramesEnd) {
      const std::uint64_t below = kFramesEnd - 1 - at;
      const std::uint64_t target = sm.code->address_of(calls[below / kFrameBytes]);
      const std::uint64_t byte = at % kFrameBytes;
      bytes += static_cast<char>(byte < kReturnOffset ? 0 : target >> (byte - kReturnOffset) * 8 & 0xff);
      continue;
    }
    const std::uint8_t* const from = byte_at(at);
    std::uint8_t outside = 0;
    if (from == nullptr &&
        (system_ == nullptr || !system_->contains(at, 1) || !system_->look(at, &outside, 1))) {
      break;
    }
    bytes += static_cast<char>(from == nullptr ? outside : *from);
  }
  return bytes;
}

bool ThreadState::write(std::uint64_t address, const std::string& bytes) const {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (byte_at(address + i) == nullptr) return false;
  }
  for (std::size_t i = 0; i < bytes.size(); ++i) *byte_at(address + i) = static_cast<std::uint8_t>(bytes[i]);
  return true;
}

}  // namespace weft::debugger
