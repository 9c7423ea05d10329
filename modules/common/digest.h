// XXH3, 128 bits, of bytes that come in pieces. A digest tells results apart; it protects against no forgery.
//
//   Digest digest;
//   digest.add(bytes.data(), bytes.size());
//   digest.text();  // 32 hexadecimal digits
#ifndef WEFT_COMMON_DIGEST_H
#define WEFT_COMMON_DIGEST_H

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace weft {

class Digest {
 public:
  Digest();
  ~Digest();
  Digest(const Digest&) = delete;
  Digest& operator=(const Digest&) = delete;

  void add(const void* bytes, std::size_t count);
  std::uint64_t bytes() const { return bytes_; }  // so far
  std::string text() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
  std::uint64_t bytes_ = 0;
};

}  // namespace weft

#endif
