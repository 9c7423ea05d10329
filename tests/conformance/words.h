// Reads an opcode word by word. What is read does not have to be legal PTX: a reader answers with no case.
#ifndef WEFT_TESTS_CONFORMANCE_WORDS_H
#define WEFT_TESTS_CONFORMANCE_WORDS_H

#include <algorithm>
#include <initializer_list>

#include "conformance/case.h"

namespace weft::test::conformance {

class Words {
 public:
  explicit Words(const std::string& opcode) {
    std::size_t begin = 0;
    for (std::size_t dot; (dot = opcode.find('.', begin)) != std::string::npos; begin = dot + 1) {
      words_.push_back(opcode.substr(begin, dot - begin));
    }
    words_.push_back(opcode.substr(begin));
  }
  const std::string& mnemonic() const { return words_.front(); }
  bool done() const { return next_ == words_.size(); }
  std::string peek() const { return done() ? std::string() : words_[next_]; }
  bool take(std::string_view word) {
    if (done() || words_[next_] != word) return false;
    ++next_;
    return true;
  }
  // The next word if it is one of these, else "".
  std::string any(std::initializer_list<const char*> allowed) {
    std::string word = peek();
    if (word.empty() || std::find(allowed.begin(), allowed.end(), word) == allowed.end()) return "";
    ++next_;
    return word;
  }
  std::optional<Type> type() {
    const auto found = parse_type(peek());
    if (found) ++next_;
    return found;
  }

 private:
  std::vector<std::string> words_;
  std::size_t next_ = 1;
};

// "add.s32 %d, %a, %b;" for so many sources.
inline std::string plain_body(std::size_t sources) {
  static const char* const kNames[] = {", %a", ", %b", ", %c", ", %e"};
  std::string text = "$op %d";
  for (std::size_t i = 0; i < sources; ++i) text += kNames[i];
  return text + ";";
}

// A case of the usual shape.
inline Case plain(const char* family, const char* oracle, Type result, std::vector<Type> sources,
                  Oracle expected) {
  Case c;
  c.family = family;
  c.oracle = oracle;
  c.body = plain_body(sources.size());
  c.sources = std::move(sources);
  c.results = {result};
  c.expected = std::move(expected);
  return c;
}

inline std::uint64_t low_bits(unsigned width, std::uint64_t value) {
  return width >= 64 ? value : value & ((std::uint64_t{1} << width) - 1);
}

// One reader per group of mnemonics; an empty list for what is not of the group or not legal.
std::vector<Case> integer_cases(Words words);
std::vector<Case> bit_cases(Words words);
std::vector<Case> compare_cases(Words words);
std::vector<Case> float_cases(Words words);
std::vector<Case> approximate_cases(Words words);
std::vector<Case> convert_cases(Words words);
std::vector<Case> convert_small_cases(Words words);  // of cvt, where a format has 8 bits or fewer, or is tf32
std::vector<Case> video_cases(Words words);
std::vector<Case> video_scalar_cases(Words words);
std::vector<Case> wide_cases(Words words);  // ld and st of 32 bytes, atom and red of vectors
std::vector<Case> memory_cases(Words words);
std::vector<Case> atomic_cases(Words words);
std::vector<Case> miscellaneous_cases(Words words);
std::vector<Case> control_cases(Words words);

}  // namespace weft::test::conformance

#endif
