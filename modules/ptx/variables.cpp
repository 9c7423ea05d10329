#include "ptx/variables.h"

#include <cstring>
#include <string>
#include <unordered_map>
#include <utility>

#include "ptx/types.h"
#include "weft/ptx/limits.h"

namespace weft::ptx {
namespace {

constexpr std::uint64_t kAddressBytes = 8;

// Writes one initialiser into a variable's bytes.
class InitialWriter {
 public:
  InitialWriter(const ModuleText& text, const Declaration& declaration, Variable& variable)
      : text_(text), declaration_(declaration), variable_(variable), element_(bytes_of(variable.type)) {}

  void write(const Node& node) {
    if (node.kind == Node::Kind::kList) {
      write_list(node, 0, 0, variable_.size / element_);
    } else {
      write_element(node, 0);
    }
    finish_mask();
  }

 private:
  // Elements from `index`, at most `count` of them; inner braces fill one row of the next dimension.
  void write_list(const Node& list, std::size_t level, std::uint64_t index, std::uint64_t count) {
    const auto& dimensions = declaration_.dimensions;
    std::uint64_t row = 1;
    for (std::size_t i = level + 1; i < dimensions.size(); ++i) row *= dimensions[i];
    row *= declaration_.vector;
    const std::uint64_t end = index + count;
    for (std::uint32_t i = 0; i < list.count; ++i) {
      const Node& child = text_.nodes[list.first + i];
      const bool nested = child.kind == Node::Kind::kList;
      const std::uint64_t take = nested ? row : 1;
      if (index + take > end) fail(child, "the initialiser has more elements than the variable");
      if (nested) {
        write_list(child, level + 1, index, row);
      } else {
        write_element(child, index);
      }
      index += take;
    }
  }

  void write_element(const Node& node, std::uint64_t index) {
    const std::uint64_t offset = index * element_;
    if (node.kind != Node::Kind::kMasked) finish_mask();
    switch (node.kind) {
      case Node::Kind::kLiteral: {
        const std::uint64_t bits = literal_bits(node);
        std::memcpy(variable_.initial.data() + offset, &bits, element_);
        break;
      }
      case Node::Kind::kName:
      case Node::Kind::kGeneric:
        if (element_ != kAddressBytes) fail(node, "an address needs an element of 8 bytes");
        relocate(offset, node);
        break;
      case Node::Kind::kMasked:
        write_masked(node, offset);
        break;
      default:
        fail(node, "expected a constant or an address");
    }
  }

  std::uint64_t literal_bits(const Node& node) const {
    const Number n = node.number;
    const Type type = variable_.type;
    if (type == Type::kF32 || type == Type::kF64) return float_bits(n, type == Type::kF64);
    if (n.kind == Number::Kind::kF32 || n.kind == Number::Kind::kF64) {
      const bool same = bytes_of(type) == (n.kind == Number::Kind::kF32 ? 4u : 8u);
      if (!same || !(type == Type::kB32 || type == Type::kB64))
        fail(node, "a floating-point number in an integer variable");
    }
    return n.bits;
  }

  static std::uint64_t float_bits(Number n, bool wide) {
    double value = 0;
    if (n.kind == Number::Kind::kF32) {
      if (!wide) return n.bits;
      float single;
      const auto bits = static_cast<std::uint32_t>(n.bits);
      std::memcpy(&single, &bits, sizeof single);
      value = single;
    } else if (n.kind == Number::Kind::kF64) {
      std::memcpy(&value, &n.bits, sizeof value);
    } else {
      value = n.kind == Number::Kind::kSigned ? static_cast<double>(static_cast<std::int64_t>(n.bits))
                                              : static_cast<double>(n.bits);
    }
    std::uint64_t bits = 0;
    if (wide) {
      std::memcpy(&bits, &value, sizeof value);
    } else {
      const auto single = static_cast<float>(value);
      std::memcpy(&bits, &single, sizeof single);
    }
    return bits;
  }

  void relocate(std::uint64_t offset, const Node& node) {
    Variable::Relocation relocation;
    relocation.offset = offset;
    relocation.symbol = text_.view(node.text);
    relocation.addend = static_cast<std::int64_t>(node.number.bits);
    relocation.generic = node.kind == Node::Kind::kGeneric;
    variable_.relocations.push_back(std::move(relocation));
  }

