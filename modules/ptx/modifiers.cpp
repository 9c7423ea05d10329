#include "ptx/modifiers.h"

#include <algorithm>

namespace weft::ptx {
namespace {

// Legal modifiers of instructions that Weft executes without them (PTX ISA 9.0, chapter 9).
constexpr std::string_view kLater[] = {
    "cc",      "noftz",   "relu",   "NaN",    "xorsign", "abs",    "oob",   "f16",
    "f16x2",   "bf16",    "bf16x2", "b128",   "u16x2",   "s16x2",  "f32x2", "v2",
    "v4",      "unified", "async",  "warp",   "param",   "pack",   "rs",    "satfinite",
    "cluster", "e4m3x4",  "e5m2x4", "e2m3x4", "e3m2x4",  "e2m1x4", "scaled"};
// Of those, what targets above sm_75 have.
constexpr std::string_view kNew[] = {"bf16",   "bf16x2", "b128",   "f32x2",  "async",  "rs",
                                     "e4m3x4", "e5m2x4", "e2m3x4", "e3m2x4", "e2m1x4", "cluster"};

std::string list(TypeSet types) {
  std::string text;
  for (unsigned i = 1; i <= static_cast<unsigned>(kLastType); ++i) {
    if (types >> i & 1) text += (text.empty() ? "." : ", .") + std::string(name_of(static_cast<Type>(i)));
  }
  return text;
}

}  // namespace

Type Modifiers::type(TypeSet allowed) {
  const Type type = type_of(peek());
  if (type == Type::kNone || !(allowed & set_of(type))) unexpected("one of " + list(allowed));
  next();
  return type;
}

void Modifiers::unexpected(const std::string& expected) const {
  const std::string_view word = peek();
  if (std::find(std::begin(kLater), std::end(kLater), word) != std::end(kLater)) {
    not_executable(" with ." + std::string(word),
                   std::find(std::begin(kNew), std::end(kNew), word) != std::end(kNew));
  }
  illegal(word.empty() ? "a modifier is missing, expected " + expected
                       : "found ." + std::string(word) + ", expected " + expected);
}

void Modifiers::illegal(const std::string& why) const {
  text_.fail(statement_.text.at, "'" + text_.statement_text(statement_.at) + "': " + why);
}

void Modifiers::not_executable(const std::string& which, bool is_new) const {
  text_.fail(statement_.text.at,
             "'" + text_.statement_text(statement_.at) +
                 "' is not executable yet: " + std::string(mnemonic_) + which +
                 (is_new ? "; code for older GPUs may do without: nvcc -arch=compute_75" : ""));
}

}  // namespace weft::ptx
