// Numbers of a crossbar's queues, as the bits of a few words. Visited in ascending order. Words without a bit
// are not looked at, so that a small machine does not pay for the largest one.
#ifndef WEFT_CROSSBAR_QUEUE_SET_H
#define WEFT_CROSSBAR_QUEUE_SET_H

#include <array>
#include <cstdint>

namespace weft::crossbar {

class QueueSet {
 public:
  static constexpr unsigned kMost = 512;  // numbers are below it
  static constexpr unsigned kNone = ~0u;

  bool empty() const { return used_ == 0; }
  bool contains(unsigned number) const { return (words_[number / 64] >> number % 64 & 1) != 0; }
  void insert(unsigned number) {
    words_[number / 64] |= bit(number % 64);
    used_ |= bit(number / 64);
  }
  void erase(unsigned number) {
    std::uint64_t& word = words_[number / 64];
    word &= ~bit(number % 64);
    if (word == 0) used_ &= ~bit(number / 64);
  }
  friend QueueSet operator|(const QueueSet& a, const QueueSet& b) {
    QueueSet both;
    both.used_ = a.used_ | b.used_;
    for (std::uint64_t rest = both.used_; rest != 0; rest &= rest - 1) {
      const unsigned w = lowest(rest);
      both.words_[w] = a.words_[w] | b.words_[w];
    }
    return both;
  }

  // What was in it at the call, whatever `visit` does to it.
  template <class Visit>
  void for_each(Visit&& visit) const {
    if (used_ == 0) return;
    if ((used_ & (used_ - 1)) == 0) return visit_word(words_[lowest(used_)], lowest(used_), visit);
    const auto words = words_;
    for (std::uint64_t rest = used_; rest != 0; rest &= rest - 1)
      visit_word(words[lowest(rest)], lowest(rest), visit);
  }
  // The first of which `holds` is true; kNone: of none. `holds` does not change the set.
  template <class Test>
  unsigned find(Test&& holds) const {
    return find_in_words(used_, holds);
  }
  // The same from `start` on, and behind the last one from 0 on.
  template <class Test>
  unsigned find_from(unsigned start, Test&& holds) const {
    if (used_ == 0) return kNone;
    const unsigned first = start / 64 % kWords;
    const std::uint64_t word = words_[first], behind = ~std::uint64_t{0} << start % 64;
    const std::uint64_t before_first = bit(first) - 1, others = used_ & ~bit(first);
    unsigned found = find_in(word & behind, first, holds);
    if (found == kNone) found = find_in_words(others & ~before_first, holds);
    if (found == kNone) found = find_in_words(others & before_first, holds);
    return found != kNone ? found : find_in(word & ~behind, first, holds);
  }

 private:
  static constexpr unsigned kWords = kMost / 64;

  static constexpr std::uint64_t bit(unsigned place) { return std::uint64_t{1} << place; }
  static unsigned lowest(std::uint64_t bits) { return static_cast<unsigned>(__builtin_ctzll(bits)); }

  template <class Visit>
  static void visit_word(std::uint64_t bits, unsigned word, Visit& visit) {
    for (; bits != 0; bits &= bits - 1) visit(64 * word + lowest(bits));
  }
  template <class Test>
  static unsigned find_in(std::uint64_t bits, unsigned word, Test& holds) {
    for (; bits != 0; bits &= bits - 1) {
      const unsigned number = 64 * word + lowest(bits);
      if (holds(number)) return number;
    }
    return kNone;
  }
  template <class Test>
  unsigned find_in_words(std::uint64_t words, Test& holds) const {
    for (; words != 0; words &= words - 1) {
      const unsigned found = find_in(words_[lowest(words)], lowest(words), holds);
      if (found != kNone) return found;
    }
    return kNone;
  }

  std::uint64_t used_ = 0;  // words with a bit
  std::array<std::uint64_t, kWords> words_{};
};

}  // namespace weft::crossbar

#endif
