// The configuration of the warp-formation unit: reading, writing and rules.
#include <algorithm>

#include "common/config_origins.h"
#include "weft/common/error.h"
#include "weft/warp_formation/scheme.h"

namespace weft::warp_formation {

const SchemeOptions* OptionTable::find(const std::string& scheme) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return entry.scheme == scheme; });
  return found == entries_.end() ? nullptr : found->options.get();
}

SchemeOptions* OptionTable::find(const std::string& scheme) {
  return const_cast<SchemeOptions*>(std::as_const(*this).find(scheme));
}

void Config::describe(config::Visitor& v) {
  v.text("scheme", scheme, "warp-formation scheme; `weft list schemes` names them");
  v.integer("warp_size", warp_size, {1, kMaxWarpSize}, "threads",
            "threads of a warp: a power of two, 4 to 256");
  scheduling.describe(v, "scheduling", "which ready warp is issued");
  config::choice(v, "reconvergence", reconvergence,
                 {{"barrier_aware", Reconvergence::kBarrierAware}, {"plain", Reconvergence::kPlain}},
                 "where threads that diverge at a branch reconverge; plain: at its immediate post-dominator; "
                 "barrier_aware: earlier if that point would keep threads from a block barrier");
  // The scheme that runs comes last: where several have a key, its value is the one that is written.
  for (const auto& entry : options.entries()) {
    if (entry.scheme != scheme) entry.options->describe_shared(v);
  }
  if (SchemeOptions* const chosen = options.find(scheme)) chosen->describe_shared(v);
  for (const auto& entry : options.entries()) {
    v.begin(entry.scheme.c_str(), entry.meaning.c_str());
    entry.options->describe(v);
    v.end();
  }
}

namespace {

// A key that the scheme which runs does not have must not ask for anything.
void check_shared_keys(const Config& config, const std::string& where) {
  using SharedKey = SchemeOptions::SharedKey;
  const auto is = [](const SharedKey& a, const SharedKey& b) {
    return a.name != nullptr && b.name != nullptr && std::string(a.name) == b.name;
  };
  const SchemeOptions* const chosen = config.options.find(config.scheme);
  const SharedKey of_chosen = chosen == nullptr ? SharedKey() : chosen->shared_key();
  for (const auto& entry : config.options.entries()) {
    const SharedKey key = entry.options->shared_key();
    if (!key.asked_for || is(key, of_chosen)) continue;
    std::string others;
    for (const auto& other : config.options.entries()) {
      if (is(key, other.options->shared_key())) others += (others.empty() ? "" : ", ") + other.scheme;
    }
    throw config::RuleError(where + "/" + key.name, {where + "/scheme"},
                            "scheme " + config.scheme + " has no " + key.needs + "; allowed with " + others);
  }
}

}  // namespace

void Config::check(const std::string& where) const {
  if (warp_size < 4 || (warp_size & (warp_size - 1)) != 0) {
    throw InputError(where + "/warp_size",
                     "found " + std::to_string(warp_size) + "; allowed: powers of two from 4 to 256");
  }
  check_shared_keys(*this, where);
  for (const auto& entry : options.entries()) entry.options->check(where + "/" + entry.scheme);
  if (find_scheme(scheme) == nullptr)
    throw InputError(where + "/scheme", "unknown scheme \"" + scheme + "\"; known: " + known_schemes());
}

void Config::check_watchdog(const std::string& where, std::uint64_t cycles) const {
  const SchemeOptions* const chosen = options.find(scheme);
  const SchemeOptions::Hold hold = chosen == nullptr ? SchemeOptions::Hold() : chosen->longest_hold();
  if (hold.key == nullptr || hold.cycles < cycles) return;
  throw config::RuleError(where + "/warp_formation/" + scheme + "/" + hold.key, {where + "/watchdog/cycles"},
                          "found " + std::to_string(hold.cycles) +
                              " cycles; allowed: less than watchdog.cycles = " + std::to_string(cycles) +
                              ", or 0 (never)");
}

}  // namespace weft::warp_formation
