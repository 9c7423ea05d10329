// What kernels have printed, up to a number of bytes. As in CUDA, the newest text stays.
#ifndef WEFT_EXECUTE_PRINT_BUFFER_H
#define WEFT_EXECUTE_PRINT_BUFFER_H

#include <cstdint>
#include <deque>
#include <string>

#include "weft/common/archive.h"

namespace weft::execute {

class PrintBuffer {
 public:
  explicit PrintBuffer(std::uint64_t most_bytes = 0) : most_bytes_(most_bytes) {}
  void set_most_bytes(std::uint64_t bytes) { most_bytes_ = bytes; }

  // The text of one call of printf.
  void print(const std::string& text);
  // What was printed since the last call of this, in order.
  std::string take();
  // Calls of printf whose text was given up because the buffer was full, since construction.
  std::uint64_t lost() const { return lost_; }
  void archive(Archive& archive) { archive(texts_, bytes_, lost_); }

 private:
  std::uint64_t most_bytes_;
  std::deque<std::string> texts_;
  std::uint64_t bytes_ = 0, lost_ = 0;
};

}  // namespace weft::execute

#endif