  // Byte k of an address is written as (0xff << 8k)(symbol); clang writes packed structures so, all eight
  // bytes in a row, which together are one relocation.
  void write_masked(const Node& node, std::uint64_t offset) {
    const Node& symbol = text_.nodes[node.first];
    if (mask_bytes_ != 0 && text_.view(symbol.text) != text_.view(masked_->text)) finish_mask();
    if (mask_bytes_ == 0) {
      masked_ = &symbol;
      mask_begin_ = offset;
    }
    if (element_ != 1 || node.number.bits != 0xffull << (8 * mask_bytes_)) {
      fail(symbol, "expected the eight bytes of an address in order: 0xff(...), 0xff00(...) and so on");
    }
    if (++mask_bytes_ == kAddressBytes) {
      relocate(mask_begin_, symbol);
      mask_bytes_ = 0;
    }
  }

  void finish_mask() {
    if (mask_bytes_ != 0) fail(*masked_, "only some bytes of an address are given; Weft needs all eight");
  }

  [[noreturn]] void fail(const Node& node, const std::string& what) const { text_.fail(node.text.at, what); }

  const ModuleText& text_;
  const Declaration& declaration_;
  Variable& variable_;
  std::uint64_t element_;
  const Node* masked_ = nullptr;
  unsigned mask_bytes_ = 0;
  std::uint64_t mask_begin_ = 0;
};

// The fields of a .samplerref's initial value (5.3): addr_mode_0 .. 2, filter_mode,
// force_unnormalized_coords.
class SamplerReader {
 public:
  SamplerReader(const ModuleText& text, SamplerState& sampler) : text_(text), sampler_(sampler) {}

  void read(const Node& list) {
    if (list.kind != Node::Kind::kList) fail(list, "expected { addr_mode_0 = clamp_to_edge, ... }");
    for (std::uint32_t i = 0; i < list.count; ++i) {
      const Node& field = text_.nodes[list.first + i];
      if (field.kind != Node::Kind::kPair) fail(field, "expected a field such as filter_mode = nearest");
      read_field(text_.nodes[field.first], text_.nodes[field.first + 1]);
    }
  }

 private:
  void read_field(const Node& key, const Node& value) {
    const std::string_view name = text_.view(key.text);
    if (name.size() == 11 && name.substr(0, 10) == "addr_mode_" && name[10] >= '0' && name[10] <= '2') {
      sampler_.address[static_cast<std::size_t>(name[10] - '0')] = address(value);
    } else if (name == "filter_mode") {
      const std::string_view word = text_.view(value.text);
      if (word != "nearest" && word != "linear") fail(value, "expected nearest or linear");
      sampler_.linear = word == "linear";
    } else if (name == "force_unnormalized_coords") {
      if (value.kind != Node::Kind::kLiteral || value.number.bits > 1) fail(value, "expected 0 or 1");
      sampler_.normalized_coordinates = value.number.bits == 0;
    } else {
      fail(key,
           "found the field '" + std::string(name) +
               "', expected addr_mode_0, addr_mode_1, addr_mode_2, filter_mode or force_unnormalized_coords");
    }
  }

  SamplerState::Address address(const Node& value) const {
    const std::string_view word = text_.view(value.text);
    if (word == "wrap") return SamplerState::Address::kWrap;
    if (word == "mirror") return SamplerState::Address::kMirror;
    if (word == "clamp_ogl" || word == "clamp_to_edge") return SamplerState::Address::kClamp;
    if (word == "clamp_to_border") return SamplerState::Address::kBorder;
    fail(value, "expected wrap, mirror, clamp_ogl, clamp_to_edge or clamp_to_border");
  }

  [[noreturn]] void fail(const Node& node, const std::string& what) const { text_.fail(node.text.at, what); }

