// Collects what the grammar recognises into a ModuleText. One call per token that matters; nothing is copied
// out of the text except names that duplicates are looked up by (as views).
#ifndef WEFT_PTX_BUILDER_H
#define WEFT_PTX_BUILDER_H

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "ptx/constant_expression.h"
#include "ptx/syntax.h"

namespace weft::ptx {

class Builder {
 public:
  Builder(std::string_view text, const std::string& file);

  // Recursion of the grammar.
  class Level {
   public:
    explicit Level(unsigned& depth) : depth_(depth) { ++depth_; }
    ~Level() { --depth_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    unsigned& depth_;
  };
  Level enter(const char* at);

  // Operands.
  void name(std::string_view text);
  void negate_name();
  void subtract_name();
  void literal();
  void addend(bool minus);
  void pair();
  void open() { marks_.push_back(static_cast<std::uint32_t>(stack_.size())); }
  void close(Node::Kind kind);
  void close_operand(Node::Kind kind);
  void generic_symbol(std::string_view text);
  void masked();
  Number number() { return expressions.pop(); }
  std::uint64_t count(std::string_view what);  // the value just read, refused when negative or fractional

  // Statements.
  void guard(std::string_view text);
  void opcode(std::string_view text) { opcode_ = extent(text); }
  void instruction(const char* at);
  void label(std::string_view text);
  void scope_open(const char* at);
  void scope_close(const char* at);
  void location(const char* at);

  // Declarations.
  void linkage(std::string_view word);
  void begin_declaration(DeclarationSpace space);
  void property(std::string_view word);
  void align();
  void attribute(std::string_view word);
  void declared(std::string_view name);
  void range();
  void dimension();
  void unsized() { declarator_.unsized = true; }
  void initial();
  void declarator();
  void end_declaration();
  void parameter();
  void prototype_returns() { prototype_.returns = std::move(pending_), pending_.clear(); }
  void prototype(const char* at);
  void target_name(std::string_view name);
  void targets(const char* at);

  // Functions and the module.
  void begin_function(bool is_entry);
  void function_name(std::string_view name);
  void returns() { function_.returns = std::move(pending_), pending_.clear(); }
  void parameters() { function_.parameters = std::move(pending_), pending_.clear(); }
  void threads(bool required);
  void registers() { function_.max_registers = one_number(".maxnreg"); }
  void blocks() { function_.min_blocks = one_number(".minnctapersm"); }
  void clusters();
  void begin_body();
  void end_body();
  void end_function();
  void integer() { integers_.push_back(count("a number")); }
  void drop_integers() { integers_.clear(); }
  void set_address_size();
  void file_path(std::string_view path);

  [[noreturn]] void fail(const char* at, const std::string& what) const;
  [[noreturn]] void fail(std::string_view at, const std::string& what) const { fail(at.data(), what); }

  ExpressionStack expressions;
  std::string version, target;
  unsigned address_size = 64;
  const char* number_at = nullptr;  // where the expression being read began
  const std::string& text() const { return result_->text; }
  std::uint32_t version_number() const;  // 203 for 2.3
  std::shared_ptr<ModuleText> finish();

 private:
  using Names = std::unordered_set<std::string_view>;
  struct Scope {
    Names names;
    std::unordered_map<std::string_view, std::uint64_t> ranges;                 // %r<count>
    std::unordered_map<std::string_view, std::uint8_t> vectors, vector_ranges;  // of registers: elements
  };
  std::uint32_t offset(const char* p) const { return static_cast<std::uint32_t>(p - result_->text.data()); }
  Extent extent(std::string_view text) const {
    return {offset(text.data()), static_cast<std::uint32_t>(text.size())};
  }
  std::uint32_t elements_of(std::string_view name) const;
  void add_vector(const Declaration& declaration);
  void check_size(const Declaration& declaration);
  std::uint32_t one_number(const char* directive);
  void define(Names& names, std::string_view name, const char* what);
  void check_ranges(const Declaration& declaration);

  std::shared_ptr<ModuleText> result_;
  unsigned depth_ = 0;
  std::vector<Node> stack_;
  std::vector<std::uint32_t> marks_;
  std::vector<std::uint64_t> integers_;
  Extent guard_, opcode_;
  bool guard_negated_ = false;

  bool extern_ = false, weak_ = false, visible_ = false, pointer_ = false, in_function_ = false;
  bool has_vectors_ = false;  // the function has vector registers
  Declaration base_;          // properties that all names of a declaration share
  Declaration declarator_;    // the name being read
  std::vector<Declaration> pending_;
  Function function_;
  std::uint64_t registers_ = 0;
  Prototype prototype_;
  std::vector<Extent> targets_;
  Extent last_label_;  // names the prototype or the list of targets that follows
  std::vector<Scope> scopes_;
  Names globals_, functions_defined_;
};

}  // namespace weft::ptx

#endif
