// Textures and surfaces: [object, sampler, {layer, coordinates}].
#include "ptx/lower.h"
#include "ptx/types.h"

namespace weft::ptx {
namespace {

// Places of operands, as program.h says.
constexpr std::size_t kSampler = 1, kLayer = 2, kCoordinates = 3, kRest = 6;

const char* name_of(Opaque opaque) {
  return opaque == Opaque::kTexture ? ".texref" : opaque == Opaque::kSurface ? ".surfref" : ".samplerref";
}

}  // namespace

// A 64-bit register, the name of a reference (its address then stands for it), or a parameter that holds one.
Lowering::Source Lowering::image_object(const Node& node, Opaque wanted) {
  if (node.kind == Node::Kind::kName && !find_register(node)) {
    const std::string name(text_.view(node.text));
    const Meaning meaning = symbols_.find(name, node.text.at);
    if (meaning.kind != Meaning::Kind::kAddress || meaning.opaque != wanted) {
      fail(node, "'" + name + "' is neither a 64-bit register nor a " + name_of(wanted));
    }
    if (meaning.space != Space::kParam) return constant(meaning.address, Type::kU64);
    DraftInstruction d = draft(Opcode::kLd, Type::kU64);
    d.fixed.unit = Unit::kMemory;
    d.fixed.space = Space::kParam;
    d.fixed.constant_cache = true;
    d.fixed.offset = static_cast<std::int64_t>(meaning.address);
    const VirtualId id = temporary(Type::kU64);
    set_destination(d, 0, id, Type::kU64);
    emit(d);
    return of(id, Type::kU64);
  }
  return source(node, Type::kU64);
}

// A scalar or a vector; vectors of three coordinates have a fourth element that does not count. A layer comes
// first.
void Lowering::coordinates(DraftInstruction& d, const Node& node) {
  const ImageAccess& image = d.fixed.image;
  const Type type = image.integer_coordinates ? Type::kS32 : Type::kF32;
  const std::uint32_t axes = image.axes(), used = axes + (image.layered ? 1 : 0);
  const bool is_vector = node.kind == Node::Kind::kVector;
  const std::uint32_t found = is_vector ? node.count : 1;
  const std::uint32_t padded = used == 3 ? 4 : used;
  if (found != used && found != padded) {
    fail(node, "found " + std::to_string(found) + " coordinates, expected " + std::to_string(used) +
                   (padded != used ? " or " + std::to_string(padded) : ""));
  }
  const auto element = [&](std::uint32_t k) -> const Node& {
    return is_vector ? text_.nodes[node.first + k] : node;
  };
  std::uint32_t k = 0;
  if (image.layered) set_source(d, kLayer, source(element(k++), Type::kU32));
  for (std::uint32_t axis = 0; axis < axes; ++axis) {
    set_source(d, kCoordinates + axis, source(element(k++), type));
  }
}

// Reads the operand in brackets up to the coordinates, whose place among its children it returns.
std::uint32_t Lowering::image_address(DraftInstruction& d, const Node& node, Opaque wanted) {
  const std::uint32_t most = wanted == Opaque::kTexture ? 3 : 2;
  if (node.kind != Node::Kind::kAddress || node.count < 2 || node.count > most) {
    fail(node, wanted == Opaque::kTexture
                   ? "expected [texture, {coordinates}] or [texture, sampler, {coordinates}]"
                   : "expected [surface, {coordinates}]");
  }
  set_source(d, 0, image_object(text_.nodes[node.first], wanted));
  if (node.count == 3) {
    d.fixed.image.has_sampler = true;
    set_source(d, kSampler, image_object(text_.nodes[node.first + 1], Opaque::kSampler));
  }
  return node.count - 1;
}

// `vector` destinations, in braces or (one of them) bare. Registers may be wider than a narrow type.
void Lowering::results(DraftInstruction& d, const Node& node) {
  const bool is_vector = node.kind == Node::Kind::kVector;
  const std::uint32_t found = is_vector ? node.count : 1;
  if (found != d.fixed.vector) {
    fail(node,
         "found " + std::to_string(found) + " destinations, expected " + std::to_string(d.fixed.vector));
  }
  for (std::uint32_t k = 0; k < found; ++k) {
    const Node& element = is_vector ? text_.nodes[node.first + k] : node;
    if (text_.view(element.text) == "_") continue;
    const Register reg = need_register(element);
    check_type(element, reg.type, d.fixed.type, bytes_of(d.fixed.type) == 1);
    if (rows_of(reg.type) > rows_of(d.fixed.type)) fail(element, "the register is too wide");
    set_destination(d, k, reg.id, d.fixed.type);
  }
}

void Lowering::texture(const Operation& operation) {
  using Detail = ImageAccess::Detail;
  const ImageAccess& image = operation.instruction.image;
  const std::uint32_t more = image.detail == Detail::kBase ? 0 : image.detail == Detail::kLevel ? 1 : 2;
  if (statement_->count > 2 + more) {
    fail("found " + std::to_string(statement_->count) + " operands, expected " + std::to_string(2 + more) +
         "; offsets and depth comparison are not executable yet");
  }
  need_operands(2 + more, 2 + more);
  DraftInstruction d = draft(operation.instruction);
  const Node& address = operand(1);
  coordinates(d, text_.nodes[address.first + image_address(d, address, Opaque::kTexture)]);
  if (image.detail == Detail::kLevel) set_source(d, kRest, source(operand(2), Type::kF32));
  if (image.detail == Detail::kGradient) {
    const std::uint32_t axes = image.axes(), padded = axes == 3 ? 4 : axes;
    for (std::uint32_t side = 0; side < 2; ++side) {
      const Node& slopes = operand(2 + side);
      const bool is_vector = slopes.kind == Node::Kind::kVector;
      const std::uint32_t found = is_vector ? slopes.count : 1;
      if (found != axes && found != padded) {
        fail(slopes, "found " + std::to_string(found) + " slopes, expected " + std::to_string(axes));
      }
      for (std::uint32_t k = 0; k < axes; ++k) {
        set_source(d, kRest + side * axes + k,
                   source(is_vector ? text_.nodes[slopes.first + k] : slopes, Type::kF32));
      }
    }
  }
  results(d, operand(0));
  emit(d);
}

void Lowering::image_query(const Operation& operation) {
  need_operands(2, 2);
  DraftInstruction d = draft(operation.instruction);
  const Node& address = operand(1);
  if (address.kind != Node::Kind::kAddress || address.count != 1) fail(address, "expected [object]");
  set_source(d, 0,
             image_object(text_.nodes[address.first],
                          d.fixed.op == Opcode::kTxq ? Opaque::kTexture : Opaque::kSurface));
  results(d, operand(0));
  emit(d);
}

void Lowering::surface_load(const Operation& operation) {
  need_operands(2, 2);
  DraftInstruction d = draft(operation.instruction);
  const Node& address = operand(1);
  coordinates(d, text_.nodes[address.first + image_address(d, address, Opaque::kSurface)]);
  results(d, operand(0));
  emit(d);
}

void Lowering::surface_store(const Operation& operation) {
  need_operands(2, 2);
  DraftInstruction d = draft(operation.instruction);
  const Node& address = operand(0);
  coordinates(d, text_.nodes[address.first + image_address(d, address, Opaque::kSurface)]);
  const Node& data = operand(1);
  const bool is_vector = data.kind == Node::Kind::kVector;
  const std::uint32_t found = is_vector ? data.count : 1;
  if (found != d.fixed.vector) {
    fail(data, "found " + std::to_string(found) + " values, expected " + std::to_string(d.fixed.vector));
  }
  for (std::uint32_t k = 0; k < found; ++k) {
    const Node& node = is_vector ? text_.nodes[data.first + k] : data;
    const std::optional<Register> reg = find_register(node);
    if (reg) {
      check_type(node, reg->type, d.fixed.type, bytes_of(d.fixed.type) == 1);
      if (rows_of(reg->type) > rows_of(d.fixed.type)) fail(node, "the register is too wide");
      set_source(d, kRest + k, of(reg->id, d.fixed.type));
    } else {
      set_source(d, kRest + k, source(node, d.fixed.type));
    }
  }
  emit(d);
}

}  // namespace weft::ptx
