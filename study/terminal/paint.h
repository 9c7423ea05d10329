// Colour for people, used sparingly: headings, results, errors. Only on a terminal, and not where NO_COLOR
// has a value (no-color.org) or TERM is `dumb`. A Paint that was not asked for a stream paints nothing, so
// that text for files is made by the same functions.
//
//   const Paint paint = Paint::of(STDOUT_FILENO);
//   std::cout << paint.good("verified") << ": all distances are right\n";
#ifndef WEFT_STUDY_TERMINAL_PAINT_H
#define WEFT_STUDY_TERMINAL_PAINT_H

#include <string>

namespace weft::study {

class Paint {
 public:
  Paint() = default;
  // Of what is written to this file descriptor.
  static Paint of(int descriptor);

  std::string heading(const std::string& text) const { return painted("1", text); }
  std::string good(const std::string& text) const { return painted("32", text); }
  std::string bad(const std::string& text) const { return painted("1;31", text); }

 private:
  std::string painted(const char* code, const std::string& text) const;

  bool on_ = false;
};

}  // namespace weft::study

#endif
