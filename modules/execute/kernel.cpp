#include "execute/kernel.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "common/hex.h"
#include "weft/common/error.h"
#include "weft/warp_formation/warp_formation.h"

namespace weft::execute {
namespace {

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

void set_constant(Source& source, const WideConstant& constant) {
  source.kind = Source::Kind::kConstant;
  source.constant = constant.lanes.data();
}

// cvta adds or subtracts the start of its space; isspacep compares with both windows.
void add_addresses(Operation& op, const AddressConstants& addresses) {
  const ptx::Instruction& in = *op.instruction;
  if (in.op == ptx::Opcode::kCvta) {
    set_constant(op.src[1], in.space == ptx::Space::kShared  ? addresses.shared
                            : in.space == ptx::Space::kLocal ? addresses.local
                                                             : addresses.zero);
  } else if (in.op == ptx::Opcode::kIsspacep) {
    set_constant(op.src[1], addresses.shared);
    set_constant(op.src[2], addresses.local);
    set_constant(op.src[3], addresses.bytes);
  }
}

[[noreturn]] void not_executable(const ptx::Program& program, ptx::Pc pc) {
  throw InputError(program.place(pc), std::string("instruction ") + ptx::name_of(program.code[pc].op) + "." +
                                          ptx::name_of(program.code[pc].type) + " is not executable yet");
}

// What no machine does once for a warp: it would be done too seldom, or is between its threads.
void check_scalar(const ptx::Program& program, ptx::Pc pc) {
  const ptx::Instruction& in = program.code[pc];
  if (!in.scalar) return;
  const bool memory = in.op == ptx::Opcode::kLd || in.op == ptx::Opcode::kSt || in.is_image();
  const bool control = in.is_control() && in.write_count == 0;
  if (in.is_memory() ? memory && in.space != ptx::Space::kLocal
                     : control || !(in.is_control() || in.is_warp_primitive()))
    return;
  throw InputError(program.place(pc), std::string("instruction ") + ptx::name_of(in.op) +
                                          " is marked scalar, but cannot execute once for a warp");
}

Operation operation_of(const ptx::Program& program, ptx::Pc pc, const machine::SmConfig& config,
                       const AddressConstants& addresses) {
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
  op.latency = static_cast<std::uint16_t>(config.latency_of(in).cycles);
  op.interval = static_cast<std::uint16_t>(config.latency_of(in).interval);
  op.unit = config.unit_of(in);
  op.sub_core_unit = config.datapath.units.unit_of(in);
  if (in.guard >= 0) op.guard_key = static_cast<std::int32_t>(program.rows) + in.guard;
  add_addresses(op, addresses);
  check_scalar(program, pc);
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
  const machine::SmConfig config;
  const AddressConstants addresses(config.addresses);
  for (ptx::Pc pc = 0; pc < program.code.size(); ++pc) operation_of(program, pc, config, addresses);
}

namespace {

dispatch::Launch checked(dispatch::Launch launch) {
  dispatch::check(launch);
  return launch;
}

bool takes_parameter_address(const ptx::Instruction& in) {
  return in.op == ptx::Opcode::kCvta && in.space == ptx::Space::kParam;
}

// The table of all launches of the program, unless it has to have this launch's own constants.
std::shared_ptr<const OperationTable> table_of(const dispatch::Launch& launch,
                                               const machine::SmConfig& config,
                                               const WideConstant& parameter_window,
                                               OperationTables* tables) {
  const auto& code = launch.program->code;
  if (tables != nullptr && std::none_of(code.begin(), code.end(), takes_parameter_address))
    return tables->of(launch.program, config);
  return std::make_shared<const OperationTable>(launch.program, config, &parameter_window);
}

// Of one thread, with its stack.
std::uint64_t local_bytes_of(const dispatch::Launch& launch) {
  const std::uint64_t own = launch.program->local_bytes;
  return launch.program->recursive ? std::max(own, launch.stack_bytes) : own;
}

std::uint32_t chunks_of(const dispatch::Launch& launch, std::uint64_t warp_size) {
  // Whole warps.
  const std::uint64_t padded = (launch.threads_per_block() + warp_size - 1) / warp_size * warp_size;
  return static_cast<std::uint32_t>((padded + isa::kLanes - 1) / isa::kLanes);
}

// `chunks`: of all SMs.
std::uint64_t local_area(std::uint64_t local_bytes, std::uint64_t chunks) {
  return (local_bytes + 3) / 4 * 4 * chunks * isa::kLanes;
}

}  // namespace

AddressConstants::AddressConstants(const machine::AddressWindows& map) {
  shared.lanes.fill(map.shared_base);
  local.lanes.fill(map.local_base);
  bytes.lanes.fill(map.window_bytes);
  zero.lanes.fill(0);
}

OperationTable::OperationTable(std::shared_ptr<const ptx::Program> of, const machine::SmConfig& config,
                               const WideConstant* parameter_window)
    : addresses(config.addresses), program(std::move(of)) {
  operations.reserve(program->code.size());
  for (ptx::Pc pc = 0; pc < program->code.size(); ++pc)
    operations.push_back(operation_of(*program, pc, config, addresses));
  for (Operation& op : operations) {
    if (takes_parameter_address(*op.instruction) && parameter_window != nullptr)
      op.src[1].constant = parameter_window->lanes.data();
    if (!op.instruction->is_image()) continue;
    ImageSources& sources = image_sources.emplace_back();
    for (std::size_t i = 0; i < sources.size(); ++i) sources[i] = source_of(op.instruction->src[i], *program);
    op.image = &sources;
  }
}

std::shared_ptr<const OperationTable> OperationTables::of(const std::shared_ptr<const ptx::Program>& program,
                                                          const machine::SmConfig& config) {
  std::weak_ptr<const OperationTable>& known = tables_[program.get()];
  if (auto table = known.lock()) return table;
  auto table = std::make_shared<const OperationTable>(program, config, nullptr);
  known = table;
  for (auto entry = tables_.begin(); entry != tables_.end();)
    entry = entry->second.expired() ? tables_.erase(entry) : std::next(entry);
  return table;
}

Kernel::Kernel(const dispatch::Launch& l, const machine::SmConfig& config, std::uint64_t warp_size,
               OperationTables* tables)
    : launch(checked(l)),
      program(*launch.program),
      occupancy(execute::occupancy(launch, config, warp_size)),
      table(table_of(launch, config, parameter_window, tables)),
      operations(table->operations),
      threads(launch.threads_per_block()),
      chunks_per_block(chunks_of(launch, warp_size)),
      local_bytes(local_bytes_of(launch)),
      sms(config.count),
      addresses(config.addresses) {
  set_parameter_address(launch.parameter_address);
  const BlockNeeds needs = needs_of(program, threads, launch.dynamic_shared, config);
  registers = {threads, needs.registers_per_thread, warp_size,
               static_cast<std::uint32_t>(program.rows + program.predicates), needs.scalars_per_warp};
  const SharedLayout shared = shared_layout(needs);
  own_shared_bytes = shared.own;
  reserved_shared = shared.reserved;
  shared_bytes = shared.bytes;
  copies = std::any_of(program.code.begin(), program.code.end(),
                       [](const ptx::Instruction& in) { return in.op == ptx::Opcode::kCopyAsync; });
}

std::uint64_t local_area_bytes(const Kernel& kernel) {
  return local_area(kernel.local_bytes, kernel.sms * kernel.chunks_per_sm());
}

std::uint64_t local_area_bytes(const dispatch::Launch& launch, const machine::SmConfig& config,
                               std::uint64_t warp_size) {
  dispatch::check(launch);
  const std::uint64_t blocks = occupancy(launch, config, warp_size).resident;
  return local_area(local_bytes_of(launch), blocks * chunks_of(launch, warp_size) * config.count);
}

void check_addresses(const Kernel& kernel, std::uint64_t base, std::uint64_t bytes) {
  const dispatch::Launch& launch = kernel.launch;
  const auto require = [&](const char* what, std::uint64_t address, std::uint64_t needed) {
    const std::uint64_t offset = address - base;
    if (address >= base && offset <= bytes && needed <= bytes - offset && address % 4 == 0) return;
    throw InputError("kernel " + kernel.program.name,
                     std::string(what) + " is " + hex(address) + " for " + std::to_string(needed) +
                         " bytes; allowed: multiples of 4 in device memory, " + hex(base) + " to " +
                         hex(base + bytes));
  };
  const std::uint64_t local = local_area_bytes(kernel);
  if (local != 0 && launch.local_address == 0) {
    throw InputError("kernel " + kernel.program.name,
                     "has local variables, but the launch gives no device memory for them");
  }
  if (local != 0) require("local_address", launch.local_address, local);
  if (launch.parameter_address != 0)
    require("parameter_address", launch.parameter_address, launch.parameters.size());
  if (launch.code_address != 0)
    require("code_address", launch.code_address, kernel.program.code.size() * ptx::kInstructionBytes);
}

}  // namespace weft::execute
