#include "sm/lane_calendar.h"

#include <algorithm>

#include "weft/common/popcount.h"

namespace weft::sm {

using execute::LaneAccess;

LaneCalendar::LaneCalendar(const machine::SmConfig& config, unsigned lanes, unsigned width)
    : banks_(static_cast<std::uint32_t>(config.shared_memory.banks)),
      word_shift_(config.shared_memory.bank_bytes == 8 ? 3 : 2),
      width_(std::max(1u, width)),
      texture_rate_(static_cast<unsigned>(config.texture.threads_per_cycle)),
      next_(lanes, 0) {
  if (lanes != 0) resize(4);  // the threads of a warp one by one, and some more for conflicts
}

void LaneCalendar::reset() {
  std::fill(next_.begin(), next_.end(), 0);
  for (Page& page : pages_) page.number = kNoPage;
}

LaneCalendar::Taken LaneCalendar::shared(const LaneWork& work, bool atomic) {
  const bool words = work.count == 1 && work.accesses->bytes >> word_shift_ <= 1;
  if (words && !atomic && work.accesses->space == ptx::Space::kShared) return deliver_words(work);
  Taken taken;
  Cycle& next = next_[work.lane];
  for (const datapath::Part* part = work.parts; part != work.parts + work.part_count; ++part) {
    for (unsigned i = 0; i < work.count; ++i) {
      const LaneAccess& access = work.accesses[i];
      if (access.space != ptx::Space::kShared || (part->groups >> access.group & 1) == 0) continue;
      const std::uint32_t threads = access.mask & part->lanes;
      if (threads == 0) continue;
      taken.last = present(access, threads, std::max(part->ready + 1, next), atomic, taken);
      next = taken.last + 1;
    }
  }
  return taken;
}

// The common case, quickly: one access, a word for each thread, so that a group presents all in one cycle.
LaneCalendar::Taken LaneCalendar::deliver_words(const LaneWork& work) {
  const LaneAccess& access = *work.accesses;
  const datapath::Part *part = work.parts, *const end = part + work.part_count;
  const Cycle start = next_[work.lane];
  Taken taken;
  Cycle next = start;
  while (part != end) {
    const Cycle from = std::max(part->ready + 1, next);
    const std::size_t page = page_of(from);
    const datapath::Part* const first = part;
    part = deliver_to_free(access, part, end, from / kCycles, pages_[page], words_of(page, 0), next, taken);
    if (part != first) continue;
    const std::uint32_t threads = (part->groups >> access.group & 1) != 0 ? access.mask & part->lanes : 0;
    ++part;
    if (threads == 0) continue;
    Cycle last = from;
    for (std::uint32_t rest = threads; rest != 0; rest &= rest - 1) {
      const std::uint64_t address = access.address[static_cast<unsigned>(__builtin_ctz(rest))];
      last = std::max(last, deliver(static_cast<std::uint32_t>(address >> word_shift_), from, taken));
    }
    taken.conflicts += static_cast<std::uint32_t>(last - from);
    next = last + 1;
  }
  if (next != start) taken.last = next - 1;
  next_[work.lane] = next;
  return taken;
}

// Threads that are alone in their group, in the cycles of one page, as long as they find their banks free.
// Returns the first part that has something else.
inline const datapath::Part* LaneCalendar::deliver_to_free(const LaneAccess& access,
                                                           const datapath::Part* part,
                                                           const datapath::Part* end, Cycle number,
                                                           Page& page, std::uint32_t* words, Cycle& next,
                                                           Taken& taken) const {
  const std::uint32_t mask = access.mask, group = 1u << access.group, bank_mask = banks_ - 1;
  const unsigned shift = word_shift_;
  std::uint64_t busy = 0;
  Cycle from = next;
  for (; part != end; ++part) {
    const std::uint32_t thread = mask & part->lanes;
    if ((part->groups & group) == 0 || thread == 0 || (thread & (thread - 1)) != 0) break;
    const Cycle cycle = std::max(part->ready + 1, from);
    const std::uint64_t address = access.address[static_cast<unsigned>(__builtin_ctz(thread))];
    const auto word = static_cast<std::uint32_t>(address >> shift);
    const std::uint32_t bank = word & bank_mask;
    if (cycle / kCycles != number || (page.taken[bank] & bit_of(cycle)) != 0) break;
    page.taken[bank] |= bit_of(cycle);
    busy |= bit_of(cycle);
    words[bank * kCycles + cycle % kCycles] = word;
    from = cycle + 1;
  }
  next = from;
  taken.cycles += page.add_busy(busy);
  return part;
}

Cycle LaneCalendar::present(const LaneAccess& access, std::uint32_t threads, Cycle from, bool atomic,
                            Taken& taken) {
  const auto words = std::max<std::uint32_t>(1, access.bytes >> word_shift_);
  const std::uint32_t together = std::min(words, width_);  // words of a thread that go in one cycle
  Cycle last = from;
  std::uint32_t room = width_, cycles = 1;
  const auto next_cycle = [&] {
    from = last = last + 1;
    room = width_;
    ++cycles;
  };
  const Cycle first = from;
  for (std::uint32_t rest = threads; rest != 0; rest &= rest - 1) {
    const auto word =
        static_cast<std::uint32_t>(access.address[static_cast<unsigned>(__builtin_ctz(rest))] >> word_shift_);
    if (room < together) next_cycle();
    for (std::uint32_t w = word; w < word + words; ++w) {
      if (room == 0) next_cycle();
      --room;
      last = std::max(last, atomic ? keep(w, from, w == word, taken) : deliver(w, from, taken));
    }
  }
  taken.conflicts += static_cast<std::uint32_t>(last - first + 1) - cycles;
  return last;
}

// The first cycle in which the word's bank is free, or delivers it anyway.
Cycle LaneCalendar::deliver(std::uint32_t word, Cycle from, Taken& taken) {
  const std::uint32_t bank = word & (banks_ - 1);
  for (Cycle first = from - from % kCycles;; first += kCycles, from = first) {
    const std::size_t page = page_of(from);
    const Cycle free = first_free(pages_[page].taken[bank], from);
    const std::uint32_t* words = words_of(page, bank);
    for (; from != free; ++from) {
      if (words[from - first] == word) return from;
    }
    if (free != first + kCycles) return take(page, bank, free, word, taken);
  }
}

// The first cycle in which the bank is free; for the first word of an atomic, in which no other begins.
Cycle LaneCalendar::keep(std::uint32_t word, Cycle from, bool begins, Taken& taken) {
  const std::uint32_t bank = word & (banks_ - 1);
  for (Cycle first = from - from % kCycles;; first += kCycles, from = first) {
    const std::size_t page = page_of(from);
    const Cycle free = first_free(pages_[page].taken[bank] | (begins ? pages_[page].atomic : 0), from);
    if (free == first + kCycles) continue;
    if (begins) pages_[page].atomic |= bit_of(free);
    return take(page, bank, free, kExclusive, taken);
  }
}

// From a cycle on, in its page: the first whose bit is not set, or the first of the next page.
Cycle LaneCalendar::first_free(std::uint64_t taken, Cycle from) {
  const std::uint64_t free = ~taken >> from % kCycles;
  return free != 0 ? from + static_cast<unsigned>(__builtin_ctzll(free)) : (from / kCycles + 1) * kCycles;
}

Cycle LaneCalendar::take(std::size_t number, std::uint32_t bank, Cycle cycle, std::uint32_t word,
                         Taken& taken) {
  Page& page = pages_[number];
  taken.cycles += page.add_busy(bit_of(cycle));
  page.taken[bank] |= bit_of(cycle);
  words_of(number, bank)[cycle % kCycles] = word;
  return cycle;
}

LaneCalendar::Taken LaneCalendar::textures(const LaneWork& work, unsigned passes) {
  Taken taken;
  for (const datapath::Part* part = work.parts; part != work.parts + work.part_count; ++part) {
    std::uint32_t threads = 0;
    for (unsigned i = 0; i < work.count; ++i) {
      if ((part->groups >> work.accesses[i].group & 1) != 0) threads |= work.accesses[i].mask & part->lanes;
    }
    auto left = count_of(threads) * passes;
    for (Cycle cycle = std::max(part->ready + 1, taken.last); left != 0; ++cycle) {
      std::uint32_t& made = pages_[page_of(cycle)].textures[cycle % kCycles];
      const std::uint32_t now = std::min(left, texture_rate_ - made);
      if (now == 0) continue;
      if (made == 0) ++taken.cycles;
      made += now;
      left -= now;
      taken.last = cycle;
    }
  }
  return taken;
}

inline std::size_t LaneCalendar::page_of(Cycle cycle) {
  const std::size_t page = cycle / kCycles & (pages_.size() - 1);
  return pages_[page].number == cycle / kCycles ? page : begin_page(cycle / kCycles);
}

// Pages whose cycles are over are free.
std::size_t LaneCalendar::begin_page(Cycle number) {
  const auto in_use = [this](const Page& page) {
    return page.number != kNoPage && page.number >= now_ / kCycles;
  };
  while (in_use(pages_[number & (pages_.size() - 1)])) resize(pages_.size() * 2);
  const std::size_t page = number & (pages_.size() - 1);
  pages_[page].number = number;
  pages_[page].busy = pages_[page].atomic = 0;
  pages_[page].textures.fill(0);
  std::fill_n(pages_[page].taken.begin(), banks_, 0);
  return page;
}

void LaneCalendar::resize(std::size_t size) {
  std::vector<Page> pages(size);
  std::vector<std::uint32_t> words(size * banks_ * kCycles);
  for (std::size_t from = 0; from < pages_.size(); ++from) {
    if (pages_[from].number == kNoPage) continue;
    const std::size_t to = pages_[from].number & (size - 1), count = banks_ * kCycles;
    pages[to] = pages_[from];
    std::copy_n(words_of(from, 0), count, words.data() + to * count);
  }
  pages_.swap(pages);
  words_.swap(words);
}

}  // namespace weft::sm
