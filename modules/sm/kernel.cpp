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

// Static and dynamic.
std::uint64_t own_shared(const dispatch::Launch& launch) {
  return round_up(launch.program->shared_bytes, launch.dynamic_shared != 0 ? 16 : 1) + launch.dynamic_shared;
}

std::uint64_t with_reserved_shared(const ptx::Program& program, std::uint64_t own) {
  if (!ReservedShared::is_used_by(program)) return own;
  return round_up(own, ReservedShared::kAlignment) + ReservedShared::kBytes;
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

bool ReservedShared::is_used_by(const ptx::Program& program) {
  const auto& specials = program.special_rows;
  return std::any_of(specials.begin(), specials.end(), [](ptx::Special special) {
    return special >= ptx::Special::kReservedSharedBegin && special <= ptx::Special::kReservedShared1;
  });
}

Occupancy occupancy(const dispatch::Launch& launch, const Config& config, std::uint64_t warp_size) {
  const ptx::Program& program = *launch.program;
  dispatch::check_block(launch);
  // Each by itself, before they are rounded and added: the sum of what a caller gives may wrap around.
  for (const auto& [what, bytes] :
       {std::pair("static", program.shared_bytes), std::pair("dynamic", launch.dynamic_shared)}) {
    if (bytes <= config.shared_bytes) continue;
    throw InputError("kernel " + program.name,
                     "a block does not fit an SM: it needs " + std::to_string(bytes) + " bytes of " + what +
                         " shared memory, the SM has " + std::to_string(config.shared_bytes));
  }
  const std::uint64_t threads = launch.threads_per_block();
  const std::uint64_t warps = (threads + warp_size - 1) / warp_size;
  const std::uint64_t registers = config.registers_per_thread != 0
                                      ? config.registers_per_thread
                                      : std::max(1u, program.registers_per_thread);
  const std::uint64_t per_warp = round_up(registers * warp_size, config.register_allocation_unit);
  const std::uint64_t shared =
      round_up(with_reserved_shared(program, own_shared(launch)), config.shared_allocation_unit);

  Occupancy result;
  result.registers_per_warp = static_cast<std::uint32_t>(per_warp);
  result.shared_per_block = shared;
  std::uint64_t best = UINT64_MAX;
  const auto limit = [&](const char* name, std::uint64_t has, std::uint64_t needs) {
    if (needs > has) {
      throw InputError("kernel " + program.name, std::string("a block does not fit an SM: it needs ") +
                                                     std::to_string(needs) + " " + name + ", the SM has " +
                                                     std::to_string(has));
    }
    const std::uint64_t fits = needs == 0 ? UINT64_MAX : has / needs;
    if (fits < best) {
      best = fits;
      result.limit = name;
    }
  };
  limit("threads", config.max_threads, threads);
  limit("warps", config.max_warps, warps);
  limit("registers", config.registers, per_warp * warps);
  limit("bytes of shared memory", config.shared_bytes, shared);
  limit("blocks", config.max_blocks, 1);
  // Threads are held in warps: a domain has room for so many of them. A block stays in one domain.
  const std::uint64_t domains = config.schedulers / config.schedulers_per_domain;
  const std::uint64_t warps_per_domain = std::min(config.max_threads / warp_size, config.max_warps) / domains;
  if (warps > warps_per_domain) limit("warps of one scheduler domain", warps_per_domain, warps);
  const std::uint64_t by_domain = warps_per_domain / warps * domains;
  if (by_domain < best) {
    best = by_domain;
    result.limit = "warps of the scheduler domains";
  }
  result.blocks = static_cast<std::uint32_t>(best);
  return result;
}

namespace {

const dispatch::Launch& checked(const dispatch::Launch& launch) {
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
  own_shared_bytes = own_shared(launch);
  reserved_shared = round_up(own_shared_bytes, ReservedShared::kAlignment);
  shared_bytes = with_reserved_shared(program, own_shared_bytes);
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