  const ModuleText& text_;
  SamplerState& sampler_;
};

Space space_of(DeclarationSpace space) {
  switch (space) {
    case DeclarationSpace::kConst:
      return Space::kConst;
    case DeclarationSpace::kShared:
      return Space::kShared;
    case DeclarationSpace::kLocal:
      return Space::kLocal;
    case DeclarationSpace::kParam:
      return Space::kParam;
    default:
      return Space::kGlobal;
  }
}

}  // namespace

std::uint64_t variable_bytes(const ModuleText& text, const Declaration& declaration) {
  std::uint64_t count = declaration.count;
  if (declaration.unsized) {
    // name[] = {...}: the first dimension is the number of elements written.
    count = declaration.initial == UINT32_MAX ? 0 : text.nodes[declaration.initial].count * declaration.count;
  }
  return count * element_bytes(declaration);
}

namespace {

Variable make_variable(const ModuleText& text, const Declaration& declaration) {
  Variable variable;
  variable.name = text.view(declaration.name);
  variable.space = space_of(declaration.space);
  variable.type = declaration.type == Type::kNone ? Type::kB64 : declaration.type;
  variable.size = variable_bytes(text, declaration);
  variable.align = natural_alignment(declaration);
  variable.is_extern = declaration.is_extern;
  variable.is_weak = declaration.is_weak;
  variable.is_visible = declaration.is_visible;
  variable.managed = declaration.managed;
  variable.opaque = declaration.opaque;
  if (declaration.opaque == Opaque::kSampler && declaration.initial != UINT32_MAX) {
    SamplerReader(text, variable.sampler).read(text.nodes[declaration.initial]);
  } else if (declaration.opaque != Opaque::kNone && declaration.initial != UINT32_MAX) {
    text.fail(declaration.name.at,
              "only a .samplerref can have an initialiser; textures and surfaces are bound");
  } else if (declaration.initial != UINT32_MAX) {
    const std::uint32_t at = declaration.name.at;
    if (variable.space != Space::kGlobal && variable.space != Space::kConst) {
      text.fail(at, "only .global and .const variables can have an initialiser");
    }
    if (variable.size > kMaxInitialBytes) {
      text.fail(at, "an initialised variable has at most " + std::to_string(kMaxInitialBytes) + " bytes");
    }
    if (bytes_of(variable.type) == 0) text.fail(at, "this type cannot have an initialiser");
    variable.initial.assign(variable.size, 0);
    InitialWriter(text, declaration, variable).write(text.nodes[declaration.initial]);
  }
  return variable;
}

}  // namespace

void add_statics(ModuleText& text, std::vector<Variable>& variables) {
  std::unordered_map<std::string, unsigned> uses;
  std::unordered_map<std::string_view, std::string> names;  // of the function
  std::uint32_t function = UINT32_MAX;
  for (const ModuleText::Static& each : text.static_declarations) {
    if (each.function.at != function) names.clear();
    function = each.function.at;
    const Declaration& declaration = text.declarations[each.declaration];
    if (declaration.opaque != Opaque::kNone) {
      text.fail(declaration.name.at,
                "textures, surfaces and samplers are declared at module scope or as parameters");
    }
    Variable variable = make_variable(text, declaration);
    for (Variable::Relocation& relocation : variable.relocations) {
      const auto known = names.find(relocation.symbol);
      if (known != names.end()) relocation.symbol = known->second;
    }
    variable.name = std::string(text.view(each.function)) + '.' + variable.name;
    const unsigned number = ++uses[variable.name];
    if (number > 1) variable.name += '.' + std::to_string(number);
    names[text.view(declaration.name)] = variable.name;
    text.statics.emplace(each.declaration, static_cast<std::uint32_t>(variables.size()));
    variables.push_back(std::move(variable));
  }
}

void add_variable(ModuleText& text, const Declaration& declaration, std::vector<Variable>& variables) {
  Variable variable = make_variable(text, declaration);
  const auto index = static_cast<std::uint32_t>(variables.size());
  const auto [known, added] = text.names.emplace(text.view(declaration.name), ModuleName{false, index});
  if (added) {
    if (variable.space == Space::kShared) text.shared_variables.push_back(index);
    if (variable.space == Space::kLocal) text.local_variables.push_back(index);
    variables.push_back(std::move(variable));
  } else if (!known->second.is_function && variables[known->second.index].is_extern) {
    const bool space_differs = variables[known->second.index].space != variable.space;
    if (space_differs)
      text.fail(declaration.name.at, "the .extern declaration of this variable names another state space");
    variables[known->second.index] = std::move(variable);
  }
}

}  // namespace weft::ptx
