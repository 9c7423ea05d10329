// Reads the modifiers of an opcode from left to right.
#ifndef WEFT_PTX_MODIFIERS_H
#define WEFT_PTX_MODIFIERS_H

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "ptx/syntax.h"
#include "ptx/types.h"

namespace weft::ptx {

using TypeSet = std::uint32_t;
constexpr TypeSet set_of(Type type) {
  return 1u << static_cast<unsigned>(type);
}
template <class... Types>
constexpr TypeSet set_of(Type first, Types... rest) {
  return set_of(first) | set_of(rest...);
}

inline constexpr TypeSet kPredicateType = set_of(Type::kPred);
inline constexpr TypeSet kBits = set_of(Type::kB16, Type::kB32, Type::kB64);
inline constexpr TypeSet kUnsigned = set_of(Type::kU16, Type::kU32, Type::kU64);
inline constexpr TypeSet kSigned = set_of(Type::kS16, Type::kS32, Type::kS64);
inline constexpr TypeSet kBytes = set_of(Type::kB8, Type::kU8, Type::kS8);
inline constexpr TypeSet kIntegers = kUnsigned | kSigned;
inline constexpr TypeSet kFloats = set_of(Type::kF32, Type::kF64);
inline constexpr TypeSet kHalves = set_of(Type::kF16, Type::kF16x2, Type::kBf16, Type::kBf16x2);

inline constexpr TypeSet kF16s = set_of(Type::kF16, Type::kF16x2);
inline constexpr TypeSet kBf16s = set_of(Type::kBf16, Type::kBf16x2);

constexpr bool is_in(Type type, TypeSet types) {
  return (types & set_of(type)) != 0;
}

class Modifiers {
 public:
  Modifiers(const ModuleText& text, const Statement& statement)
      : text_(text), statement_(statement), rest_(text.view(statement.text)) {
    const std::size_t dot = rest_.find('.');
    mnemonic_ = rest_.substr(0, dot);
    rest_ = dot == std::string_view::npos ? std::string_view() : rest_.substr(dot + 1);
  }

  std::string_view mnemonic() const { return mnemonic_; }
  const ModuleText& text() const { return text_; }
  bool done() const { return rest_.empty(); }
  std::string_view peek() const { return rest_.substr(0, rest_.find('.')); }
  std::string_view next() {
    const std::string_view word = peek();
    rest_ = word.size() == rest_.size() ? std::string_view() : rest_.substr(word.size() + 1);
    return word;
  }
  bool take(std::string_view word) {
    if (rest_.empty() || peek() != word) return false;
    next();
    return true;
  }
  // One of several words, if the next one is among them.
  template <class T>
  bool take(std::initializer_list<std::pair<std::string_view, T>> words, T& value) {
    for (const auto& [word, meaning] : words) {
      if (take(word)) {
        value = meaning;
        return true;
      }
    }
    return false;
  }
  template <class T>
  void need(std::initializer_list<std::pair<std::string_view, T>> words, T& value) {
    if (take(words, value)) return;
    std::string allowed;
    for (const auto& entry : words) allowed += (allowed.empty() ? "." : ", .") + std::string(entry.first);
    unexpected("one of " + allowed);
  }
  Type type(TypeSet allowed);
  void finish() const {
    if (!done()) unexpected("no more modifiers");
  }

  // The next modifier does not fit: illegal, or legal PTX that Weft does not execute.
  [[noreturn]] void unexpected(const std::string& expected) const;
  [[noreturn]] void illegal(const std::string& why) const;
  // `is_new`: code for older GPUs does without.
  [[noreturn]] void not_executable(const std::string& which = "", bool is_new = false) const;

 private:
  const ModuleText& text_;
  const Statement& statement_;
  std::string_view mnemonic_, rest_;
};

}  // namespace weft::ptx

#endif
