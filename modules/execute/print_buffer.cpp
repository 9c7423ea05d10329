#include "execute/print_buffer.h"

namespace weft::execute {

void PrintBuffer::print(const std::string& text) {
  if (text.empty()) return;
  texts_.push_back(text);
  bytes_ += text.size();
  while (bytes_ > most_bytes_) {
    bytes_ -= texts_.front().size();
    texts_.pop_front();
    ++lost_;
  }
}

std::string PrintBuffer::take() {
  std::string text;
  text.reserve(bytes_);
  for (const std::string& part : texts_) text += part;
  texts_.clear();
  bytes_ = 0;
  return text;
}

}  // namespace weft::execute
