#include "ptx/lower.h"

#include <algorithm>

#include "ptx/types.h"

namespace weft::ptx {

Lowering::Lowering(FunctionSymbols& symbols, const FunctionNumbers& numbers, std::uint64_t frame_alignment,
                   std::uint64_t saved_bytes, std::uint64_t spilled_bytes)
    : symbols_(symbols),
      numbers_(numbers),
      module_(symbols.module()),
      text_(*module_.text),
      kernel_(symbols.function()),
      frame_alignment_(frame_alignment) {
  dense_.assign(symbols_.declared_registers(), kNoRegister);
  label_places_.assign(symbols_.labels() + 1, kNoPc);
  end_label_ = symbols_.labels();
  Frame& frame = draft_.frame;
  frame.is_kernel = kernel_.is_entry;
  frame.calls = symbols_.calls_functions();
  frame.parameters = align_up(symbols_.signature().bytes, frame_alignment);
  frame.saves = align_up(symbols_.local_bytes(), 8);
  frame.spills = align_up(frame.saves + saved_bytes, 8);
  frame.bytes = symbols_.local_bytes();
  const std::uint64_t end = spilled_bytes == 0 ? frame.saves + saved_bytes : frame.spills + spilled_bytes;
  if (!symbols_.calls().empty() || !frame.is_kernel) {
    frame.bytes = align_up(end, frame_alignment) + align_up(symbols_.largest_area(), frame_alignment);
  } else if (spilled_bytes != 0) {
    frame.bytes = align_up(end, frame_alignment);
  }
}

Draft Lowering::run() {
  draft_.files.push_back(module_.file);
  std::map<std::uint32_t, std::uint32_t> file_numbers;  // of .file -> index in Program::files
  if (kernel_.is_entry) lay_out_parameters(text_, kernel_, draft_.parameters, draft_.parameter_bytes);
  symbols_.rewind();
  begin_function();
  std::uint32_t next_label = 0;
  for (std::uint32_t s = kernel_.first; s < kernel_.first + kernel_.count; ++s) {
    const Statement& statement = text_.statements[s];
    switch (statement.kind) {
      case Statement::Kind::kOpen:
        symbols_.enter();
        break;
      case Statement::Kind::kClose:
        symbols_.leave();
        break;
      case Statement::Kind::kLabel:
        label_places_[next_label++] = static_cast<Pc>(draft_.code.size());
        break;
      case Statement::Kind::kDeclaration:
      case Statement::Kind::kPrototype:
      case Statement::Kind::kTargets:
        break;
      case Statement::Kind::kLocation: {
        const Location& location = text_.locations[statement.first];
        auto [known, added] = file_numbers.emplace(location.file, 0);
        if (added) {
          const auto path = text_.files.find(location.file);
          if (path != text_.files.end()) {
            known->second = static_cast<std::uint32_t>(draft_.files.size());
            draft_.files.push_back(path->second);
          }
        }
        source_place_ = {known->second, known->second ? location.line : 0, location.column};
        break;
      }
      case Statement::Kind::kInstruction:
        lower(statement);
        break;
    }
  }
  end_function();
  finish_branches();
  return std::move(draft_);
}

void Lowering::lower(const Statement& statement) {
  statement_ = &statement;
  Operation operation = read_operation(text_, statement);
  place_ = text_.place(statement.at);
  guard_ = kNoRegister;
  if (statement.guard.length != 0) {
    Node node;
    node.text = statement.guard;
    const Register guard = need_register(node);
    check_type(node, guard.type, Type::kPred);
    guard_ = guard.id;
  }
  switch (operation.shape) {
    case Shape::kPlain:
      plain(operation);
      break;
    case Shape::kLookup:
      plain(operation);
      check_table(operand(operation.source_count));
      break;
    case Shape::kCarry:
      carry(operation);
      break;
    case Shape::kMove:
      move(operation);
      break;
    case Shape::kConvert:
      convert(operation);
      break;
    case Shape::kConvertTwo:
      convert_two(operation);
      break;
    case Shape::kHint:
      hint(operation);
      break;
    case Shape::kConvertPack:
      convert_pack(operation);
      break;
    case Shape::kPrefetch:
      prefetch(operation);
      break;
    case Shape::kExtremum:
      extremum(operation);
      break;
    case Shape::kPairs:
      pairs(operation);
      break;
    case Shape::kLookupPredicate:
      look_up_predicate(operation);
      break;
    case Shape::kSelectBySign:
      select_by_sign(operation);
      break;
    case Shape::kExtend:
      extend_bits(operation);
      break;
    case Shape::kCompare:
      compare(operation);
      break;
    case Shape::kLoad:
      load(operation);
      break;
    case Shape::kStore:
      store(operation);
      break;
    case Shape::kAtomic:
      atomic(operation, false);
      break;
    case Shape::kReduce:
      atomic(operation, true);
      break;
    case Shape::kBranch:
      branch(operation);
      break;
    case Shape::kIndexedBranch:
      indexed_branch(operation);
      break;
    case Shape::kCall:
      call(operation);
      break;
    case Shape::kBarrier:
      barrier(operation);
      break;
    case Shape::kWarp:
      warp(operation);
      break;
    case Shape::kCopyAsync:
      copy_async(operation);
      break;
    case Shape::kCopyWait:
      copy_wait(operation);
      break;
    case Shape::kTexture:
      texture(operation);
      break;
    case Shape::kImageQuery:
      image_query(operation);
      break;
    case Shape::kSurfaceLoad:
      surface_load(operation);
      break;
    case Shape::kSurfaceStore:
      surface_store(operation);
      break;
    case Shape::kExit:
      need_operands(0, 0);
      if (operation.instruction.op == Opcode::kRet && !kernel_.is_entry) {
        leave_function();
      } else {
        emit(draft(operation.instruction));
      }
      break;
    case Shape::kTrap:
    case Shape::kFence:
      need_operands(0, 0);
      emit(draft(operation.instruction));
      break;
  }
}

void Lowering::plain(Operation& operation) {
  need_operands(operation.source_count + 1u, operation.source_count + 1u);
  DraftInstruction d = draft(operation.instruction);
  for (std::uint32_t i = 0; i < operation.source_count; ++i) {
    set_source(d, i, source(operand(i + 1), operation.sources[i]));
  }
  set_destination(d, 0, destination(operand(0), operation.destination), operation.destination);
  emit(d);
}

// mov and cvta: besides registers and literals the source may be the address of a variable, a special
// register that changes with time, or (mov.b32, mov.b64) a vector to pack; the destination may be a vector to
// unpack into.
void Lowering::move(Operation& operation) {
  need_operands(2, 2);
  const Node& to = operand(0);
  const Node& from = operand(1);
  if (to.kind == Node::Kind::kVector) return unpack(operation, to);
  if (from.kind == Node::Kind::kVector) return pack(operation, from);
  if (operation.destination == Type::kPred && from.kind == Node::Kind::kLiteral) {
    const VirtualId id = destination(to, Type::kPred);
    literal(from, Type::kPred);  // made by a comparison, which may as well write here
    draft_.code.back().dst[0] = id;
    return;
  }
  DraftInstruction d = draft(operation.instruction);
  if (from.kind == Node::Kind::kName && !find_register(from)) {
    const std::string_view name = text_.view(from.text);
    const std::optional<Special> special_register = special(name);
    if (special_register && *special_register >= Special::kClock) {
      const unsigned bytes = *special_register >= Special::kClock64 ? 8 : 4;
      if (bytes_of(operation.destination) != bytes)
        fail(from, "this register has " + std::to_string(8 * bytes) + " bits");
      Source source;
      source.kind = Operand::Kind::kDynamic;
      source.index = static_cast<std::uint16_t>(*special_register);
      set_source(d, 0, source);
      set_destination(d, 0, destination(to, operation.destination), operation.destination);
      return emit(d);
    }
  }
  // A device function has its arguments in its frame.
  if (d.fixed.op == Opcode::kCvta && d.fixed.space == Space::kParam && !kernel_.is_entry)
    d.fixed.space = Space::kLocal;
  set_source(d, 0, source(from, operation.sources[0]));
  set_destination(d, 0, destination(to, operation.destination), operation.destination);
  emit(d);
}

namespace {

// The type of one of `count` equal parts of a `bytes`-wide word.
Type part_type(unsigned bytes, std::uint32_t count) {
  if (count == 2 && bytes == 8) return Type::kB32;
  if ((count == 2 && bytes == 4) || (count == 4 && bytes == 8)) return Type::kB16;
  return Type::kNone;
}

Type unsigned_of(Type type) {
  switch (bytes_of(type)) {
    case 2:
      return Type::kU16;
    case 8:
      return Type::kU64;
    default:
      return Type::kU32;
  }
}

}  // namespace

// mov.b64 d, {a, b}: the parts are inserted one after the other (bfi), from the low end.
void Lowering::pack(const Operation& operation, const Node& vector) {
  const Type whole = operation.destination;
  const Type part = part_type(bytes_of(whole), vector.count);
  if ((whole != Type::kB32 && whole != Type::kB64) || part == Type::kNone) {
    fail(vector, "this vector does not make up a word of the instruction's type; packing needs .b32 or .b64");
  }
  const VirtualId to = destination(operand(0), whole);
  const unsigned part_bits = 8 * bytes_of(part);
  const Type wide = unsigned_of(whole);
  // The first part, extended to the whole width (its upper bits are overwritten by the next ones).
  const auto extended = [&](const Node& node) {
    const Source from = source(node, part);
    if (bytes_of(whole) == 4 && from.kind == Operand::Kind::kRow) return from;
    const VirtualId id = temporary(wide);
    DraftInstruction d = draft(Opcode::kCvt, wide);
    d.fixed.from = unsigned_of(part);
    d.fixed.latency = Latency::kIntAdd;
    set_source(d, 0, from);
    set_destination(d, 0, id, wide);
    emit(d);
    return of(id, wide);
  };
  Source below = extended(text_.nodes[vector.first]);
  for (std::uint32_t k = 1; k < vector.count; ++k) {
    const Source above = extended(text_.nodes[vector.first + k]);
    const VirtualId result = k + 1 == vector.count ? to : temporary(wide);
    DraftInstruction d = draft(Opcode::kBfi, whole);
    d.fixed.latency = Latency::kIntAdd;
    set_source(d, 0, above);
    set_source(d, 1, below);
    set_source(d, 2, constant(k * part_bits, Type::kU32));
    set_source(d, 3, constant(part_bits, Type::kU32));
    set_destination(d, 0, result, whole);
    emit(d);
    below = of(result, whole);
  }
}

// mov.b64 {a, b}, s: each part is the low end of s shifted right.
void Lowering::unpack(const Operation& operation, const Node& vector) {
  const Type whole = operation.destination;
  const Type part = part_type(bytes_of(whole), vector.count);
  if ((whole != Type::kB32 && whole != Type::kB64) || part == Type::kNone) {
    fail(vector,
         "this vector does not make up a word of the instruction's type; unpacking needs .b32 or .b64");
  }
  const Type wide = unsigned_of(whole);
  const Source from = source(operand(1), whole);
  for (std::uint32_t k = 0; k < vector.count; ++k) {
    const Node& node = text_.nodes[vector.first + k];
    if (text_.view(node.text) == "_") continue;
    Source shifted = from;
    if (k > 0) {
      const VirtualId id = temporary(wide);
      DraftInstruction d = draft(Opcode::kShr, wide);
      d.fixed.latency = Latency::kIntAdd;
      set_source(d, 0, from);
      set_source(d, 1, constant(k * 8 * bytes_of(part), Type::kU32));
      set_destination(d, 0, id, wide);
      emit(d);
      shifted = of(id, wide);
    }
    DraftInstruction d = draft(Opcode::kCvt, unsigned_of(part));
    d.fixed.from = wide;
    d.fixed.latency = Latency::kIntAdd;
    set_source(d, 0, shifted);
    set_destination(d, 0, destination(node, part), part);
    emit(d);
  }
}

// cvt takes registers wider than its types (9.4.1): clang writes cvt.s64.s32 %rd1, %rd2 for a sign extension
// in place.
void Lowering::convert(Operation& operation) {
  need_operands(2, 2);
  const Instruction& fixed = operation.instruction;
  DraftInstruction d = draft(fixed);
  const std::optional<Register> from = find_register(operand(1));
  if (from) {
    check_type(operand(1), from->type, fixed.from, true);
    VirtualId id = from->id;
    if (rows_of(from->type) > rows_of(fixed.from)) {
      id = temporary(Type::kU32);
      emit_convert(id, Type::kU32, from->id, Type::kU64);
    }
    set_source(d, 0, of(id, fixed.from));
  } else {
    set_source(d, 0, source(operand(1), fixed.from));
  }
  const Register to = need_register(operand(0));
  check_type(operand(0), to.type, fixed.type, true);
  if (fixed.relu) {
    const VirtualId id = temporary(fixed.type);
    d.fixed.relu = false;
    set_destination(d, 0, id, fixed.type);
    emit(d);
    return rectify(to.id, id, fixed.type);
  }
  if (rows_of(to.type) > rows_of(fixed.type)) {
    const VirtualId id = temporary(fixed.type);
    set_destination(d, 0, id, fixed.type);
    emit(d);
    emit_convert(to.id, is_signed(fixed.type) ? Type::kS64 : Type::kU64, id,
                 is_signed(fixed.type) ? Type::kS32 : Type::kU32);
    return;
  }
  set_destination(d, 0, to.id, to.type);
  emit(d);
}

void Lowering::compare(Operation& operation) {
  const std::uint32_t count = operation.instruction.combine == Combine::kNone ? 3 : 4;
  need_operands(count, count);
  DraftInstruction d = draft(operation.instruction);
  for (std::uint32_t i = 1; i < count; ++i)
    set_source(d, i - 1, source(operand(i), operation.sources[i - 1]));
  const Node& to = operand(0);
  if (to.kind != Node::Kind::kPair) {
    set_destination(d, 0, destination(to, Type::kPred), Type::kPred);
  } else {
    for (std::uint32_t k = 0; k < 2; ++k) {
      const Node& node = text_.nodes[to.first + k];
      const bool sink = text_.view(node.text) == "_";
      if (sink && k == 1) continue;
      set_destination(d, k, sink ? temporary(Type::kPred) : destination(node, Type::kPred), Type::kPred);
    }
  }
  emit(d);
}

void Lowering::branch(Operation& operation) {
  need_operands(1, 1);
  const Node& node = operand(0);
  const std::string_view name = text_.view(node.text);
  const Meaning meaning = node.kind == Node::Kind::kName ? symbols_.find(name, node.text.at) : Meaning();
  if (meaning.kind != Meaning::Kind::kLabel)
    fail(node, "'" + std::string(name) + "' is not a label of this kernel");
  branch_labels_.resize(draft_.code.size(), UINT32_MAX);
  branch_labels_.push_back(meaning.index);
  emit(draft(operation.instruction));
}

// brx.idx index, list of .branchtargets
void Lowering::indexed_branch(Operation& operation) {
  need_operands(2, 2);
  const Node& node = operand(1);
  const std::string name(text_.view(node.text));
  const TargetList* list = node.kind == Node::Kind::kName ? symbols_.find_targets(name) : nullptr;
  if (list == nullptr) fail(node, "'" + name + "' is not a list of .branchtargets");
  std::vector<Pc> labels;  // places are known at the end
  for (const Extent target : list->targets) {
    const Meaning meaning = symbols_.find(text_.view(target), target.at);
    if (meaning.kind != Meaning::Kind::kLabel) {
      text_.fail(target.at, "'" + std::string(text_.view(target)) + "' is not a label of this function");
    }
    labels.push_back(meaning.index);
  }
  DraftInstruction d = draft(operation.instruction);
  set_source(d, 0, source(operand(0), Type::kU32));
  d.fixed.target = static_cast<Pc>(draft_.tables.size());
  d.fixed.target_count = static_cast<std::uint32_t>(labels.size());
  draft_.tables.push_back(std::move(labels));
  emit(d);
}

void Lowering::emit_branch(std::uint32_t label, bool guarded, bool negated) {
  DraftInstruction d = draft(Opcode::kBra, Type::kNone);
  d.fixed.unit = Unit::kControl;
  if (!guarded) {
    d.guard = kNoRegister;
    d.fixed.guard = -1;
    d.fixed.guard_negated = false;
  } else if (negated) {
    d.fixed.guard_negated = !d.fixed.guard_negated;
  }
  branch_labels_.resize(draft_.code.size(), UINT32_MAX);
  branch_labels_.push_back(label);
  emit(d);
}

// Branch targets, and an end: falling off a kernel returns.
void Lowering::finish_branches() {
  branch_labels_.resize(draft_.code.size(), UINT32_MAX);
  const auto size = static_cast<Pc>(draft_.code.size());
  const bool label_at_end =
      std::any_of(label_places_.begin(), label_places_.end(), [&](Pc place) { return place == size; });
  const Instruction* last = draft_.code.empty() ? nullptr : &draft_.code.back().fixed;
  const bool ends =
      last && last->guard < 0 &&
      (last->is_exit() || last->is_branch() || last->op == Opcode::kBrx || last->op == Opcode::kReturn);
  if (label_at_end || !ends) {
    guard_ = kNoRegister;
    place_ = text_.place(kernel_.name.at);
    if (last) place_ = last->ptx;
    DraftInstruction d = draft(Opcode::kRet, Type::kNone);
    d.fixed.unit = Unit::kControl;
    emit(d);
  }
  for (Pc pc = 0; pc < branch_labels_.size(); ++pc) {
    if (branch_labels_[pc] != UINT32_MAX) draft_.code[pc].fixed.target = label_places_[branch_labels_[pc]];
  }
  for (auto& table : draft_.tables) {
    for (Pc& target : table) target = label_places_[target];
  }
}

}  // namespace weft::ptx
