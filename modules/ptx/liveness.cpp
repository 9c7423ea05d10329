#include "ptx/liveness.h"

#include <algorithm>

namespace weft::ptx {
namespace {

using Words = std::vector<std::uint64_t>;

}  // namespace

Liveness find_liveness(const Draft& draft, const FlowGraph& flow) {
  const std::size_t blocks = flow.blocks.size();
  // Number the registers that are read in some block before that block writes them.
  constexpr std::uint32_t kNone = UINT32_MAX;
  std::vector<std::uint32_t> number(draft.registers.size(), kNone);
  std::vector<VirtualId> global;
  std::vector<std::uint32_t> written_in(draft.registers.size(), kNone);
  for (std::uint32_t b = 0; b < blocks; ++b) {
    for (Pc pc = flow.blocks[b].first; pc <= flow.blocks[b].last; ++pc) {
      const DraftInstruction& i = draft.code[pc];
      const auto read = [&](VirtualId id) {
        if (written_in[id] != b && number[id] == kNone) {
          number[id] = static_cast<std::uint32_t>(global.size());
          global.push_back(id);
        }
      };
      for_each_read(i, read);
      for_each_write(i, [&](VirtualId id) {
        if (overwrites(i)) {
          written_in[id] = b;
        } else {
          read(id);  // keeps the old value alive
        }
      });
    }
  }

  // Numbers ascend as registers do, so that lists made from a set are sorted.
  std::sort(global.begin(), global.end());
  for (std::uint32_t n = 0; n < global.size(); ++n) number[global[n]] = n;

  const std::size_t words = (global.size() + 63) / 64;
  std::vector<Words> used(blocks, Words(words)), killed(blocks, Words(words)), in(blocks, Words(words)),
      out(blocks, Words(words));
  const auto set = [&](Words& w, VirtualId id) { w[number[id] / 64] |= 1ull << number[id] % 64; };
  const auto test = [&](const Words& w, VirtualId id) { return w[number[id] / 64] >> number[id] % 64 & 1; };
  for (std::size_t b = 0; b < blocks; ++b) {
    for (Pc pc = flow.blocks[b].first; pc <= flow.blocks[b].last; ++pc) {
      const DraftInstruction& i = draft.code[pc];
      const auto read = [&](VirtualId id) {
        if (number[id] != kNone && !test(killed[b], id)) set(used[b], id);
      };
      for_each_read(i, read);
      for_each_write(i, [&](VirtualId id) {
        if (number[id] == kNone) return;
        if (overwrites(i)) {
          set(killed[b], id);
        } else {
          read(id);
        }
      });
    }
  }

  std::vector<std::vector<std::uint32_t>> predecessors(blocks);
  for (std::uint32_t b = 0; b < blocks; ++b) {
    for (const std::uint32_t s : flow.blocks[b].successors) {
      if (s != blocks) predecessors[s].push_back(b);
    }
  }
  // Backward: visit against the dominance order, again only where a successor changed.
  std::vector<bool> waiting(blocks, true);
  std::vector<std::uint32_t> work(flow.dominance_order);
  while (!work.empty()) {
    const std::uint32_t b = work.back();
    work.pop_back();
    if (!waiting[b]) continue;
    waiting[b] = false;
    Words& mine = out[b];
    for (const std::uint32_t s : flow.blocks[b].successors) {
      if (s == blocks) continue;
      for (std::size_t w = 0; w < words; ++w) mine[w] |= in[s][w];
    }
    bool changed = false;
    for (std::size_t w = 0; w < words; ++w) {
      const std::uint64_t value = used[b][w] | (mine[w] & ~killed[b][w]);
      changed |= value != in[b][w];
      in[b][w] = value;
    }
    if (!changed) continue;
    for (const std::uint32_t p : predecessors[b]) {
      if (!waiting[p]) {
        waiting[p] = true;
        work.push_back(p);
      }
    }
  }

  const auto listed = [&](const Words& w) {
    std::vector<VirtualId> ids;
    for (std::size_t i = 0; i < words; ++i) {
      for (std::uint64_t rest = w[i]; rest != 0; rest &= rest - 1)
        ids.push_back(global[64 * i + static_cast<std::size_t>(__builtin_ctzll(rest))]);
    }
    return ids;
  };
  Liveness result;
  result.live_out.reserve(blocks);
  for (std::size_t b = 0; b < blocks; ++b) result.live_out.push_back(listed(out[b]));
  result.live_in_at_entry = listed(in[0]);
  return result;
}

}  // namespace weft::ptx
