#include "sm/kernel.h"

#include <algorithm>
#include <array>
#include <utility>

#include "common/error.h"
#include "isa/address_windows.h"
#include "warp_formation/warp_formation.h"

namespace weft::sm {
namespace {

std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

Source source_of(const ptx::Operand& operand, const ptx::Program& program) {
  Source source;
  source.negated = operand.negated;
  source.index = operand.index;
  switch (operand.kind) {
    case ptx::Operand::Kind::kNone:
      break;
    case ptx::Operand::Kind::kRow:
      source.kind = Source::Kind::kRow;
      source.offset = operand.index * isa::kLanes;
      break;
    case ptx::Operand::Kind::kConstant:
      source.kind = Source::Kind::kConstant;
      source.constant = program.constants[operand.index].lanes.data();
      break;
    case ptx::Operand::Kind::kPredicate:
      source.kind = Source::Kind::kPredicate;
      break;
    case ptx::Operand::Kind::kDynamic:
      source.kind = Source::Kind::kDynamic;
      break;
  }
  return source;
}

// What cvta adds or subtracts: the start of a space among generic addresses, in 32 lanes of 8 bytes.
const void* window_of(ptx::Space space) {
  const auto broadcast = [](std::uint64_t value) {
    std::array<std::uint64_t, isa::kLanes> lanes{};
    lanes.fill(value);
    return lanes;
  };
  alignas(64) static const auto kShared = broadcast(isa::kSharedWindow);
  alignas(64) static const auto kLocal = broadcast(isa::kLocalWindow);
  alignas(64) static const auto kOther = broadcast(0);
  return space == ptx::Space::kShared  ? kShared.data()
         : space == ptx::Space::kLocal ? kLocal.data()
                                       : kOther.data();
}

[[noreturn]] void not_executable(const ptx::Program& program, ptx::Pc pc) {
  throw InputError(program.place(pc), std::string("instruction ") + ptx::name_of(program.code[pc].op) + "." +
                                          ptx::name_of(program.code[pc].type) + " is not executable yet");
}

Operation operation_of(const ptx::Program& program, ptx::Pc pc, const Config& config) {
  const ptx::Instruction& in = program.code[pc];
  Operation op;
  op.instruction = &in;
  for (std::size_t i = 0; i < op.src.size(); ++i) op.src[i] = source_of(in.src[i], program);
  for (std::size_t i = 0; i < in.dst.size(); ++i) {
    if (in.dst[i].kind == ptx::Operand::Kind::kRow) {
      op.dst[i] = static_cast<std::int32_t>(in.dst[i].index * isa::kLanes);
    } else if (in.dst[i].kind == ptx::Operand::Kind::kPredicate && i < op.dst_predicate.size()) {
      op.dst_predicate[i] = static_cast<std::int16_t>(in.dst[i].index);
    }
  }
  for (unsigned i = 0; i < in.read_count; ++i) op.keys[op.key_count++] = in.reads[i];
  for (unsigned i = 0; i < in.write_count; ++i) op.keys[op.key_count++] = in.writes[i];
  op.latency = static_cast<std::uint16_t>(config.latency_of(in.latency).cycles);
  op.interval = static_cast<std::uint16_t>(config.latency_of(in.latency).interval);
  if (in.op == ptx::Opcode::kCvta) {
    op.src[1].kind = Source::Kind::kConstant;
    op.src[1].constant = window_of(in.space);
  }
  if (in.is_image()) {
    op.element_bytes = static_cast<std::uint8_t>(ptx::bytes_of(in.type) * in.vector);
  } else if (in.is_memory()) {
    op.memory = isa::find_memory(in);
    ptx::Instruction in_shared = in;
    in_shared.space = ptx::Space::kShared;
    op.shared_memory = isa::find_memory(in_shared);
    op.element_bytes = static_cast<std::uint8_t>(ptx::bytes_of(in.type) * in.vector);
    if (op.memory == nullptr && in.op != ptx::Opcode::kCopyAsync) not_executable(program, pc);
  } else if (!in.is_control()) {
    op.function = isa::find(in);
    if (op.function == nullptr) not_executable(program, pc);
  }
  return op;
}

}  // namespace

void check_executable(const ptx::Program& program) {
  const Config config;
  for (ptx::Pc pc = 0; pc < program.code.size(); ++pc) operation_of(program, pc, config);
}

namespace {

dispatch::Launch checked(dispatch::Launch launch) {
  dispatch::check(launch);
  return launch;
}

}  // namespace

Kernel::Kernel(const dispatch::Launch& l, const Config& config, std::uint64_t warp_size)
    : launch(checked(l)),
      program(*launch.program),
      occupancy(sm::occupancy(launch, config, warp_size)),
      threads(launch.threads_per_block()) {
  const auto padded = round_up(threads, warp_size);
  chunks_per_block = static_cast<std::uint32_t>((padded + isa::kLanes - 1) / isa::kLanes);
  const SharedLayout shared = shared_layout(needs_of(program, threads, launch.dynamic_shared, config));
  own_shared_bytes = shared.own;
  reserved_shared = shared.reserved;
  shared_bytes = shared.bytes;
  local_bytes = program.local_bytes;
  if (program.recursive) local_bytes = std::max<std::uint64_t>(local_bytes, launch.stack_bytes);
  operations.reserve(program.code.size());
  for (ptx::Pc pc = 0; pc < program.code.size(); ++pc)
    operations.push_back(operation_of(program, pc, config));
  copies = std::any_of(program.code.begin(), program.code.end(),
                       [](const ptx::Instruction& in) { return in.op == ptx::Opcode::kCopyAsync; });
  for (Operation& op : operations) {
    if (op.instruction->op == ptx::Opcode::kCvta && op.instruction->space == ptx::Space::kParam) {
      if (parameter_window.empty()) parameter_window.emplace_back().lanes.fill(launch.parameter_address);
      op.src[1].constant = parameter_window[0].lanes.data();
    }
    if (!op.instruction->is_image()) continue;
    ImageSources& sources = image_sources.emplace_back();
    for (std::size_t i = 0; i < sources.size(); ++i) sources[i] = source_of(op.instruction->src[i], program);
    op.image = &sources;
  }
}

}  // namespace weft::sm
