#include "ptx/modifiers.h"

#include <algorithm>

#include "ptx/what_helps.h"

namespace weft::ptx {
namespace {

// Legal modifiers of instructions that Weft executes without them (PTX ISA 9.0, chapter 9).
constexpr std::string_view kLater[] = {
    "cc",      "noftz",   "relu",   "NaN",    "xorsign", "abs",    "oob",    "f16",
    "f16x2",   "bf16",    "bf16x2", "b128",   "u16x2",   "s16x2",  "f32x2",  "v2",
    "v4",      "unified", "async",  "warp",   "param",   "pack",   "rs",     "satfinite",
    "cluster", "e4m3x4",  "e5m2x4", "e2m3x4", "e3m2x4",  "e2m1x4", "scaled", "bulk"};
// Of those, what targets above sm_75 have.
constexpr std::string_view kNew[] = {"bf16",   "bf16x2", "b128",   "f32x2",  "async",  "rs",      "oob",
                                     "e4m3x4", "e5m2x4", "e2m3x4", "e3m2x4", "e2m1x4", "cluster", "bulk"};
bool is_new(std::string_view mnemonic, std::string_view word) {
  // A 16-bit float added to one of 32 bits; where all are .f16, Weft executes it.
  const bool mixed = word == "f16" && (mnemonic == "add" || mnemonic == "sub" || mnemonic == "fma");
  return mixed || std::find(std::begin(kNew), std::end(kNew), word) != std::end(kNew);
}

// Words that choose another instruction: they stand directly behind the mnemonic.
struct Leading {
  std::string_view mnemonic;
  std::array<std::string_view, 4> words;
};
constexpr Leading kLeading[] = {{"bar", {"warp", "cta", "red"}},
                                {"barrier", {"cta", "red", "cluster"}},
                                {"brx", {"idx"}},
                                {"cp", {"async", "bulk", "reduce"}},
                                {"cvt", {"pack"}},
                                {"cvta", {"to"}},
                                {"div", {"full"}},
                                {"dp2a", {"lo", "hi"}},
                                {"mad", {"lo", "hi", "wide"}},
                                {"mad24", {"lo", "hi"}},
                                {"madc", {"lo", "hi"}},
                                {"mul", {"lo", "hi", "wide"}},
                                {"mul24", {"lo", "hi"}},
                                {"shf", {"l", "r"}},
                                {"suld", {"b"}},
                                {"sust", {"b", "p"}},
                                {"tex", {"level", "grad", "base"}}};

// The words that lead, or nullptr.
const Leading* leading_of(std::string_view mnemonic) {
  const auto* found = std::find_if(std::begin(kLeading), std::end(kLeading),
                                   [=](const Leading& l) { return l.mnemonic == mnemonic; });
  return found == std::end(kLeading) ? nullptr : found;
}
bool leads(const Leading& leading, std::string_view word) {
  return std::find(leading.words.begin(), leading.words.end(), word) != leading.words.end();
}

// Types that no register has.
constexpr std::string_view kMoreTypes[] = {"b128",   "e2m1x2",  "e2m3x2", "e3m2x2", "e4m3",  "e4m3x2", "e5m2",
                                           "e5m2x2", "f32x2",   "s16x2",  "s8x4",   "tf32",  "u16x2",  "u8x4",
                                           "ue8m0",  "ue8m0x2", "e2m1x4", "e4m3x4", "e5m2x4"};
bool is_type(std::string_view word) {
  return type_of(word) != Type::kNone ||
         std::find(std::begin(kMoreTypes), std::end(kMoreTypes), word) != std::end(kMoreTypes);
}
bool is_vector(std::string_view word) {
  return word.size() == 2 && word[0] == 'v' && (word[1] == '2' || word[1] == '4' || word[1] == '8');
}

std::string list(TypeSet types) {
  std::string text;
  for (unsigned i = 1; i <= static_cast<unsigned>(kLastType); ++i) {
    if (types >> i & 1) text += (text.empty() ? "." : ", .") + std::string(name_of(static_cast<Type>(i)));
  }
  return text;
}

}  // namespace

Modifiers::Modifiers(const ModuleText& text, const Statement& statement)
    : text_(text), statement_(statement) {
  std::string_view rest = text.view(statement.text);
  std::array<std::string_view, kMost> types;
  std::size_t type_count = 0;
  const Leading* leading = nullptr;
  std::string_view vector, before;
  bool in_front = true, first = true;
  for (bool more = true; more;) {
    const std::size_t dot = rest.find('.');
    const std::string_view word = rest.substr(0, dot);
    more = dot != std::string_view::npos;
    rest = more ? rest.substr(dot + 1) : std::string_view();
    if (first) {
      mnemonic_ = before = word;
      leading = leading_of(word);
      first = false;
      continue;
    }
    if (count_ + type_count == kMost - 1)
      illegal("found more than " + std::to_string(kMost - 1) + " modifiers");
    if (!vector.empty() && !is_type(word)) {
      illegal("found ." + std::string(vector) + "." + std::string(word) + ", expected the type after ." +
              std::string(vector));
    }
    const bool leads_here = leading != nullptr && leads(*leading, word);
    if (leads_here && !in_front) {
      illegal("found ." + std::string(word) + " after ." + std::string(before) +
              ", expected it directly after " + std::string(mnemonic_));
    }
    in_front = in_front && leads_here;
    vector = is_vector(word) ? word : std::string_view();
    if (!vector.empty() || is_type(word)) {
      types[type_count++] = word;
    } else {
      words_[count_++] = word;
    }
    before = word;
  }
  if (!vector.empty()) illegal("a type is missing after ." + std::string(vector));
  for (std::size_t i = 0; i < type_count; ++i) words_[count_++] = types[i];
}

Type Modifiers::type(TypeSet allowed) {
  std::size_t place = 0;
  while (place < count_ && !is_type(words_[place])) ++place;
  if (place == count_) unexpected("one of " + list(allowed));
  const Type type = type_of(words_[place]);
  if (type == Type::kNone || !is_in(type, allowed)) unexpected(words_[place], "one of " + list(allowed));
  remove(place);
  return type;
}

void Modifiers::unexpected(std::string_view word, const std::string& expected) const {
  if (std::find(std::begin(kLater), std::end(kLater), word) != std::end(kLater)) {
    not_executable(" with ." + std::string(word), is_new(mnemonic_, word) ? kOlderCodeHelps : kNoHelp);
  }
  illegal(word.empty() ? "a modifier is missing, expected " + expected
                       : "found ." + std::string(word) + ", expected " + expected);
}

void Modifiers::illegal(const std::string& why) const {
  text_.fail(statement_.text.at, "'" + text_.statement_text(statement_.at) + "': " + why);
}

void Modifiers::not_executable(const std::string& which, std::string_view help) const {
  text_.fail(statement_.text.at, "'" + text_.statement_text(statement_.at) + "' is not executable yet: " +
                                     std::string(mnemonic_) + which + std::string(help));
}

}  // namespace weft::ptx
