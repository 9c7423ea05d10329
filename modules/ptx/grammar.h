// The grammar of PTX modules as nvcc and clang write them (PTX ISA 9.0, chapters 4, 5 and 10), in PEGTL.
//
// Every rule that names a token eats the white space after it, so an error points at the next token.
// Alternatives are chosen by their first characters; after that, `must` turns a mismatch into a message
// (`Expected` in parse.cpp).
#ifndef WEFT_PTX_GRAMMAR_H
#define WEFT_PTX_GRAMMAR_H

#include <cstring>
#include <tao/pegtl.hpp>

namespace weft::ptx::grammar {

namespace peg = tao::pegtl;

// White space, // and /* */ comments, and lines that begin with # (left by a preprocessor).
// Written by hand: a third of the text is white space. An unfinished comment is left for the next rule to
// report.
struct Skip {
  using rule_t = Skip;
  using subs_t = peg::empty_list;
  template <class Input>
  static bool match(Input& in) {
    const char* p = in.current();
    const char* const end = in.end();
    while (p != end) {
      if (*p == ' ' || (*p >= '\t' && *p <= '\r')) {
        ++p;
      } else if ((*p == '/' && p + 1 != end && p[1] == '/') ||
                 (*p == '#' && (p == in.begin() || p[-1] == '\n'))) {
        p = line_end(p, end);
      } else if (*p == '/' && p + 1 != end && p[1] == '*') {
        const char* close = p + 2;
        while (close < end && !(*close == '*' && close + 1 < end && close[1] == '/')) ++close;
        if (close >= end) break;
        p = close + 2;
      } else {
        break;
      }
    }
    in.bump(static_cast<std::size_t>(p - in.current()));
    return true;
  }

