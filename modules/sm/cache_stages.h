// The stages through which requests come to the tags of the data cache, with `l1d.lookup` = `last`: a row of
// stages for each bank. At its end a request is looked up, and may be refused.
//
//   if (!stages.full(block)) stages.push(block, request, ready);
//   if (stages.next() <= now) stages.leave(now, [&](request, refusal) { return whether it went on; });
#ifndef WEFT_SM_CACHE_STAGES_H
#define WEFT_SM_CACHE_STAGES_H

#include <algorithm>
#include <cstdint>
#include <vector>

#include "bus/clock_domain.h"
#include "common/ring.h"
#include "weft/common/archive.h"
#include "weft/machine/sm_config.h"

namespace weft::sm {

// What keeps the load-store unit from taking another instruction, or would if it were full.
enum class Hold : std::uint8_t { kPort, kCoalescer, kSharedMemory, kTexture, kMshr, kWays, kMissQueue };

// Of the request that is next to be looked up: it was refused.
struct Refusal {
  bool blocked = false;  // nothing has changed since
  bool counted = false;
  Hold why = Hold::kMissQueue;
  Cycle since = 0;
  bool awaits_response() const { return counted && (why == Hold::kMshr || why == Hold::kWays); }
};

class CacheStages {
 public:
  struct Staged {
    std::uint32_t request = 0;
    Cycle ready = 0;  // at the end of the stages
  };
  struct Bank {
    Ring<Staged> staged;
    Refusal exit;
  };

  // `used`: requests come here at all.
  CacheStages(const machine::SmConfig& config, bool used)
      : shift_(static_cast<unsigned>(__builtin_ctzll(config.coalescer.block_bytes))),
        mask_(config.l1d.banks - 1),
        banks_(config.l1d.banks, Bank{Ring<Staged>(used ? config.l1d.latency : 0), Refusal()}) {}

  bool has_several_banks() const { return mask_ != 0; }
  // Neighbouring blocks lie in neighbouring banks.
  unsigned number_of(std::uint64_t block) const { return static_cast<unsigned>(block >> shift_ & mask_); }
  const Bank& bank(unsigned number) const { return banks_[number]; }
  bool full(std::uint64_t block) const { return banks_[number_of(block)].staged.full(); }
  void push(std::uint64_t block, std::uint32_t request, Cycle ready) {
    Bank& bank = banks_[number_of(block)];
    if (bank.staged.empty()) next_ = std::min(next_, ready);
    bank.staged.push({request, ready});
    ++requests_;
  }
  // The first cycle in which a request is at its end, if nothing keeps it there.
  Cycle next() const { return next_; }
  bool awaits_response() const {
    return std::any_of(banks_.begin(), banks_.end(),
                       [](const Bank& bank) { return bank.exit.awaits_response(); });
  }
  // What was refused may go on now.
  void try_again() {
    if (requests_ == 0) return;
    next_ = kNever;
    for (Bank& bank : banks_) {
      bank.exit.blocked = false;
      if (!bank.staged.empty()) next_ = std::min(next_, bank.staged.front().ready);
    }
  }
  // The request at the end of each bank's stages leaves if look_up(request, refusal) says so, unless it was
  // refused and nothing has changed since; then left(request) is called. Behind one that is refused the
  // others close up.
  template <class LookUp, class Left>
  void leave(Cycle now, LookUp&& look_up, Left&& left) {
    Cycle next = kNever;
    for (Bank& bank : banks_) {
      if (bank.staged.empty() || bank.exit.blocked) continue;
      const Staged front = bank.staged.front();
      if (front.ready <= now && look_up(front.request, bank.exit)) {
        bank.staged.pop();
        --requests_;
        left(front.request);
        if (bank.staged.empty()) continue;
      }
      if (!bank.exit.blocked) next = std::min(next, bank.staged.front().ready);
    }
    next_ = next;
  }

  void archive(Archive& archive) { archive(set_anew(banks_, next_), at_rest(requests_)); }

 private:
  unsigned shift_;
  std::uint64_t mask_;
  std::vector<Bank> banks_;
  std::size_t requests_ = 0;  // in all banks
  Cycle next_ = kNever;
};

}  // namespace weft::sm

#endif
