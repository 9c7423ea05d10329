// The modifiers of an opcode, as a set: PTX ISA 9.0 writes them in one order, ptxas of CUDA 13.0 takes
// others, and compilers and headers make use of it (div.ftz.rn.f32, rcp.approx.f32.ftz, atom.global.u32.add).
// What ptxas keeps in order, as about a thousand permutations showed:
//   - words that choose another instruction stand directly behind the mnemonic: mul.wide, cvt.pack, bar.red;
//   - types keep their order among each other: cvt.u8.s32;
//   - .v2, .v4 and .v8 stand directly before a type.
// All others stand anywhere. A reader takes the words that it knows, in any order; what is left is an error.
#ifndef WEFT_PTX_MODIFIERS_H
#define WEFT_PTX_MODIFIERS_H

#include <array>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "ptx/syntax.h"
#include "ptx/types.h"
#include "ptx/what_helps.h"

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
  Modifiers(const ModuleText& text, const Statement& statement);

  std::string_view mnemonic() const { return mnemonic_; }
  const ModuleText& text() const { return text_; }
  bool done() const { return count_ == 0; }
  // The words that nobody took yet, other words before types: the first one.
  std::string_view peek() const { return done() ? std::string_view() : words_[0]; }
  std::string_view next() {
    const std::string_view word = peek();
    if (!done()) remove(0);
    return word;
  }
  bool has(std::string_view word) const { return place_of(word) != count_; }
  bool take(std::string_view word) {
    const std::size_t place = place_of(word);
    if (place == count_) return false;
    remove(place);
    return true;
  }
  // The first word that is among these, if there is one.
  template <class T>
  bool take(std::initializer_list<std::pair<std::string_view, T>> words, T& value) {
    for (std::size_t place = 0; place < count_; ++place) {
      for (const auto& [word, meaning] : words) {
        if (words_[place] != word) continue;
        value = meaning;
        remove(place);
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
  Type type(TypeSet allowed);  // the first word that is a type
  void finish() const {
    if (!done()) unexpected("no more modifiers");
  }

  // The first word that is left, or `word`, does not fit: illegal, or legal PTX that Weft does not execute.
  [[noreturn]] void unexpected(const std::string& expected) const { unexpected(peek(), expected); }
  [[noreturn]] void unexpected(std::string_view word, const std::string& expected) const;
  [[noreturn]] void illegal(const std::string& why) const;
  [[noreturn]] void not_executable(const std::string& which = "", std::string_view help = kNoHelp) const;

 private:
  const ModuleText& text_;
  const Statement& statement_;
  static constexpr std::size_t kMost = 16;  // the longest opcode of PTX ISA 9.0, one of mma, has fewer
  std::size_t place_of(std::string_view word) const {
    std::size_t place = 0;
    while (place < count_ && words_[place] != word) ++place;
    return place;
  }
  void remove(std::size_t place) {
    for (--count_; place < count_; ++place) words_[place] = words_[place + 1];
  }

  std::string_view mnemonic_;
  std::array<std::string_view, kMost> words_;  // types, with the .v2 before them, behind the others
  std::size_t count_ = 0;
};

}  // namespace weft::ptx

#endif
