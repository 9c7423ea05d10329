#include "datapath/place_forwarding.h"

namespace weft::datapath {

void PlaceForwarding::note(Cycle now, unsigned chunk, const std::uint16_t* keys, unsigned count,
                           const Results& results) {
  if (chunk >= latest_.size()) return;
  const Noted noted(results);
  const Cycle end = noted.last();
  latest_[chunk] = std::max(latest_[chunk], end);
  for (unsigned i = 0; i < count; ++i) {
    const std::size_t place = std::size_t{chunk} * keys_ + keys[i];
    auto& [last, before] = entries_[place];
    const bool over = until_[place] <= now;
    until_[place] = std::max(until_[place], end);
    if (over) {
      last = noted;
      before.threads = 0;
      continue;
    }
    // Threads for which it is written anew do not wait for the old value any more.
    before.threads &= ~results.threads;
    last.threads &= ~results.threads;
    if (before.last() <= now) before.threads = 0;
    if (last.threads != 0 && last.last() > now) {
      if (before.threads != 0) {
        // A third that is under way, of other threads again: the two are as late as the later one.
        last.base = std::max(last.last(), before.last());
        last.step = 0;
        last.together = 1;
        last.threads |= before.threads;
        last.oldest = before.oldest;
        last.several = true;
      }
      before = last;
    }
    last = noted;
  }
}

void PlaceForwarding::move(unsigned chunk, const std::uint16_t* keys, unsigned count, const Results& results,
                           Cycle last) {
  if (chunk >= latest_.size()) return;
  for (unsigned i = 0; i < count; ++i) {
    const std::size_t place = std::size_t{chunk} * keys_ + keys[i];
    for (Noted* const noted : {&entries_[place].last, &entries_[place].before}) {
      // Not another warp's, nor written anew since.
      if ((noted->threads & results.threads) == 0 || !noted->stands_for(results.started)) continue;
      if (noted->several) {
        noted->base = std::max(noted->base, last);
      } else {
        noted->base = results.base;
        noted->step = results.turns.step;
        noted->together = results.turns.together;
      }
      until_[place] = std::max(until_[place], noted->last());
      latest_[chunk] = std::max(latest_[chunk], noted->last());
    }
  }
}

PlaceForwarding::Cycle PlaceForwarding::start(const Noted& noted, const Reader& reader) const {
  const std::uint32_t common = noted.threads & reader.threads;
  if (common == 0) return 0;
  const std::uint32_t groups = fold(common);
  const Groups written = noted.groups();
  const auto of = [&](std::uint32_t bit) {
    const std::uint32_t place = std::min(reader.groups.place(bit), reader.places - 1);
    const Cycle ready = noted.base + noted.turns().of(written.place(bit));
    const Cycle reads = reader.turns.of(place);
    return ready > reads ? ready - reads : 0;
  };
  if (written.bits == reader.groups.bits && noted.together == reader.turns.together) {
    // Place by place: the first or the last is the one that waits, whichever is slower.
    if (noted.step <= reader.turns.step) return of(groups & (~groups + 1));
    return of(1u << (31 - __builtin_clz(groups)));
  }
  Cycle first = 0;
  for (std::uint32_t rest = groups; rest != 0; rest &= rest - 1)
    first = std::max(first, of(rest & (~rest + 1)));
  return first;
}

}  // namespace weft::datapath
