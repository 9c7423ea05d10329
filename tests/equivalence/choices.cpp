#include "equivalence/choices.h"

#include <algorithm>
#include <chrono>
#include <set>

namespace weft::test {
namespace {

Draws joined(const Draws& draws, std::size_t first, std::size_t last, std::size_t from, std::size_t to) {
  Draws result(draws.begin(), draws.begin() + static_cast<std::ptrdiff_t>(first));
  result.insert(result.end(), draws.begin() + static_cast<std::ptrdiff_t>(from),
                draws.begin() + static_cast<std::ptrdiff_t>(to));
  result.insert(result.end(), draws.begin() + static_cast<std::ptrdiff_t>(last), draws.end());
  return result;
}

// Without a part, the longest first; then a part in the place of one around it.
std::vector<Draws> with_fewer_parts(const Draws& draws, const std::function<void(Choices&)>& generate) {
  Choices choices(draws);
  generate(choices);
  auto spans = choices.spans();
  for (auto& span : spans) {
    span.first = std::min(span.first, draws.size());
    span.second = std::min(span.second, draws.size());
  }
  std::stable_sort(spans.begin(), spans.end(),
                   [](const auto& a, const auto& b) { return a.second - a.first > b.second - b.first; });
  std::vector<Draws> results;
  for (const auto& [first, last] : spans) {
    if (first < last) results.push_back(joined(draws, first, last, first, first));
  }
  for (const auto& [first, last] : spans) {
    for (const auto& [from, to] : spans) {
      const bool inside = first <= from && to <= last && to - from < last - first;
      if (inside && from < to) results.push_back(joined(draws, first, last, from, to));
    }
  }
  return results;
}

}  // namespace

std::uint32_t Choices::below(std::uint32_t n) {
  std::uint32_t value = 0;
  if (drawing_) {
    value = static_cast<std::uint32_t>(random_() % n);
  } else if (made_.size() < given_.size()) {
    value = given_[made_.size()] % n;
  }
  made_.push_back(value);
  return value;
}

Draws Choices::draws() const {
  Draws draws = made_;
  while (!draws.empty() && draws.back() == 0) draws.pop_back();
  return draws;
}

rc::Seq<Draws> shrinks_of(const Draws& draws, const std::function<void(Choices&)>& generate) {
  return rc::seq::concat(
      rc::seq::fromContainer(with_fewer_parts(draws, generate)),
      rc::shrink::eachElement(draws, [](std::uint32_t draw) { return rc::shrink::integral(draw); }));
}

Smallest smallest_failing(const Draws& draws, const std::function<void(Choices&)>& generate,
                          const std::function<bool(const Draws&)>& fails, double seconds) {
  const auto start = std::chrono::steady_clock::now();
  Smallest smallest{draws};
  std::set<Draws> known{draws};
  auto shrinks = shrinks_of(draws, generate);
  while (auto next = shrinks.next()) {
    if (std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() > seconds) {
      smallest.finished = false;
      break;
    }
    // As the generator reads it: many shrinks come to the same.
    Choices choices(*next);
    generate(choices);
    const Draws candidate = choices.draws();
    if (!known.insert(candidate).second) continue;
    ++smallest.tried;
    if (!fails(candidate)) continue;
    ++smallest.shrinks;
    smallest.draws = candidate;
    shrinks = shrinks_of(candidate, generate);
  }
  return smallest;
}

}  // namespace weft::test
