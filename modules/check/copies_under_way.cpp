#include "check/copies_under_way.h"

#include <algorithm>

namespace weft::check {

void CopiesUnderWay::copy(std::uint32_t thread, std::uint64_t offset, std::uint64_t bytes) {
  Thread& by = threads_[thread];
  by.copies.push_back({offset, bytes, by.open});
  for (std::uint64_t i = offset; i < std::min<std::uint64_t>(offset + bytes, bytes_.size()); ++i) ++bytes_[i];
  ++count_;
}

// Copies of the thread's first `groups` groups are there.
void CopiesUnderWay::finish(Thread& thread, std::uint64_t groups) {
  const auto last = std::find_if(thread.copies.begin(), thread.copies.end(),
                                 [groups](const Copy& copy) { return copy.group >= groups; });
  for (auto copy = thread.copies.begin(); copy != last; ++copy) {
    const std::uint64_t end = std::min<std::uint64_t>(copy->offset + copy->bytes, bytes_.size());
    for (std::uint64_t i = copy->offset; i < end; ++i) --bytes_[i];
    --count_;
  }
  thread.copies.erase(thread.copies.begin(), last);
}

void CopiesUnderWay::order(std::uint32_t thread, const ptx::Instruction& in) {
  Thread& by = threads_[thread];
  if (in.op == ptx::Opcode::kCopyCommit) {
    ++by.open;
  } else if (in.op == ptx::Opcode::kCopyWait) {
    const auto may_go_on = static_cast<std::uint64_t>(in.offset);
    const bool all = in.mode == ptx::Mode::kAll;
    finish(by, all ? UINT64_MAX : by.open - std::min(by.open, may_go_on));
  }
}

bool CopiesUnderWay::touches(std::uint64_t offset, std::uint64_t bytes) const {
  if (count_ == 0) return false;
  for (std::uint64_t i = offset; i < std::min<std::uint64_t>(offset + bytes, bytes_.size()); ++i) {
    if (bytes_[i] != 0) return true;
  }
  return false;
}

}  // namespace weft::check
