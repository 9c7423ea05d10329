// Numbers of a crossbar's queues, as the bits of a few words. Visited in ascending order.
#ifndef WEFT_CROSSBAR_QUEUE_SET_H
#define WEFT_CROSSBAR_QUEUE_SET_H

#include <array>
#include <cstdint>

namespace weft::crossbar {

class QueueSet {
 public:
  static constexpr unsigned kMost = 128;  // numbers are below it
  static constexpr unsigned kNone = ~0u;

  bool empty() const { return (words_[0] | words_[1]) == 0; }
  bool contains(unsigned number) const { return (words_[number / 64] >> number % 64 & 1) != 0; }
  void insert(unsigned number) { words_[number / 64] |= std::uint64_t{1} << number % 64; }
  void erase(unsigned number) { words_[number / 64] &= ~(std::uint64_t{1} << number % 64); }
  friend QueueSet operator|(const QueueSet& a, const QueueSet& b) {
    QueueSet both;
    for (unsigned w = 0; w < kWords; ++w) both.words_[w] = a.words_[w] | b.words_[w];
    return both;
  }

  // What was in it at the call, whatever `visit` does to it.
  template <class Visit>
  void for_each(Visit&& visit) const {
    find([&](unsigned number) {
      visit(number);
      return false;
    });
  }
  // The first of which `holds` is true; kNone: of none.
  template <class Test>
  unsigned find(Test&& holds) const {
    const auto [low, high] = words_;
    const unsigned found = find_in(low, 0, holds);
    return found != kNone || high == 0 ? found : find_in(high, 64, holds);
  }
  // The same from `start` on, and behind the last one from 0 on.
  template <class Test>
  unsigned find_from(unsigned start, Test&& holds) const {
    const auto [low, high] = words_;
    const std::uint64_t behind = ~std::uint64_t{0} << start % 64;
    const bool from_high = start / 64 % 2 != 0;
    unsigned found = from_high ? kNone : find_in(low & behind, 0, holds);
    if (found == kNone && high != 0) found = find_in(from_high ? high & behind : high, 64, holds);
    if (found == kNone) found = find_in(from_high ? low : low & ~behind, 0, holds);
    return found != kNone || !from_high ? found : find_in(high & ~behind, 64, holds);
  }

 private:
  static constexpr unsigned kWords = kMost / 64;

  template <class Test>
  static unsigned find_in(std::uint64_t bits, unsigned first, Test&& holds) {
    for (; bits != 0; bits &= bits - 1) {
      const unsigned number = first + static_cast<unsigned>(__builtin_ctzll(bits));
      if (holds(number)) return number;
    }
    return kNone;
  }

  std::array<std::uint64_t, kWords> words_{};
};

}  // namespace weft::crossbar

#endif
