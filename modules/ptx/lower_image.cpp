// Textures and surfaces: [object, sampler, {layer, coordinates}].
#include <optional>
#include <string>

#include "ptx/lower_rules.h"

namespace weft::ptx {
namespace {

// Places of operands, as program.h says.
constexpr std::size_t kSampler = 1, kLayer = 2, kCoordinates = 3, kRest = 6;

const char* name_of(Opaque opaque) {
  return opaque == Opaque::kTexture ? ".texref" : opaque == Opaque::kSurface ? ".surfref" : ".samplerref";
}

// A 64-bit register, the name of a reference (its address then stands for it), or a parameter that holds one.
Source image_object(Lowering& f, const Node& node, Opaque wanted) {
  if (node.kind == Node::Kind::kName && !f.operands.find_register(node)) {
    const std::string name(f.text.name(node));
    const Meaning meaning = f.operands.meaning(node);
    if (meaning.kind != Meaning::Kind::kAddress || meaning.opaque != wanted) {
      f.code.fail(node, "'" + name + "' is neither a 64-bit register nor a " + name_of(wanted));
    }
    if (meaning.space != Space::kParam) return f.code.constant(meaning.address, Type::kU64);
    DraftInstruction d = f.code.draft(Opcode::kLd, Type::kU64);
    d.fixed.unit = Unit::kMemory;
    d.fixed.space = Space::kParam;
    d.fixed.constant_cache = true;
    d.fixed.offset = static_cast<std::int64_t>(meaning.address);
    const VirtualId id = f.code.temporary(Type::kU64);
    set_destination(d, 0, id, Type::kU64);
    f.code.emit(d);
    return source_of(id, Type::kU64);
  }
  return f.operands.source(node, Type::kU64);
}

// A scalar or a vector; vectors of three coordinates have a fourth element that does not count, and those of
// textures may have two or four elements where fewer count. A layer comes first.
void set_coordinates(Lowering& f, DraftInstruction& d, const Node& node) {
  const ImageAccess& image = d.fixed.image;
  const Type type = image.integer_coordinates ? Type::kS32 : Type::kF32;
  const std::uint32_t axes = image.axes(), used = axes + (image.layered ? 1 : 0);
  const std::uint32_t found = ModuleText::width(node);
  const std::uint32_t padded = used == 3 ? 4 : used;
  const bool texture = d.fixed.op == Opcode::kTex || d.fixed.op == Opcode::kTld4;
  const bool more = texture && found > used && (found == 2 || found == 4);
  if (found != used && found != padded && !more) {
    f.code.fail(node, "found " + std::to_string(found) + " coordinates, expected " + std::to_string(used) +
                          (padded != used ? " or " + std::to_string(padded) : ""));
  }
  std::uint32_t k = 0;
  if (image.layered) f.operands.read(d, kLayer, f.text.element(node, k++), Type::kU32);
  for (std::uint32_t axis = 0; axis < axes; ++axis) {
    f.operands.read(d, kCoordinates + axis, f.text.element(node, k++), type);
  }
}

// Reads the operand in brackets up to the coordinates, which it returns.
const Node& set_image_address(Lowering& f, DraftInstruction& d, const Node& node, Opaque wanted) {
  const std::uint32_t most = wanted == Opaque::kTexture ? 3 : 2;
  if (node.kind != Node::Kind::kAddress || node.count < 2 || node.count > most) {
    f.code.fail(node, wanted == Opaque::kTexture
                          ? "expected [texture, {coordinates}] or [texture, sampler, {coordinates}]"
                          : "expected [surface, {coordinates}]");
  }
  set_source(d, 0, image_object(f, f.text.child(node, 0), wanted));
  if (node.count == 3) {
    d.fixed.image.has_sampler = true;
    set_source(d, kSampler, image_object(f, f.text.child(node, 1), Opaque::kSampler));
  }
  return f.text.child(node, node.count - 1);
}

// Registers may be wider than a narrow type.
void check_texel(const Lowering& f, const Node& node, Type declared, Type type) {
  f.operands.check_type(node, declared, type, bytes_of(type) == 1);
  if (rows_of(declared) > rows_of(type)) f.code.fail(node, "the register is too wide");
}

// `vector` destinations, in braces or (one of them) bare.
void set_texels(Lowering& f, DraftInstruction& d, const Node& node) {
  const std::uint32_t found = ModuleText::width(node);
  if (found != d.fixed.vector) {
    f.code.fail(
        node, "found " + std::to_string(found) + " destinations, expected " + std::to_string(d.fixed.vector));
  }
  for (std::uint32_t k = 0; k < found; ++k) {
    const Node& element = f.text.element(node, k);
    if (f.text.is_sink(element)) continue;
    const Operands::Register reg = f.operands.need_register(element);
    if (element.has_addend) f.code.fail(element, "expected a register to write");
    check_texel(f, element, reg.type, d.fixed.type);
    set_destination(d, k, reg.id, d.fixed.type);
  }
}

}  // namespace

void lower_texture(Lowering& f, const Operation& operation) {
  using Detail = ImageAccess::Detail;
  const ImageAccess& image = operation.instruction.image;
  const std::uint32_t more = image.detail == Detail::kBase ? 0 : image.detail == Detail::kLevel ? 1 : 2;
  if (f.operands.count() > 2 + more) {
    f.code.fail("found " + std::to_string(f.operands.count()) + " operands, expected " +
                std::to_string(2 + more) + "; offsets and depth comparison are not executable yet");
  }
  f.operands.need(2 + more);
  DraftInstruction d = f.code.draft(operation.instruction);
  set_coordinates(f, d, set_image_address(f, d, f.operands[1], Opaque::kTexture));
  if (image.detail == Detail::kLevel) f.operands.read(d, kRest, f.operands[2], Type::kF32);
  if (image.detail == Detail::kGradient) {
    const std::uint32_t axes = image.axes(), padded = axes == 3 ? 4 : axes;
    for (std::uint32_t side = 0; side < 2; ++side) {
      const Node& slopes = f.operands[2 + side];
      const std::uint32_t found = ModuleText::width(slopes);
      if (found != axes && found != padded) {
        f.code.fail(slopes, "found " + std::to_string(found) + " slopes, expected " + std::to_string(axes));
      }
      for (std::uint32_t k = 0; k < axes; ++k) {
        f.operands.read(d, kRest + side * axes + k, f.text.element(slopes, k), Type::kF32);
      }
    }
  }
  const Node& to = f.operands[0];
  const bool asks = to.kind == Node::Kind::kPair;
  set_texels(f, d, asks ? f.text.child(to, 0) : to);
  f.code.emit(d);
  if (!asks) return;
  // 9.7.10.3: whether the texels are in memory. Weft has no sparse textures, so they are.
  DraftInstruction resident = f.code.draft(Opcode::kSetp, Type::kB32);
  resident.fixed.compare = Compare::kEq;
  resident.fixed.latency = Latency::kIntAdd;
  for (std::uint32_t i = 0; i < 2; ++i) set_source(resident, i, f.code.constant(0, Type::kB32));
  f.operands.write(resident, 0, f.text.child(to, 1), Type::kPred);
  f.code.emit(resident);
}

void lower_image_query(Lowering& f, const Operation& operation) {
  f.operands.need(2);
  DraftInstruction d = f.code.draft(operation.instruction);
  const Node& address = f.operands[1];
  if (address.kind != Node::Kind::kAddress || address.count != 1) f.code.fail(address, "expected [object]");
  set_source(d, 0,
             image_object(f, f.text.child(address, 0),
                          d.fixed.op == Opcode::kTxq ? Opaque::kTexture : Opaque::kSurface));
  set_texels(f, d, f.operands[0]);
  f.code.emit(d);
}

void lower_surface_load(Lowering& f, const Operation& operation) {
  f.operands.need(2);
  DraftInstruction d = f.code.draft(operation.instruction);
  set_coordinates(f, d, set_image_address(f, d, f.operands[1], Opaque::kSurface));
  set_texels(f, d, f.operands[0]);
  f.code.emit(d);
}

void lower_surface_store(Lowering& f, const Operation& operation) {
  f.operands.need(2);
  DraftInstruction d = f.code.draft(operation.instruction);
  set_coordinates(f, d, set_image_address(f, d, f.operands[0], Opaque::kSurface));
  const Node& data = f.operands[1];
  const std::uint32_t found = ModuleText::width(data);
  if (found != d.fixed.vector) {
    f.code.fail(data,
                "found " + std::to_string(found) + " values, expected " + std::to_string(d.fixed.vector));
  }
  for (std::uint32_t k = 0; k < found; ++k) {
    const Node& node = f.text.element(data, k);
    const std::optional<Operands::Register> reg = f.operands.find_register(node);
    if (reg) {
      check_texel(f, node, reg->type, d.fixed.type);
      set_source(d, kRest + k, f.operands.with_addend(node, *reg));
    } else {
      f.operands.read(d, kRest + k, node, d.fixed.type);
    }
  }
  f.code.emit(d);
}

}  // namespace weft::ptx