 private:
  static const char* line_end(const char* p, const char* end) {
    const void* newline = std::memchr(p, '\n', static_cast<std::size_t>(end - p));
    return newline ? static_cast<const char*>(newline) : end;
  }
};

// One level of recursion; the state refuses too many.
template <class Rule>
struct Nested {
  using rule_t = Nested;
  using subs_t = peg::type_list<Rule>;
  template <peg::apply_mode A, peg::rewind_mode M, template <class...> class Action,
            template <class...> class Control, class Input, class State>
  static bool match(Input& in, State& state) {
    const auto level = state.enter(in.current());
    return Control<Rule>::template match<A, M, Action, Control>(in, state);
  }
};

template <char C>
struct Mark : peg::seq<peg::one<C>, Skip> {};
struct Comma : Mark<','> {};
struct Semicolon : Mark<';'> {};
struct CloseBrace : Mark<'}'> {};
struct CloseBracket : Mark<']'> {};
struct OpenParen : Mark<'('> {};
struct CloseParen : Mark<')'> {};
struct CloseAngle : Mark<'>'> {};
struct Colon : Mark<':'> {};

// One or more, all of them required.
template <class Rule>
struct List : peg::seq<peg::must<Rule>, peg::star<Comma, peg::must<Rule>>> {};

struct NameFirst : peg::ranges<'a', 'z', 'A', 'Z', '_', '_', '$', '$', '%'> {};
struct NameRest : peg::ranges<'a', 'z', 'A', 'Z', '0', '9', '_', '_', '$'> {};
struct Identifier : peg::seq<NameFirst, peg::star<NameRest>> {};

template <char... Cs>
struct Word : peg::seq<peg::string<Cs...>, peg::not_at<NameRest>, Skip> {};

struct StringBody : peg::star<peg::sor<peg::seq<peg::one<'\\'>, peg::any>, peg::not_one<'"', '\n'>>> {};
struct StringEnd : Mark<'"'> {};
struct String : peg::seq<peg::one<'"'>, StringBody, peg::must<StringEnd>> {};

// --- constant expressions (4.5, 4.6) ---
struct FloatBits : peg::seq<peg::one<'0'>, peg::one<'f', 'F', 'd', 'D'>, peg::plus<peg::xdigit>> {};
struct HexInteger
    : peg::seq<peg::one<'0'>, peg::one<'x', 'X'>, peg::plus<peg::xdigit>, peg::opt<peg::one<'U'>>> {};
struct BinaryInteger
    : peg::seq<peg::one<'0'>, peg::one<'b', 'B'>, peg::plus<peg::one<'0', '1'>>, peg::opt<peg::one<'U'>>> {};
struct Exponent : peg::seq<peg::one<'e', 'E'>, peg::opt<peg::one<'+', '-'>>, peg::plus<peg::digit>> {};
struct DecimalFloat
    : peg::seq<peg::plus<peg::digit>,
               peg::sor<peg::seq<peg::one<'.'>, peg::star<peg::digit>, peg::opt<Exponent>>, Exponent>> {};
struct DecimalInteger : peg::seq<peg::plus<peg::digit>, peg::opt<peg::one<'U'>>> {};
struct NumberEnd : peg::not_at<NameRest> {};
struct Literal : peg::seq<peg::at<peg::digit>,
                          peg::sor<FloatBits, HexInteger, BinaryInteger, DecimalFloat, DecimalInteger>,
                          peg::must<NumberEnd>> {};
struct Expression;
struct UnaryOperator : peg::one<'-', '+', '!', '~'> {};
struct CastSigned : peg::seq<peg::string<'(', '.', 's', '6', '4', ')'>> {};
struct CastUnsigned : peg::seq<peg::string<'(', '.', 'u', '6', '4', ')'>> {};
struct Prefix : peg::seq<peg::sor<UnaryOperator, CastSigned, CastUnsigned>, Skip> {};
struct ExpressionEnd : peg::one<')'> {};
struct Parenthesised : peg::seq<Mark<'('>, peg::must<Nested<Expression>>, peg::must<ExpressionEnd>> {};
struct Primary : peg::sor<Literal, Parenthesised> {};
struct Unary : peg::seq<peg::star<Prefix>, peg::must<Primary>, Skip> {};
struct BinaryOperator
    : peg::sor<peg::string<'<', '<'>, peg::string<'>', '>'>, peg::string<'<', '='>, peg::string<'>', '='>,
               peg::string<'=', '='>, peg::string<'!', '='>, peg::string<'&', '&'>, peg::string<'|', '|'>,
               peg::one<'*', '/', '%', '+', '-', '<', '>', '&', '^', '|'>> {};
struct ExpressionBegin : peg::at<peg::sor<peg::digit, peg::one<'-', '+', '!', '~', '('>>> {};
struct Question : peg::one<'?'> {};
struct Ternary : peg::seq<Question, Skip, peg::must<Nested<Expression>>, peg::must<Colon>,
                          peg::must<Nested<Expression>>> {};
struct Chain : peg::seq<Unary, peg::star<BinaryOperator, Skip, peg::must<Unary>>> {};
struct Expression : peg::seq<ExpressionBegin, Chain, peg::opt<Ternary>> {};

// --- operands (6) ---
struct Name : peg::seq<Identifier, peg::opt<peg::one<'.'>, peg::plus<NameRest>>> {};
struct PlainName : peg::seq<Name, Skip> {};
struct AddendValue : peg::seq<ExpressionBegin, Unary> {};
struct Plus : peg::seq<Mark<'+'>, peg::must<AddendValue>> {};
struct Minus : peg::seq<Mark<'-'>, peg::must<AddendValue>> {};
struct PairTail : peg::seq<Mark<'|'>, peg::must<PlainName>> {};
struct NameOperand : peg::seq<PlainName, peg::sor<PairTail, peg::star<peg::sor<Plus, Minus>>>> {};
struct NegatedName : peg::seq<peg::one<'!'>, Skip, Name, Skip> {};
struct NegativeName : peg::seq<peg::one<'-'>, Skip, peg::at<NameFirst>, Name, Skip> {};  // of vmad
struct LiteralOperand : peg::seq<Expression> {};
struct Operand;
struct OperandList : peg::list_must<Operand, Comma> {};
struct AddressOpen : Mark<'['> {};
struct VectorOpen : Mark<'{'> {};
struct ListOpen : Mark<'('> {};
struct Address : peg::seq<AddressOpen, Nested<List<Operand>>, peg::must<CloseBracket>> {};
struct Vector : peg::seq<VectorOpen, Nested<List<Operand>>, peg::must<CloseBrace>> {};
struct VectorOperand : peg::seq<Vector, peg::opt<PairTail>> {};  // tex {...}|p
struct CallList : peg::seq<ListOpen, peg::opt<Nested<OperandList>>, peg::must<CloseParen>> {};
struct Operand : peg::sor<NameOperand, Address, VectorOperand, NegatedName, NegativeName, LiteralOperand> {};
struct CallOperand : peg::sor<CallList, Operand> {};

// --- instructions (9) ---
struct Guard : peg::seq<peg::one<'@'>, Skip, peg::opt<peg::one<'!'>>, Skip, peg::must<Identifier>, Skip> {};
struct OpcodeRest : peg::sor<NameRest, peg::one<'.'>, peg::one<':'>> {};
struct Opcode : peg::seq<peg::alpha, peg::star<OpcodeRest>> {};
struct CallOpcode : peg::seq<peg::string<'c', 'a', 'l', 'l'>, peg::not_at<NameRest>, peg::star<OpcodeRest>> {
};
struct OperandsEnd : Semicolon {};
struct Operation
    : peg::sor<peg::seq<CallOpcode, Skip, List<CallOperand>>, peg::seq<Opcode, Skip, peg::opt<OperandList>>> {
};
struct Instruction
    : peg::seq<peg::sor<peg::seq<Guard, peg::must<Operation>>, Operation>, peg::must<OperandsEnd>> {};
struct Label : peg::seq<Identifier, Skip, peg::one<':'>, peg::not_at<peg::one<':'>>, Skip> {};

// --- declarations (5) ---
struct Extern : Word<'.', 'e', 'x', 't', 'e', 'r', 'n'> {};
struct Weak : Word<'.', 'w', 'e', 'a', 'k'> {};
struct Visible : Word<'.', 'v', 'i', 's', 'i', 'b', 'l', 'e'> {};
struct Linkage : peg::sor<Visible, Extern, Weak, Word<'.', 'c', 'o', 'm', 'm', 'o', 'n'>> {};
struct Reg : Word<'.', 'r', 'e', 'g'> {};
struct Param : Word<'.', 'p', 'a', 'r', 'a', 'm'> {};
struct Local : Word<'.', 'l', 'o', 'c', 'a', 'l'> {};
struct Shared : Word<'.', 's', 'h', 'a', 'r', 'e', 'd'> {};
struct Global : Word<'.', 'g', 'l', 'o', 'b', 'a', 'l'> {};
struct Const : Word<'.', 'c', 'o', 'n', 's', 't'> {};
struct Tex : Word<'.', 't', 'e', 'x'> {};
struct DeclarationSpace : peg::sor<Reg, Param, Local, Shared, Global, Const, Tex> {};
struct Integer : peg::seq<Expression> {};
struct Align : peg::seq<Word<'.', 'a', 'l', 'i', 'g', 'n'>, peg::must<Integer>> {};
struct AttributeName : peg::seq<peg::one<'.'>, Identifier> {};
struct AttributeArguments
    : peg::seq<Mark<'('>, peg::until<peg::at<peg::one<')'>>, peg::not_one<'(', ';', '{'>>,
               peg::must<CloseParen>> {};
struct AttributeItem : peg::seq<AttributeName, Skip, peg::opt<AttributeArguments>> {};
struct Attribute : peg::seq<Word<'.', 'a', 't', 't', 'r', 'i', 'b', 'u', 't', 'e'>, peg::must<OpenParen>,
                            List<AttributeItem>, peg::must<CloseParen>> {};
struct TypeWord : peg::seq<peg::one<'.'>, peg::plus<NameRest>> {};
struct Property : peg::sor<Align, Attribute, peg::seq<TypeWord, Skip>> {};
struct DeclaredName : Identifier {};
// Not a whole expression: the closing > would be taken for an operator.
struct RangeCount : peg::seq<Mark<'<'>, peg::must<AddendValue>, peg::must<CloseAngle>> {};
struct Unsized : peg::seq<Mark<'['>, peg::one<']'>, Skip> {};
struct Dimension : peg::seq<Mark<'['>, peg::must<Integer>, peg::must<CloseBracket>> {};
struct Initialiser;
struct SymbolName : Identifier {};
struct GenericOpen : peg::seq<peg::string<'g', 'e', 'n', 'e', 'r', 'i', 'c'>, Skip, Mark<'('>> {};
struct GenericSymbol : peg::seq<GenericOpen, peg::must<SymbolName>, Skip, peg::must<CloseParen>> {};
struct Symbol : peg::seq<peg::sor<GenericSymbol, PlainName>, peg::star<peg::sor<Plus, Minus>>> {};
struct MaskTail : peg::seq<Mark<'('>, peg::must<Symbol>, peg::must<CloseParen>> {};
struct Element : peg::seq<LiteralOperand, peg::opt<MaskTail>> {};
struct InitialiserOpen : Mark<'{'> {};
struct InitialiserList
    : peg::seq<InitialiserOpen, peg::opt<peg::list_must<Nested<Initialiser>, Comma>>, peg::must<CloseBrace>> {
};
struct FieldValue : peg::seq<Mark<'='>, peg::must<Nested<Initialiser>>> {};  // of a .samplerref
struct Initialiser : peg::sor<Element, InitialiserList, peg::seq<Symbol, peg::opt<FieldValue>>> {};
struct Initial : peg::seq<Mark<'='>, peg::must<Initialiser>> {};
struct Declarator : peg::seq<DeclaredName, Skip, peg::opt<RangeCount>,
                             peg::star<peg::sor<Unsized, Dimension>>, peg::opt<Initial>> {};
struct Declaration : peg::seq<DeclarationSpace, peg::star<Property>, List<Declarator>, peg::must<Semicolon>> {
};

// --- other directives (11) ---
struct LocName : peg::seq<Identifier, Skip, peg::opt<Mark<'+'>, peg::must<Integer>>> {};
struct FunctionName
    : peg::seq<Word<'f', 'u', 'n', 'c', 't', 'i', 'o', 'n', '_', 'n', 'a', 'm', 'e'>, peg::must<LocName>> {};
struct InlinedAt : peg::seq<Word<'i', 'n', 'l', 'i', 'n', 'e', 'd', '_', 'a', 't'>, peg::must<Integer>,
                            peg::must<Integer>, peg::must<Integer>> {};
struct LocDetail : peg::sor<FunctionName, InlinedAt> {};
struct LocTail : peg::seq<Comma, peg::must<LocDetail>> {};
struct LocPlace : peg::must<Integer, Integer, Integer> {};
struct Loc : peg::seq<Word<'.', 'l', 'o', 'c'>, LocPlace, peg::star<LocTail>> {};
struct FilePath : String {};
struct File : peg::seq<Word<'.', 'f', 'i', 'l', 'e'>, peg::must<Integer>, peg::must<FilePath>,
                       peg::star<Comma, peg::must<Integer>>> {};
struct Pragma : peg::seq<Word<'.', 'p', 'r', 'a', 'g', 'm', 'a'>, List<String>, peg::must<Semicolon>> {};
struct ListedName : peg::seq<Identifier, Skip> {};
struct NameList : List<ListedName> {};
struct TargetName : peg::seq<Identifier, Skip> {};
struct Targets : peg::seq<peg::sor<Word<'.', 'b', 'r', 'a', 'n', 'c', 'h', 't', 'a', 'r', 'g', 'e', 't', 's'>,
                                   Word<'.', 'c', 'a', 'l', 'l', 't', 'a', 'r', 'g', 'e', 't', 's'>>,
                          List<TargetName>, peg::must<Semicolon>> {};
struct Alias : peg::seq<Word<'.', 'a', 'l', 'i', 'a', 's'>, NameList, peg::must<Semicolon>> {};
struct SectionValue : peg::plus<peg::sor<NameRest, peg::one<'.', '+', '-', '%'>>> {};
struct PaddedSectionValue : peg::seq<SectionValue, Skip> {};
struct SectionData : peg::seq<peg::one<'.'>, peg::one<'b', 'u', 's'>, peg::plus<peg::digit>, Skip,
                              List<PaddedSectionValue>> {};
struct SectionLabel : peg::seq<Identifier, Skip, peg::must<Colon>> {};
struct SectionName : peg::seq<peg::opt<peg::one<'.'>>, Identifier> {};
struct SectionOpen : Mark<'{'> {};
struct Section : peg::seq<Word<'.', 's', 'e', 'c', 't', 'i', 'o', 'n'>, peg::must<SectionName>, Skip,
                          peg::must<SectionOpen>, peg::star<peg::sor<SectionData, SectionLabel>>,
                          peg::must<CloseBrace>> {};

// --- functions ---
struct ParameterSpace : peg::sor<Param, Reg> {};
// What a compiler adds for itself (PTX 9.1).
struct Hidden : Word<'.', 'h', 'i', 'd', 'd', 'e', 'n'> {};
struct Parameter : peg::seq<peg::opt<Hidden>, ParameterSpace, peg::star<Property>, peg::must<DeclaredName>,
                            Skip, peg::opt<RangeCount>, peg::star<peg::sor<Unsized, Dimension>>> {};
struct ParameterList
    : peg::seq<Mark<'('>, peg::opt<peg::list_must<Parameter, Comma>>, peg::must<CloseParen>> {};
struct Returns : ParameterList {};
struct Parameters : ParameterList {};
struct PrototypeName : Identifier {};
struct AbiPreserve : peg::seq<peg::sor<Word<'.', 'a', 'b', 'i', '_', 'p', 'r', 'e', 's', 'e', 'r', 'v', 'e'>,
                                       Word<'.', 'a', 'b', 'i', '_', 'p', 'r', 'e', 's', 'e', 'r', 'v', 'e',
                                            '_', 'c', 'o', 'n', 't', 'r', 'o', 'l'>>,
                              peg::must<Integer>> {};
struct Prototype
    : peg::seq<Word<'.', 'c', 'a', 'l', 'l', 'p', 'r', 'o', 't', 'o', 't', 'y', 'p', 'e'>,
               peg::opt<ParameterList>, peg::must<PrototypeName>, Skip, peg::opt<ParameterList>,
               peg::star<peg::sor<AbiPreserve, Word<'.', 'n', 'o', 'r', 'e', 't', 'u', 'r', 'n'>>>,
               peg::must<Semicolon>> {};
struct Statement;
struct ScopeOpen : Mark<'{'> {};
struct ScopeClose : Mark<'}'> {};
struct Scope : peg::seq<ScopeOpen, peg::star<Nested<Statement>>, peg::must<ScopeClose>> {};
struct LinkedDeclaration : peg::seq<peg::plus<Linkage>, peg::must<Declaration>> {};
struct BodyDirective
    : peg::sor<Declaration, Loc, Pragma, Prototype, Targets, File, Section, LinkedDeclaration> {};
struct Statement : peg::sor<Label, Instruction, Scope,
                            peg::seq<peg::at<peg::one<'.'>>, peg::must<BodyDirective>>, Semicolon> {};

struct Entry : Word<'.', 'e', 'n', 't', 'r', 'y'> {};
struct Func : Word<'.', 'f', 'u', 'n', 'c'> {};
template <class Keyword>
struct Counts : peg::seq<Keyword, List<Integer>> {};
struct MaxThreads : Counts<Word<'.', 'm', 'a', 'x', 'n', 't', 'i', 'd'>> {};
struct RequiredThreads : Counts<Word<'.', 'r', 'e', 'q', 'n', 't', 'i', 'd'>> {};
struct MaxRegisters : Counts<Word<'.', 'm', 'a', 'x', 'n', 'r', 'e', 'g'>> {};
struct MinBlocks : Counts<Word<'.', 'm', 'i', 'n', 'n', 'c', 't', 'a', 'p', 'e', 'r', 's', 'm'>> {};
struct Clusters
    : Counts<Word<'.', 'r', 'e', 'q', 'n', 'c', 't', 'a', 'p', 'e', 'r', 'c', 'l', 'u', 's', 't', 'e', 'r'>> {
};
struct Performance
    : Counts<peg::sor<Word<'.', 'm', 'a', 'x', 'n', 'c', 't', 'a', 'p', 'e', 'r', 's', 'm'>,
                      Word<'.', 'm', 'a', 'x', 'c', 'l', 'u', 's', 't', 'e', 'r', 'r', 'a', 'n', 'k'>,
                      Word<'.', 'a', 'b', 'i', '_', 'p', 'r', 'e', 's', 'e', 'r', 'v', 'e'>,
                      Word<'.', 'a', 'b', 'i', '_', 'p', 'r', 'e', 's', 'e', 'r', 'v', 'e', '_', 'c', 'o',
                           'n', 't', 'r', 'o', 'l'>>> {};
struct Bare
    : peg::sor<Word<'.', 'n', 'o', 'r', 'e', 't', 'u', 'r', 'n'>,
               Word<'.', 'e', 'x', 'p', 'l', 'i', 'c', 'i', 't', 'c', 'l', 'u', 's', 't', 'e', 'r'>,
               Word<'.', 'b', 'l', 'o', 'c', 'k', 's', 'a', 'r', 'e', 'c', 'l', 'u', 's', 't', 'e', 'r', 's'>,
               Word<'.', 'u', 'n', 'i', 'f', 'i', 'e', 'd'>> {};
struct FunctionDirective : peg::sor<MaxThreads, RequiredThreads, MaxRegisters, MinBlocks, Clusters,
                                    Performance, Bare, Pragma, Attribute> {};
struct FunctionDeclaredName : Identifier {};
struct BodyOpen : Mark<'{'> {};
struct BodyClose : Mark<'}'> {};
struct Body : peg::seq<BodyOpen, peg::star<Statement>, peg::must<BodyClose>> {};
struct BodyOrEnd : peg::sor<Semicolon, Body> {};
// A prototype ends without a semicolon too, where the next directive or the end of the text follows.
struct PrototypeEnd
    : peg::at<peg::sor<peg::eof, Linkage, Entry, Func, DeclarationSpace, Word<'.', 'f', 'i', 'l', 'e'>,
                       Word<'.', 'l', 'o', 'c'>, Word<'.', 's', 'e', 'c', 't', 'i', 'o', 'n'>,
                       Word<'.', 'a', 'l', 'i', 'a', 's'>, Word<'.', 't', 'a', 'r', 'g', 'e', 't'>>> {};
struct BodyOrPrototypeEnd : peg::sor<Semicolon, Body, PrototypeEnd> {};
template <class Keyword, class End>
struct FunctionOf : peg::seq<Keyword, peg::opt<Attribute>, peg::opt<Returns>, peg::must<FunctionDeclaredName>,
                             Skip, peg::opt<Parameters>, peg::star<FunctionDirective>, peg::must<End>> {};
struct Function : peg::sor<FunctionOf<Entry, BodyOrEnd>, FunctionOf<Func, BodyOrPrototypeEnd>> {};

// --- modules ---
struct VersionNumber : peg::seq<peg::plus<peg::digit>, peg::one<'.'>, peg::plus<peg::digit>> {};
struct VersionWord : Word<'.', 'v', 'e', 'r', 's', 'i', 'o', 'n'> {};
struct Version : peg::seq<VersionWord, peg::must<VersionNumber>, Skip> {};
struct TargetNames : NameList {};
struct Target : peg::seq<Word<'.', 't', 'a', 'r', 'g', 'e', 't'>, TargetNames> {};
struct AddressSizeValue : peg::seq<Integer> {};
struct AddressSize : peg::seq<Word<'.', 'a', 'd', 'd', 'r', 'e', 's', 's', '_', 's', 'i', 'z', 'e'>,
                              peg::must<AddressSizeValue>> {};
struct ModuleDeclaration : peg::seq<Declaration> {};
struct ModuleSymbol : peg::sor<Function, ModuleDeclaration> {};
struct LinkedSymbol : peg::seq<peg::plus<Linkage>, peg::must<ModuleSymbol>> {};
struct Item : peg::sor<LinkedSymbol, ModuleSymbol, Target, AddressSize, File, Section, Loc, Pragma, Alias,
                       Semicolon> {};
struct End : peg::eof {};
struct Module : peg::seq<Skip, peg::must<Version>, peg::until<peg::eof, peg::must<Item>>> {};

}  // namespace weft::ptx::grammar

#endif
