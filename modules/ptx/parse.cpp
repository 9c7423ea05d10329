// From the grammar to the syntax tree: what each rule does, and what a mismatch says.
#include <algorithm>

#include "ptx/builder.h"
#include "ptx/grammar.h"
#include "ptx/variables.h"
#include "weft/ptx/limits.h"
#include "weft/ptx/module.h"

namespace weft::ptx {
namespace {

namespace g = grammar;
namespace peg = tao::pegtl;

// --- what was expected where `must` fails ---

template <class Rule>
struct Expected;
#define WEFT_EXPECT(RULE, TEXT)                \
  template <>                                  \
  struct Expected<g::RULE> {                   \
    static constexpr const char* kText = TEXT; \
  }
WEFT_EXPECT(Semicolon, "',' or ';'");
WEFT_EXPECT(OperandsEnd, "an operand, ',' or ';'");
WEFT_EXPECT(CloseBrace, "',' or '}'");
WEFT_EXPECT(CloseBracket, "',', an offset or ']'");
WEFT_EXPECT(OpenParen, "'('");
WEFT_EXPECT(CloseParen, "',' or ')'");
WEFT_EXPECT(ExpressionEnd, "an operator or ')'");
WEFT_EXPECT(CloseAngle, "'>'");
WEFT_EXPECT(Colon, "':'");
WEFT_EXPECT(StringEnd, "a closing '\"' on the same line");
WEFT_EXPECT(NumberEnd, "the end of the number");
WEFT_EXPECT(Nested<g::Expression>, "a constant");
WEFT_EXPECT(Primary, "a constant");
WEFT_EXPECT(Unary, "a constant");
WEFT_EXPECT(AddendValue, "a constant");
WEFT_EXPECT(Integer, "an integer");
WEFT_EXPECT(PlainName, "a register");
WEFT_EXPECT(Operand, "an operand");
WEFT_EXPECT(CallOperand, "a function or its arguments");
WEFT_EXPECT(Identifier, "a name");
WEFT_EXPECT(Operation, "an instruction");
WEFT_EXPECT(String, "a string");
WEFT_EXPECT(FilePath, "the file's name in quotes");
WEFT_EXPECT(AttributeItem, "an attribute such as .managed");
WEFT_EXPECT(DeclaredName, "a type, a property or the name to declare");
WEFT_EXPECT(Declarator, "a type, a property or the name to declare");
WEFT_EXPECT(Declaration, "a state space such as .global");
WEFT_EXPECT(Initialiser, "a constant, an address or '{'");
WEFT_EXPECT(Nested<g::Initialiser>, "a constant, an address or '{'");
WEFT_EXPECT(SymbolName, "a symbol");
WEFT_EXPECT(Symbol, "a symbol");
WEFT_EXPECT(LocName, "a label");
WEFT_EXPECT(LocDetail, "function_name or inlined_at");
WEFT_EXPECT(ListedName, "a name");
WEFT_EXPECT(TargetName, "a label or a function");
WEFT_EXPECT(PrototypeName, "a name such as _");
WEFT_EXPECT(PaddedSectionValue, "a number or a label");
WEFT_EXPECT(SectionName, "the section's name");
WEFT_EXPECT(SectionOpen, "'{'");
WEFT_EXPECT(Parameter, ".param or .reg");
WEFT_EXPECT(BodyDirective, "a directive that is allowed in a function");
WEFT_EXPECT(ScopeClose, "a statement or '}'");
WEFT_EXPECT(BodyClose, "a statement or '}'");
WEFT_EXPECT(BodyOrEnd, "a performance directive, '{' or ';'");
WEFT_EXPECT(BodyOrPrototypeEnd, "a performance directive, '{' or ';'");
WEFT_EXPECT(FunctionDeclaredName, "the function's name");
WEFT_EXPECT(VersionNumber, "a version such as 7.0");
WEFT_EXPECT(Version, ".version");
WEFT_EXPECT(AddressSizeValue, "32 or 64");
WEFT_EXPECT(ModuleSymbol, ".entry, .func or a state space such as .global");
WEFT_EXPECT(Item, "a directive such as .entry, .func or .global");
#undef WEFT_EXPECT

// The offending token, for a message.
std::string found(const char* at, const char* end) {
  if (at == end) return "the end of the file";
  if (end - at > 1 && at[0] == '/' && at[1] == '*') return "a comment without end";
  const char* p = at;
  const auto is_word = [](char c) {
    return ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') || ('0' <= c && c <= '9') || c == '_' ||
           c == '$' || c == '%' || c == '.';
  };
  while (p != end && p - at < 48 && is_word(*p)) ++p;
  if (p == at) ++p;
  std::string text;
  for (; at != p; ++at) {
    const auto c = static_cast<unsigned char>(*at);
    if (c >= 0x20 && c < 0x7f) {
      text += *at;
    } else {
      static constexpr const char* kHex = "0123456789abcdef";
      text += {'\\', 'x', kHex[c >> 4], kHex[c & 15]};
    }
  }
  return "'" + text + "'";
}

template <class Rule>
struct Control : peg::normal<Rule> {
  template <class Input>
  [[noreturn]] static void raise(const Input& in, Builder& b) {
    b.fail(in.current(), "found " + found(in.current(), in.end()) + ", expected " + Expected<Rule>::kText);
  }
};

// --- what each rule does ---

template <class Rule>
struct Action {};

#define WEFT_ON(RULE, DO)                                 \
  template <>                                             \
  struct Action<g::RULE> {                                \
    template <class Input>                                \
    static void apply(const Input& in, Builder& b) {      \
      const std::string_view text(in.begin(), in.size()); \
      static_cast<void>(text);                            \
      DO;                                                 \
    }                                                     \
  }

template <class Do>
void guarded(Builder& b, const char* at, Do what) {
  try {
    what();
  } catch (const ExpressionStack::Error& error) {
    b.fail(at, error.what);
  }
}

ExpressionStack::Operator binary_operator(std::string_view text) {
  using Op = ExpressionStack::Operator;
  static constexpr std::pair<std::string_view, Op> kOperators[] = {
      {"*", Op::kMultiply},    {"/", Op::kDivide},     {"%", Op::kRemainder},     {"+", Op::kAdd},
      {"-", Op::kSubtract},    {"<<", Op::kShiftLeft}, {">>", Op::kShiftRight},   {"<", Op::kLess},
      {"<=", Op::kLessEqual},  {">", Op::kGreater},    {">=", Op::kGreaterEqual}, {"==", Op::kEqual},
      {"!=", Op::kNotEqual},   {"&", Op::kAnd},        {"^", Op::kXor},           {"|", Op::kOr},
      {"&&", Op::kLogicalAnd}, {"||", Op::kLogicalOr}};
  for (const auto& [name, op] : kOperators) {
    if (name == text) return op;
  }
  return Op::kAdd;  // unreachable: the grammar knows no other
}

ExpressionStack::Operator unary_operator(char c) {
  using Op = ExpressionStack::Operator;
  return c == '-' ? Op::kNegate : c == '+' ? Op::kPlus : c == '!' ? Op::kNot : Op::kComplement;
}

WEFT_ON(ExpressionBegin, b.number_at = text.data(); b.expressions.begin());
WEFT_ON(Literal, guarded(b, text.data(), [&] { b.expressions.push(literal_value(text)); }));
WEFT_ON(UnaryOperator, b.expressions.prefix(unary_operator(text[0])));
WEFT_ON(CastSigned, b.expressions.prefix(ExpressionStack::Operator::kToSigned));
WEFT_ON(CastUnsigned, b.expressions.prefix(ExpressionStack::Operator::kToUnsigned));
WEFT_ON(BinaryOperator, guarded(b, text.data(), [&] { b.expressions.binary(binary_operator(text)); }));
WEFT_ON(Question, guarded(b, text.data(), [&] { b.expressions.question(); }));
WEFT_ON(Ternary, b.expressions.choose());
WEFT_ON(Expression, guarded(b, text.data(), [&] { b.expressions.end(); }));
WEFT_ON(AddendValue, guarded(b, text.data(), [&] { b.expressions.end(); }));

WEFT_ON(Name, b.name(text));
WEFT_ON(NegatedName, b.negate_name());
WEFT_ON(NegativeName, b.subtract_name());
WEFT_ON(Plus, b.addend(false));
WEFT_ON(Minus, b.addend(true));
WEFT_ON(PairTail, b.pair());
WEFT_ON(FieldValue, b.pair());
WEFT_ON(LiteralOperand, b.literal());
WEFT_ON(AddressOpen, b.open());
WEFT_ON(VectorOpen, b.open());
WEFT_ON(ListOpen, b.open());
WEFT_ON(InitialiserOpen, b.open());
WEFT_ON(Address, b.close_operand(Node::Kind::kAddress));
WEFT_ON(Vector, b.close_operand(Node::Kind::kVector));
WEFT_ON(CallList, b.close_operand(Node::Kind::kList));
WEFT_ON(InitialiserList, b.close(Node::Kind::kList));
WEFT_ON(SymbolName, b.generic_symbol(text));
WEFT_ON(MaskTail, b.masked());

WEFT_ON(Guard, b.guard(text));
WEFT_ON(Opcode, b.opcode(text));
WEFT_ON(CallOpcode, b.opcode(text));
WEFT_ON(Instruction, b.instruction(text.data()));
WEFT_ON(Label, b.label(text));
WEFT_ON(ScopeOpen, b.scope_open(text.data()));
WEFT_ON(ScopeClose, b.scope_close(text.data()));
WEFT_ON(Loc, b.location(text.data()));
WEFT_ON(FilePath, b.file_path(text));
WEFT_ON(File, b.drop_integers());

WEFT_ON(Visible, b.linkage(text));
WEFT_ON(Extern, b.linkage(text));
WEFT_ON(Weak, b.linkage(text));
WEFT_ON(Reg, b.begin_declaration(DeclarationSpace::kReg));
WEFT_ON(Param, b.begin_declaration(DeclarationSpace::kParam));
WEFT_ON(Local, b.begin_declaration(DeclarationSpace::kLocal));
WEFT_ON(Shared, b.begin_declaration(DeclarationSpace::kShared));
WEFT_ON(Global, b.begin_declaration(DeclarationSpace::kGlobal));
WEFT_ON(Const, b.begin_declaration(DeclarationSpace::kConst));
WEFT_ON(Tex, b.begin_declaration(DeclarationSpace::kOther));
WEFT_ON(Integer, b.integer());
WEFT_ON(Align, b.align());
WEFT_ON(AttributeName, b.attribute(text));
WEFT_ON(TypeWord, b.property(text));
WEFT_ON(DeclaredName, b.declared(text));
WEFT_ON(RangeCount, b.range());
WEFT_ON(Unsized, b.unsized());
WEFT_ON(Dimension, b.dimension());
WEFT_ON(Initial, b.initial());
WEFT_ON(Declarator, b.declarator());
WEFT_ON(Declaration, b.end_declaration());
WEFT_ON(Parameter, b.parameter());
WEFT_ON(Returns, b.returns());
WEFT_ON(Parameters, b.parameters());
WEFT_ON(PrototypeName, b.prototype_returns());
WEFT_ON(AbiPreserve, b.drop_integers());
WEFT_ON(Prototype, b.prototype(text.data()));
WEFT_ON(TargetName, b.target_name(text));
WEFT_ON(Targets, b.targets(text.data()));

WEFT_ON(Entry, b.begin_function(true));
WEFT_ON(Func, b.begin_function(false));
WEFT_ON(FunctionDeclaredName, b.function_name(text));
WEFT_ON(MaxThreads, b.threads(false));
WEFT_ON(RequiredThreads, b.threads(true));
WEFT_ON(MaxRegisters, b.registers());
WEFT_ON(MinBlocks, b.blocks());
WEFT_ON(Clusters, b.clusters());
WEFT_ON(Performance, b.drop_integers());
WEFT_ON(BodyOpen, b.begin_body());
WEFT_ON(BodyClose, b.end_body());
WEFT_ON(Function, b.end_function());

WEFT_ON(VersionNumber, b.version = text);
WEFT_ON(TargetNames, b.target = text.substr(0, text.find_last_not_of(" \t\r\n") + 1));
WEFT_ON(AddressSizeValue, b.set_address_size());
#undef WEFT_ON

}  // namespace

Module parse(std::string_view text, const std::string& file) {
  if (text.size() > kMaxTextBytes) {
    throw InputError(file, "found " + std::to_string(text.size()) + " bytes, at most " +
                               std::to_string(kMaxTextBytes) + " are allowed");
  }
  Builder builder(text, file);
  const std::string& own = builder.text();
  peg::memory_input<peg::tracking_mode::lazy> in(own.data(), own.data() + own.size(), file);
  peg::parse<g::Module, Action, Control>(in, builder);

  Module module;
  module.file = file;
  module.version = builder.version;
  module.target = builder.target;
  module.address_size = builder.address_size;
  const std::shared_ptr<ModuleText> tree = builder.finish();
  tree->version = builder.version_number();
  const std::string first_target = builder.target.substr(0, builder.target.find_first_of(", "));
  tree->is_sm_1x = first_target.size() == 5 && first_target.compare(0, 4, "sm_1") == 0;
  for (std::uint32_t f = 0; f < tree->functions.size(); ++f) {
    const Function& function = tree->functions[f];
    const auto [known, added] = tree->names.emplace(tree->view(function.name), ModuleName{true, f});
    if (!added && function.has_body) known->second.index = f;
  }
  for (const std::uint32_t global : tree->globals) {
    const Declaration& declaration = tree->declarations[global];
    if (declaration.space != DeclarationSpace::kParam) add_variable(*tree, declaration, module.variables);
  }
  add_statics(*tree, module.variables);
  for (const Function& function : tree->functions) {
    if (function.is_entry && function.has_body) module.kernels.emplace_back(tree->view(function.name));
  }
  module.text = tree;
  return module;
}

}  // namespace weft::ptx
