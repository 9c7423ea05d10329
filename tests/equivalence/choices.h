// The draws of a random generator, kept so that it can generate the same again, and something smaller.
//
//   Choices choices(seed);              // draws at random
//   const Kernel kernel = generate(choices);
//   Choices again(choices.draws());     // the same draws: the same kernel
//
// A generator asks `below(n)` and lets 0 mean the simplest, and stands in a `Span` while it generates a part
// that could be left out. Fewer or lower draws then generate something smaller that is just as valid, which
// is what `shrinks_of` gives, as a sequence of RapidCheck.
#ifndef WEFT_TESTS_EQUIVALENCE_CHOICES_H
#define WEFT_TESTS_EQUIVALENCE_CHOICES_H

#include <rapidcheck.h>

#include <cstdint>
#include <functional>
#include <random>
#include <utility>
#include <vector>

namespace weft::test {

using Draws = std::vector<std::uint32_t>;

class Choices {
 public:
  explicit Choices(std::uint64_t seed) : random_(seed), drawing_(true) {}
  // Draws after the end of the list are 0.
  explicit Choices(Draws draws) : given_(std::move(draws)) {}

  // 0 to n - 1.
  std::uint32_t below(std::uint32_t n);
  bool one_in(std::uint32_t n) { return below(n) == n - 1; }

  // The draws made between construction and destruction belong together.
  class Span {
   public:
    explicit Span(Choices& choices) : choices_(choices), number_(choices.spans_.size()) {
      choices_.spans_.emplace_back(choices_.made_.size(), 0);
    }
    ~Span() { choices_.spans_[number_].second = choices_.made_.size(); }
    Span(const Span&) = delete;
    Span& operator=(const Span&) = delete;

   private:
    Choices& choices_;
    std::size_t number_;
  };

  // What was drawn, without zeros at the end: they are implied.
  Draws draws() const;
  // [first, last) of each part, outer parts before those inside them.
  const std::vector<std::pair<std::size_t, std::size_t>>& spans() const { return spans_; }

 private:
  std::mt19937_64 random_;
  bool drawing_ = false;
  Draws given_, made_;
  std::vector<std::pair<std::size_t, std::size_t>> spans_;
};

// What is smaller than `draws`: without a part, with a part in the place of one that holds it, with a lower
// draw. `generate` is run on draws to learn their parts.
rc::Seq<Draws> shrinks_of(const Draws& draws, const std::function<void(Choices&)>& generate);

struct Smallest {
  Draws draws;
  unsigned tried = 0, shrinks = 0;
  bool finished = true;  // false: time was over
};
// Follows the shrinks, depth first, as long as one of them `fails`. `draws` fail.
Smallest smallest_failing(const Draws& draws, const std::function<void(Choices&)>& generate,
                          const std::function<bool(const Draws&)>& fails, double seconds);

}  // namespace weft::test

#endif
