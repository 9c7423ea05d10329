#include "ptx/assembly.h"

#include <algorithm>

#include "weft/common/error.h"
#include "weft/ptx/limits.h"

namespace weft::ptx {
namespace {

template <class Keys>
void add_key(Keys& keys, std::uint8_t& count, std::uint16_t key) {
  for (std::uint8_t k = 0; k < count; ++k) {
    if (keys[k] == key) return;
  }
  keys[count++] = key;
}

}  // namespace

void Assembly::add_specials(const Draft& draft, Place& place) {
  auto& known = program_.special_rows;
  for (const Special special : draft.specials) {
    const auto found = std::find(known.begin(), known.end(), special);
    place.specials.push_back(static_cast<std::uint16_t>(found - known.begin()));
    if (found == known.end()) known.push_back(special);
  }
}

void Assembly::add_files(const Draft& draft, Place& place) {
  auto& known = program_.files;
  for (const std::string& file : draft.files) {
    const auto found = std::find(known.begin(), known.end(), file);
    place.files.push_back(static_cast<std::uint16_t>(found - known.begin()));
    if (found == known.end()) known.push_back(file);
  }
}

void Assembly::reserve(const Draft& draft, const Allocation& allocation) {
  Place place;
  place.draft = &draft;
  place.allocation = &allocation;
  place.first = size_;
  place.first_constant = constants_;
  size_ += static_cast<Pc>(draft.code.size());
  constants_ += static_cast<std::uint32_t>(draft.constants.size());
  calls_ = calls_ || draft.frame.calls;
  wide_rows_ = std::max(wide_rows_, allocation.wide_rows);
  narrow_rows_ = std::max(narrow_rows_, allocation.rows - allocation.wide_rows);
  program_.predicates = std::max(program_.predicates, static_cast<std::uint16_t>(allocation.predicates));
  program_.registers_per_thread = std::max(program_.registers_per_thread, allocation.registers);
  program_.virtual_registers += draft.named_registers;
  add_specials(draft, place);
  add_files(draft, place);
  entries_.push_back(place.first);
  places_.push_back(std::move(place));
}

void Assembly::lay_out() {
  if (constants_ > kMaxConstants) {
    throw InputError(program_.files[0], "more than " + std::to_string(kMaxConstants) +
                                            " constants in kernel '" + program_.name +
                                            "' and the functions that it calls");
  }
  std::uint32_t rows = wide_rows_ + narrow_rows_;
  if (calls_) {
    rows += kFixedRegisters;
    program_.registers_per_thread += kFixedRegisters;
  }
  // The kernel comes first, and nobody else has scalars.
  const FileUse& scalar = places_[0].allocation->scalar;
  program_.scalars_per_warp = scalar.registers;
  first_scalar_row_ = (rows + 1) & ~1u;
  if (scalar.rows != 0) rows = first_scalar_row_ + scalar.rows;
  first_scalar_predicate_ = program_.predicates;
  program_.scalar_predicates = static_cast<std::uint16_t>(scalar.predicates);
  program_.predicates = static_cast<std::uint16_t>(program_.predicates + scalar.predicates);
  program_.register_rows = static_cast<std::uint16_t>((rows + 1) & ~1u);
  program_.rows = static_cast<std::uint16_t>(program_.register_rows + 2 * program_.special_rows.size());
  program_.code.reserve(size_);
  program_.constants.reserve(constants_);
}

std::uint16_t Assembly::index(VirtualId id, const Place& place) const {
  if (id >= kFirstSpecial) {
    return static_cast<std::uint16_t>(program_.register_rows + 2 * place.specials[id - kFirstSpecial]);
  }
  if (id >= kFirstFixed) return static_cast<std::uint16_t>(wide_rows_ + narrow_rows_ + (id - kFirstFixed));
  const std::uint16_t row = place.allocation->row[id];
  const RegisterClass kind = place.draft->registers[id];
  if (place.draft->is_scalar(id)) {
    const std::uint32_t first =
        kind == RegisterClass::kPredicate ? first_scalar_predicate_ : first_scalar_row_;
    return static_cast<std::uint16_t>(row + first);
  }
  if (kind != RegisterClass::kSingle) return row;
  return static_cast<std::uint16_t>(row - place.allocation->wide_rows + wide_rows_);
}

// Scoreboard keys.
std::uint16_t Assembly::key(const Operand& operand) const {
  const bool predicate = operand.kind == Operand::Kind::kPredicate;
  return static_cast<std::uint16_t>(predicate ? program_.rows + operand.index : operand.index);
}

Instruction Assembly::finish(const DraftInstruction& draft, const Place& place) const {
  Instruction i = draft.fixed;
  i.ptx.file = place.files[i.ptx.file];
  i.source.file = place.files[i.source.file];
  for (std::size_t k = 0; k < i.src.size(); ++k) {
    if (i.src[k].kind == Operand::Kind::kConstant) {
      i.src[k].index = static_cast<std::uint16_t>(i.src[k].index + place.first_constant);
    }
    if (draft.src[k] == kNoRegister) continue;
    i.src[k].index = index(draft.src[k], place);
    // Special registers never change, so nothing ever waits for them.
    if (draft.src[k] < kFirstSpecial) add_key(i.reads, i.read_count, key(i.src[k]));
  }
  for (std::size_t k = 0; k < i.dst.size(); ++k) {
    if (draft.dst[k] == kNoRegister) continue;
    i.dst[k].index = index(draft.dst[k], place);
    const bool wide =
        draft.dst[k] < kFirstFixed && place.draft->registers[draft.dst[k]] == RegisterClass::kDouble;
    if (wide) i.wide_results = static_cast<std::uint8_t>(i.wide_results | 1u << k);
    add_key(i.writes, i.write_count, key(i.dst[k]));
  }
  if (draft.guard != kNoRegister) {
    i.guard = static_cast<std::int16_t>(index(draft.guard, place));
    add_key(i.reads, i.read_count, static_cast<std::uint16_t>(program_.rows + i.guard));
  }
  if (i.is_branch()) i.target += place.first;
  if (i.op == Opcode::kCall && i.src[0].kind == Operand::Kind::kNone) i.target = entries_[draft.callee];
  return i;
}

// Blocks keep their numbers within a function; the virtual exit is the same for all.
void Assembly::add_blocks(const FlowGraph& flow, const Place& place) {
  const auto first = static_cast<std::uint32_t>(program_.blocks.size());
  const auto count = static_cast<std::uint32_t>(flow.blocks.size());
  const auto pc_of = [&](std::uint32_t block) {
    return block == count ? kNoPc : place.first + flow.blocks[block].first;
  };
  for (std::uint32_t b = 0; b < count; ++b) {
    const BasicBlock& block = flow.blocks[b];
    Instruction& last = program_.code[place.first + block.last];
    const bool branches = last.is_branch() || last.op == Opcode::kBrx;
    if (branches) {
      last.reconvergence = pc_of(flow.meeting[b]);
      last.plain_reconvergence = pc_of(block.post_dominator);
    }
    BasicBlock moved = block;
    moved.first += place.first;
    moved.last += place.first;
    moved.rank += first;
    // The virtual exit's number is known when all blocks are there.
    for (std::uint32_t& s : moved.successors) s = s == count ? UINT32_MAX : s + first;
    moved.post_dominator = block.post_dominator == count ? UINT32_MAX : block.post_dominator + first;
    program_.blocks.push_back(std::move(moved));
  }
}

void Assembly::add_convergence(const Convergence& convergence) {
  ConvergenceBarriers& all = program_.convergence;
  for (const auto& actions : convergence.actions) {
    all.first.push_back(static_cast<std::uint32_t>(all.actions.size()));
    for (BarrierAction action : actions) {
      action.barrier += all.count;
      all.actions.push_back(action);
    }
  }
  all.turns.insert(all.turns.end(), convergence.turns.begin(), convergence.turns.end());
  all.count += convergence.barriers;
}

void Assembly::add(const std::string& name, const Draft& draft, const FlowGraph& flow,
                   const Convergence& convergence) {
  const Place& place = places_[added_];
  for (const DraftInstruction& d : draft.code) {
    const auto pc = static_cast<Pc>(program_.code.size());
    program_.code.push_back(finish(d, place));
    Instruction& i = program_.code.back();
    if (i.op == Opcode::kCall && i.target == kNoPc) i.reconvergence = i.plain_reconvergence = pc + 1;
    if (i.system == SystemCall::kAllocate) program_.uses_heap = true;
    if (i.op != Opcode::kBrx) continue;
    const auto& table = draft.tables[i.target];
    i.target = static_cast<Pc>(program_.branch_targets.size());
    for (const Pc target : table) program_.branch_targets.push_back(place.first + target);
  }
  add_blocks(flow, place);
  add_convergence(convergence);
  program_.constants.insert(program_.constants.end(), draft.constants.begin(), draft.constants.end());
  if (added_ == 0) {
    program_.parameters = draft.parameters;
    program_.parameter_bytes = draft.parameter_bytes;
  } else {
    program_.functions.push_back(
        {name, place.first, static_cast<Pc>(program_.code.size() - 1), draft.frame.bytes});
  }
  ++added_;
}

void Assembly::set_entry(std::uint64_t address, std::uint32_t function) {
  const std::uint64_t ordinal = (address - kFunctionBase) / kFunctionStride;
  if (program_.function_entries.size() <= ordinal) program_.function_entries.resize(ordinal + 1, kNoPc);
  program_.function_entries[ordinal] = entries_[function];
}

Program Assembly::finish() {
  const auto exit = static_cast<std::uint32_t>(program_.blocks.size());
  for (BasicBlock& block : program_.blocks) {
    for (std::uint32_t& s : block.successors) s = s == UINT32_MAX ? exit : s;
    if (block.post_dominator == UINT32_MAX) block.post_dominator = exit;
  }
  program_.convergence.first.push_back(static_cast<std::uint32_t>(program_.convergence.actions.size()));
  return std::move(program_);
}

}  // namespace weft::ptx
