// The syntax tree of a module: flat arrays that refer to the text by offset, so that parsing allocates little
// and a place in the text is always at hand.
#ifndef WEFT_PTX_SYNTAX_H
#define WEFT_PTX_SYNTAX_H

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "weft/common/error.h"
#include "weft/ptx/module.h"

namespace weft::ptx {

// A piece of the module's text.
struct Extent {
  std::uint32_t at = 0, length = 0;
};

struct Number {
  enum class Kind : std::uint8_t { kSigned, kUnsigned, kF32, kF64 };
  Kind kind = Kind::kSigned;
  std::uint64_t bits = 0;
};

// An operand or an element of an initialiser.
struct Node {
  enum class Kind : std::uint8_t {
    kName,     // text (also with a component: %tid.x); number.bits = addend (has_addend)
    kLiteral,  // number
    kAddress,  // [child, ...]
    kVector,   // {child, ...}
    kList,     // (child, ...) of a call, {child, ...} of an initialiser
    kPair,     // child|child
    kGeneric,  // generic(text) + number.bits, in initialisers
    kMasked,   // number(child): some bytes of an address, in initialisers
  };
  Kind kind = Kind::kName;
  bool negated = false;     // !text
  bool has_addend = false;  // text+1
  bool subtracted = false;  // -text, of vmad
  // Of a vector named as a whole, which the tree has as {v.x, v.y, ...}: 1 to 4, the element. 0: text says
  // all.
  std::uint8_t component = 0;
  Number number;
  Extent text;
  std::uint32_t first = 0, count = 0;  // children, in ModuleText::nodes
};

enum class DeclarationSpace : std::uint8_t { kReg, kParam, kLocal, kShared, kGlobal, kConst, kOther };

struct Declaration {
  Extent name;
  DeclarationSpace space = DeclarationSpace::kReg;
  Type type = Type::kNone;  // kNone: opaque (.texref and such) or a type that nothing here can hold
  Opaque opaque = Opaque::kNone;
  std::uint8_t vector = 1;
  bool is_range = false;  // %r<count>
  bool is_extern = false, is_weak = false, is_visible = false;
  bool managed = false, wide_type = false;  // wide_type: .b128
  bool unsized = false;                     // name[]
  std::uint64_t count = 1;                  // registers of a range, or elements of an array
  std::uint64_t align = 0;                  // 0: natural
  std::vector<std::uint64_t> dimensions;
  std::uint32_t initial = UINT32_MAX;  // node
};

struct Statement {
  enum class Kind : std::uint8_t {
    kInstruction,
    kLabel,
    kOpen,
    kClose,
    kDeclaration,
    kLocation,
    kPrototype,  // .callprototype
    kTargets,    // .branchtargets, .calltargets
  };
  Kind kind = Kind::kInstruction;
  bool guard_negated = false;
  Extent text;              // opcode with its modifiers, or label
  Extent guard;             // length 0: none
  std::uint32_t at = 0;     // where the statement begins
  std::uint32_t first = 0;  // instruction: operands in nodes; others: index in the array of their kind
  std::uint32_t count = 0;
};

struct Location {
  std::uint32_t file = 0, line = 0, column = 0;
};

struct Function {
  bool is_entry = false, has_body = false, is_extern = false, is_weak = false, is_visible = false;
  Extent name;
  std::vector<Declaration> returns, parameters;
  std::uint32_t first = 0, count = 0;            // statements
  std::uint32_t first_node = 0, node_count = 0;  // every operand of the body
  std::array<std::uint32_t, 3> max_threads{};
  std::array<std::uint32_t, 3> required_threads{};
  std::uint32_t max_registers = 0, min_blocks = 0;  // .maxnreg, .minnctapersm; 0: not given
  bool needs_clusters = false;                      // .reqnctapercluster of more than one block
};

// The signature of an indirect call, and the targets of an indirect call or branch: both have the name of a
// label.
struct Prototype {
  Extent name;
  std::vector<Declaration> returns, parameters;
};
struct TargetList {
  Extent name;
  std::vector<Extent> targets;
};

// What a name at module scope stands for.
struct ModuleName {
  bool is_function = false;
  std::uint32_t index = 0;  // in ModuleText::functions (the body, if there is one) or Module::variables
};

struct ModuleText {
  std::string file, text;
  std::uint32_t version = 0;  // 100 times the major one, plus the minor one
  bool is_sm_1x = false;      // a target without subnormal numbers of f32
  std::vector<Node> nodes;
  std::vector<Declaration> declarations;  // of functions' bodies and of the module
  std::vector<Statement> statements;
  std::vector<Location> locations;
  std::vector<Function> functions;
  std::vector<Prototype> prototypes;
  std::vector<TargetList> target_lists;
  std::vector<std::uint32_t> globals;  // declarations at module scope
  struct Static {                      // .global or .const in a function
    std::uint32_t declaration = 0;
    Extent function;  // its name
  };
  std::vector<Static> static_declarations;
  std::unordered_map<std::uint32_t, std::uint32_t> statics;  // declaration -> index in Module::variables
  std::unordered_map<std::uint32_t, std::string> files;      // .file
  std::vector<std::uint32_t> line_starts;
  std::unordered_map<std::string_view, ModuleName> names;
  std::vector<std::uint32_t> shared_variables, local_variables;  // indices in Module::variables

  std::string_view view(Extent e) const { return std::string_view(text).substr(e.at, e.length); }
  std::string_view name(const Node& node) const { return view(node.text); }
  bool is_sink(const Node& node) const { return name(node) == "_"; }
  const Node& child(const Node& node, std::uint32_t k) const { return nodes[node.first + k]; }
  // The elements of a vector. Anything else is its only element.
  static std::uint32_t width(const Node& node) { return node.kind == Node::Kind::kVector ? node.count : 1; }
  const Node& element(const Node& node, std::uint32_t k) const {
    return node.kind == Node::Kind::kVector ? child(node, k) : node;
  }
  void index_lines();  // makes `place` fast
  // Line and column (bytes, both from 1) of an offset.
  SourcePlace place(std::uint32_t at) const;
  std::string where(std::uint32_t at) const;  // "file:line:column"
  // The text from `at` to the next semicolon, on one line, shortened.
  std::string statement_text(std::uint32_t at) const;
  [[noreturn]] void fail(std::uint32_t at, const std::string& what) const {
    throw InputError(where(at), what);
  }
};

}  // namespace weft::ptx

#endif
