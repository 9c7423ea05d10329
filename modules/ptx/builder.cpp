#include "ptx/builder.h"

#include <algorithm>
#include <charconv>

#include "ptx/types.h"
#include "weft/ptx/limits.h"

namespace weft::ptx {

Builder::Builder(std::string_view text, const std::string& file) : result_(std::make_shared<ModuleText>()) {
  result_->file = file;
  result_->text = text;
  // Typical sizes per byte of text, so that a large module grows its arrays once or twice.
  result_->nodes.reserve(text.size() / 12);
  result_->statements.reserve(text.size() / 25);
  scopes_.emplace_back();
}

Builder::Level Builder::enter(const char* at) {
  if (depth_ >= kMaxNesting) fail(at, "nested deeper than " + std::to_string(kMaxNesting) + " levels");
  return Level(depth_);
}

void Builder::fail(const char* at, const std::string& what) const {
  throw InputError(result_->where(offset(at)), what);
}

// --- operands ---

void Builder::name(std::string_view text) {
  Node node;
  node.kind = Node::Kind::kName;
  node.text = extent(text);
  const std::uint32_t elements = elements_of(text);
  if (elements == 1) return stack_.push_back(node);
  open();  // a vector named as a whole is the list of its elements
  for (std::uint32_t k = 0; k < elements; ++k) {
    node.component = static_cast<std::uint8_t>(k + 1);
    stack_.push_back(node);
  }
  close(Node::Kind::kVector);
}

// How many elements the operand `name` stands for: those of a vector register, of a special register that is
// a vector, else one.
std::uint32_t Builder::elements_of(std::string_view name) const {
  const bool special = name == "%tid" || name == "%ntid" || name == "%ctaid" || name == "%nctaid";
  if (!special && !has_vectors_) return 1;
  std::size_t digits = name.size();
  while (digits > 0 && '0' <= name[digits - 1] && name[digits - 1] <= '9') --digits;
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    const auto named = scope->vectors.find(name);
    if (named != scope->vectors.end()) return named->second;
    if (scope->names.count(name) != 0) return 1;
    const std::string_view range = name.substr(0, digits);
    if (scope->ranges.count(range) == 0 || digits == name.size()) continue;
    const auto numbered = scope->vector_ranges.find(range);
    return numbered == scope->vector_ranges.end() ? 1 : numbered->second;
  }
  return special ? 4 : 1;
}

void Builder::negate_name() {
  stack_.back().negated = true;
}

void Builder::subtract_name() {
  stack_.back().subtracted = true;
}

void Builder::literal() {
  Node node;
  node.kind = Node::Kind::kLiteral;
  node.number = expressions.pop();
  node.text = {offset(number_at), 0};
  stack_.push_back(node);
}

void Builder::addend(bool minus) {
  const Number value = expressions.pop();
  if (value.kind != Number::Kind::kSigned && value.kind != Number::Kind::kUnsigned) {
    fail(number_at, "an offset is an integer");
  }
  if (stack_.back().kind == Node::Kind::kVector) fail(number_at, "a vector has no addend");
  if (result_->view(stack_.back().text).find('.') != std::string_view::npos) {
    fail(number_at,
         "'" + std::string(result_->view(stack_.back().text)) + "' is an element, which has no addend");
  }
  stack_.back().number.bits += minus ? 0 - value.bits : value.bits;
  stack_.back().has_addend = true;
}

void Builder::pair() {
  Node node;
  node.kind = Node::Kind::kPair;
  node.text = stack_[stack_.size() - 2].text;
  node.first = static_cast<std::uint32_t>(result_->nodes.size());
  node.count = 2;
  result_->nodes.insert(result_->nodes.end(), stack_.end() - 2, stack_.end());
  stack_.resize(stack_.size() - 2);
  stack_.push_back(node);
}

// Elements of operands have no addends: {%r1+1, %r2}, (%r1+1) and [surface, %r1+1] are no PTX.
void Builder::close_operand(Node::Kind kind) {
  const std::uint32_t from = marks_.back();
  const bool is_offset = kind == Node::Kind::kAddress && stack_.size() - from == 1;
  for (std::size_t i = from; !is_offset && i < stack_.size(); ++i) {
    if (!stack_[i].has_addend) continue;
    fail(result_->text.data() + stack_[i].text.at,
         "'" + std::string(result_->view(stack_[i].text)) +
             "' has an addend, expected an element without one; a sum stands by itself or inside [ ]");
  }
  close(kind);
}

