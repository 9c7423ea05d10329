// The declaration part of Builder: variables, registers and parameters, with the limits on them.
#include <algorithm>

#include "ptx/builder.h"
#include "ptx/types.h"
#include "weft/ptx/limits.h"

namespace weft::ptx {

void Builder::linkage(std::string_view word) {
  if (word.compare(0, 7, ".extern") == 0) extern_ = true;
  if (word.compare(0, 8, ".visible") == 0) visible_ = true;
  if (word.compare(0, 5, ".weak") == 0 || word.compare(0, 7, ".common") == 0) weak_ = true;
}

void Builder::begin_declaration(DeclarationSpace space) {
  base_ = Declaration();
  base_.space = space;
  pointer_ = false;
  integers_.clear();
}

void Builder::property(std::string_view word) {
  const std::string_view name = word.substr(1);
  if (name == "ptr") {
    pointer_ = true;
  } else if (pointer_ && (name == "global" || name == "shared" || name == "const" || name == "local")) {
    // .ptr's space is a promise about the argument; nothing here needs it.
  } else if (name == "v2" || name == "v4" || name == "v8") {
    base_.vector = static_cast<std::uint8_t>(name[1] - '0');
  } else if (name == "texref" || name == "samplerref" || name == "surfref") {
    if (!pointer_) base_.type = Type::kNone;  // clang: .param .u64 .ptr .texref
    base_.opaque = name == "texref"    ? Opaque::kTexture
                   : name == "surfref" ? Opaque::kSurface
                                       : Opaque::kSampler;
  } else if (const Type type = type_of(name); type != Type::kNone && type <= Type::kF64) {
    base_.type = type;
  } else if (name == "b128") {
    base_.type = Type::kB64;
    base_.wide_type = true;
  } else {
    fail(word, "found '" + std::string(word) + "', expected a type such as .u32, .align, .ptr or .attribute");
  }
}

void Builder::align() {
  const std::uint64_t align = integers_.back();
  integers_.clear();
  if (align == 0 || align > kMaxAlignment || (align & (align - 1)) != 0) {
    fail(number_at, "found .align " + std::to_string(align) + ", expected a power of two up to " +
                        std::to_string(kMaxAlignment));
  }
  if (!pointer_) base_.align = align;  // after .ptr: of what the argument points to
}

void Builder::attribute(std::string_view word) {
  if (word == ".managed") base_.managed = true;
}

void Builder::declared(std::string_view name) {
  declarator_ = base_;
  if (base_.space == DeclarationSpace::kOther) {  // .tex .u64 t of PTX 1.x is .global .texref t
    declarator_.type = Type::kNone;
    declarator_.opaque = Opaque::kTexture;
  }
  declarator_.name = extent(name);
  declarator_.is_extern = extern_;
  declarator_.is_weak = weak_;
  declarator_.is_visible = visible_;
}

void Builder::range() {
  declarator_.count = count("the number of registers");
  declarator_.is_range = true;
}

void Builder::dimension() {
  const std::uint64_t size = integers_.back();
  integers_.clear();
  declarator_.dimensions.push_back(size);
  std::uint64_t product = 0;
  if (__builtin_mul_overflow(declarator_.count, size, &product)) fail(number_at, "the array is too large");
  declarator_.count = product;
}

void Builder::initial() {
  declarator_.initial = static_cast<std::uint32_t>(result_->nodes.size());
  result_->nodes.push_back(stack_.back());
  stack_.clear();
}

void Builder::declarator() {
  check_size(declarator_);
  const std::string_view name = result_->view(declarator_.name);
  if (in_function_) {
    define(scopes_.back().names, name, declarator_.space == DeclarationSpace::kReg ? "register" : "variable");
    if (declarator_.space == DeclarationSpace::kReg) check_ranges(declarator_), add_vector(declarator_);
  } else {
    if (declarator_.space == DeclarationSpace::kReg) {
      fail(name, "registers at module scope are not supported; declare them in the function");
    }
    // With the calling convention of PTX 3.0 a thread's stack took the place of such variables.
    if (declarator_.space == DeclarationSpace::kLocal && version_number() >= 300)
      fail(name, "a .local variable at module scope needs PTX below 3.0; declare it in the function");
    if (!declarator_.is_extern) define(globals_, name, "symbol");
    result_->globals.push_back(static_cast<std::uint32_t>(result_->declarations.size()));
  }
  if (in_function_) {
    Statement statement;
    statement.kind = Statement::Kind::kDeclaration;
    statement.at = declarator_.name.at;
    statement.first = static_cast<std::uint32_t>(result_->declarations.size());
    result_->statements.push_back(statement);
    const bool outlives =
        declarator_.space == DeclarationSpace::kGlobal || declarator_.space == DeclarationSpace::kConst;
    if (outlives) result_->static_declarations.push_back({statement.first, function_.name});
  }
  result_->declarations.push_back(std::move(declarator_));
}

void Builder::end_declaration() {
  extern_ = weak_ = visible_ = false;
}

void Builder::parameter() {
  check_size(declarator_);
  pending_.push_back(std::move(declarator_));
}

void Builder::check_size(const Declaration& declaration) {
  const std::string_view name = result_->view(declaration.name);
  if (declaration.space == DeclarationSpace::kReg) {
    registers_ += declaration.count > kMaxDeclaredRegisters ? kMaxDeclaredRegisters + 1
                                                            : declaration.count * declaration.vector;
    if (registers_ > kMaxDeclaredRegisters) {
      fail(name,
           "more than " + std::to_string(kMaxDeclaredRegisters) + " registers declared in one function");
    }
    if (declaration.type == Type::kNone) fail(name, "the register has no type");
    if (declaration.vector > 1 && (declaration.type == Type::kPred || element_bytes(declaration) > 16)) {
      fail(name, "found a vector register of " + std::to_string(declaration.vector) + " x ." +
                     name_of(declaration.type) + "; allowed: .v2 and .v4 of at most 128 bits");
    }
    return;
  }
  std::uint64_t limit = kMaxGlobalBytes;
  const char* space = ".global";
  switch (declaration.space) {
    case DeclarationSpace::kShared:
      limit = kMaxSharedBytes, space = ".shared";
      break;
    case DeclarationSpace::kLocal:
      limit = kMaxLocalBytes, space = ".local";
      break;
    case DeclarationSpace::kConst:
      limit = kMaxConstBytes, space = ".const";
      break;
    case DeclarationSpace::kParam:
      limit = kMaxParameterBytes, space = ".param";
      break;
    default:
      break;
  }
  const std::uint64_t element = element_bytes(declaration);
  if (declaration.count > limit / std::max<std::uint64_t>(element, 1)) {
    fail(name, "'" + std::string(name) + "' is larger than the " + std::to_string(limit) +
                   " bytes allowed in " + space);
  }
}

void Builder::add_vector(const Declaration& declaration) {
  if (declaration.space != DeclarationSpace::kReg || declaration.vector == 1) return;
  has_vectors_ = true;
  Scope& scope = scopes_.back();
  (declaration.is_range ? scope.vector_ranges : scope.vectors)
      .emplace(result_->view(declaration.name), declaration.vector);
}

void Builder::define(Names& names, std::string_view name, const char* what) {
  if (name == "_") return;
  if (!names.insert(name).second)
    fail(name, std::string(what) + " '" + std::string(name) + "' is declared twice");
}

// %r<8> declares %r0 to %r7, so a %r7 beside it is a second declaration. A range is held against the names of
// its scope by whichever are fewer, its numbers or the names, so that all ranges together cost no more than
// there are registers.
void Builder::check_ranges(const Declaration& declaration) {
  Scope& scope = scopes_.back();
  const std::string_view name = result_->view(declaration.name);
  const auto check = [&](std::string_view at, std::string_view numbered) {
    std::size_t digits = numbered.size();
    while (digits > 0 && '0' <= numbered[digits - 1] && numbered[digits - 1] <= '9') --digits;
    const bool leading_zero = digits + 1 < numbered.size() && numbered[digits] == '0';
    if (digits == numbered.size() || leading_zero) return;
    const auto range = scope.ranges.find(numbered.substr(0, digits));
    if (range == scope.ranges.end()) return;
    std::uint64_t number = 0;
    for (; digits < numbered.size() && number < kMaxDeclaredRegisters; ++digits) {
      number = 10 * number + static_cast<std::uint64_t>(numbered[digits] - '0');
    }
    if (number < range->second) fail(at, "register '" + std::string(numbered) + "' is declared twice");
  };
  if (!declaration.is_range) return check(name, name);
  scope.ranges.emplace(name, declaration.count);
  if (scope.names.size() <= declaration.count) {
    for (const std::string_view other : scope.names) check(name, other);
    return;
  }
  std::string numbered;
  for (std::uint64_t number = 0; number < declaration.count; ++number) {
    numbered.assign(name).append(std::to_string(number));
    if (scope.names.count(numbered) != 0) check(name, numbered);
  }
}

}  // namespace weft::ptx