void Builder::close(Node::Kind kind) {
  const std::uint32_t from = marks_.back();
  marks_.pop_back();
  Node node;
  node.kind = kind;
  node.first = static_cast<std::uint32_t>(result_->nodes.size());
  node.count = static_cast<std::uint32_t>(stack_.size() - from);
  if (node.count) node.text = {stack_[from].text.at, 0};
  result_->nodes.insert(result_->nodes.end(), stack_.begin() + from, stack_.end());
  stack_.resize(from);
  stack_.push_back(node);
}

void Builder::generic_symbol(std::string_view text) {
  name(text);
  stack_.back().kind = Node::Kind::kGeneric;
}

void Builder::masked() {  // stack: literal, symbol
  Node node = stack_[stack_.size() - 2];
  node.kind = Node::Kind::kMasked;
  node.first = static_cast<std::uint32_t>(result_->nodes.size());
  node.count = 1;
  result_->nodes.push_back(stack_.back());
  stack_.resize(stack_.size() - 2);
  stack_.push_back(node);
}

std::uint64_t Builder::count(std::string_view what) {
  const Number value = expressions.pop();
  const bool negative = value.kind == Number::Kind::kSigned && static_cast<std::int64_t>(value.bits) < 0;
  if (negative || value.kind == Number::Kind::kF32 || value.kind == Number::Kind::kF64) {
    fail(number_at, std::string(what) + " is an integer of 0 or more");
  }
  return value.bits;
}

// --- statements ---

void Builder::guard(std::string_view text) {  // "@ ! %p1  "
  guard_negated_ = text.find('!') != std::string_view::npos;
  const std::size_t from = text.find_first_not_of("@! \t\r\n");
  text.remove_prefix(from);
  guard_ = extent(text.substr(0, identifier_length(text)));
}

void Builder::instruction(const char* at) {
  Statement statement;
  statement.kind = Statement::Kind::kInstruction;
  statement.at = offset(at);
  statement.text = opcode_;
  statement.guard = guard_;
  statement.guard_negated = guard_negated_;
  statement.first = static_cast<std::uint32_t>(result_->nodes.size());
  statement.count = static_cast<std::uint32_t>(stack_.size());
  result_->nodes.insert(result_->nodes.end(), stack_.begin(), stack_.end());
  result_->statements.push_back(statement);
  stack_.clear();
  guard_ = {};
  guard_negated_ = false;
}

void Builder::label(std::string_view text) {
  text = text.substr(0, identifier_length(text));
  define(scopes_.back().names, text, "label");
  Statement statement;
  statement.kind = Statement::Kind::kLabel;
  statement.at = offset(text.data());
  statement.text = last_label_ = extent(text);
  result_->statements.push_back(statement);
}

void Builder::prototype(const char* at) {
  Statement statement;
  statement.kind = Statement::Kind::kPrototype;
  statement.at = offset(at);
  statement.first = static_cast<std::uint32_t>(result_->prototypes.size());
  prototype_.name = last_label_;
  prototype_.parameters = std::move(pending_);
  pending_.clear();
  result_->prototypes.push_back(std::move(prototype_));
  prototype_ = Prototype();
  result_->statements.push_back(statement);
}

void Builder::target_name(std::string_view name) {
  targets_.push_back(extent(name.substr(0, identifier_length(name))));
}

void Builder::targets(const char* at) {
  Statement statement;
  statement.kind = Statement::Kind::kTargets;
  statement.at = offset(at);
  statement.first = static_cast<std::uint32_t>(result_->target_lists.size());
  result_->target_lists.push_back({last_label_, std::move(targets_)});
  targets_.clear();
  result_->statements.push_back(statement);
}

void Builder::scope_open(const char* at) {
  scopes_.emplace_back();
  Statement statement;
  statement.kind = Statement::Kind::kOpen;
  statement.at = offset(at);
  result_->statements.push_back(statement);
}

void Builder::scope_close(const char* at) {
  scopes_.pop_back();
  Statement statement;
  statement.kind = Statement::Kind::kClose;
  statement.at = offset(at);
  result_->statements.push_back(statement);
}

void Builder::location(const char* at) {
  Statement statement;
  statement.kind = Statement::Kind::kLocation;
  statement.at = offset(at);
  statement.first = static_cast<std::uint32_t>(result_->locations.size());
  const auto part = [this](std::size_t i) { return static_cast<std::uint32_t>(integers_[i]); };
  result_->locations.push_back({part(0), part(1), part(2)});
  integers_.clear();
  if (in_function_) result_->statements.push_back(statement);
}

void Builder::file_path(std::string_view path) {
  path = path.substr(1, path.rfind('"') - 1);
  result_->files.emplace(static_cast<std::uint32_t>(integers_.front()), std::string(path));
}

// --- functions ---

void Builder::begin_function(bool is_entry) {
  function_ = Function();
  function_.is_entry = is_entry;
  function_.is_extern = extern_;
  function_.is_weak = weak_;
  function_.is_visible = visible_;
  extern_ = weak_ = visible_ = false;
  registers_ = 0;
  pending_.clear();
}

void Builder::function_name(std::string_view name) {
  function_.name = extent(name);
}

void Builder::threads(bool required) {
  auto& target = required ? function_.required_threads : function_.max_threads;
  if (integers_.size() > 3) fail(number_at, "a block has at most three dimensions");
  target = {1, 1, 1};
  for (std::size_t i = 0; i < integers_.size(); ++i) {
    if (integers_[i] == 0 || integers_[i] > UINT32_MAX) fail(number_at, "a block dimension is 1 to 2^32 - 1");
    target[i] = static_cast<std::uint32_t>(integers_[i]);
  }
  integers_.clear();
}

void Builder::clusters() {
  function_.needs_clusters = false;
  for (const std::uint64_t extent : integers_) function_.needs_clusters |= extent > 1;
  integers_.clear();
}

std::uint32_t Builder::one_number(const char* directive) {
  if (integers_.size() != 1 || integers_[0] == 0 || integers_[0] > UINT32_MAX) {
    fail(number_at, std::string(directive) + " takes one number, 1 to 2^32 - 1");
  }
  const auto number = static_cast<std::uint32_t>(integers_[0]);
  integers_.clear();
  return number;
}

void Builder::begin_body() {
  const std::string_view name = result_->view(function_.name);
  if (!functions_defined_.insert(name).second) {
    fail(name, "function '" + std::string(name) + "' is defined twice");
  }
  define(globals_, name, "symbol");
  function_.has_body = true;
  function_.first = static_cast<std::uint32_t>(result_->statements.size());
  function_.first_node = static_cast<std::uint32_t>(result_->nodes.size());
  in_function_ = true;
  scopes_.emplace_back();
  for (const auto* list : {&function_.returns, &function_.parameters}) {
    for (const Declaration& parameter : *list) {
      define(scopes_.back().names, result_->view(parameter.name), "parameter");
      add_vector(parameter);
    }
  }
}

void Builder::end_body() {
  has_vectors_ = false;
  function_.count = static_cast<std::uint32_t>(result_->statements.size()) - function_.first;
  function_.node_count = static_cast<std::uint32_t>(result_->nodes.size()) - function_.first_node;
  scopes_.pop_back();
  in_function_ = false;
}

void Builder::end_function() {
  integers_.clear();
  result_->functions.push_back(std::move(function_));
}

void Builder::set_address_size() {
  address_size = static_cast<unsigned>(integers_.back());
  if (address_size != 64)
    fail(number_at, "found .address_size " + std::to_string(integers_.back()) + ", only 64 is supported");
  integers_.clear();
}

std::uint32_t Builder::version_number() const {
  std::uint32_t major = 0, minor = 0;
  const char* const end = version.data() + version.size();
  const auto [dot, error] = std::from_chars(version.data(), end, major);
  if (error == std::errc() && dot != end) std::from_chars(dot + 1, end, minor);
  return 100 * std::min<std::uint32_t>(major, 1000) + std::min<std::uint32_t>(minor, 99);
}

std::shared_ptr<ModuleText> Builder::finish() {
  result_->index_lines();
  return std::move(result_);
}

}  // namespace weft::ptx
