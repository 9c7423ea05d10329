// Asynchronous copies (cp.async) to the shared memory of one block, as their threads know of them: a copy may
// be under way until its thread has waited for it, whenever it is done.
//
// A thread's copies since its last cp.async.commit_group are a group; wait_group n waits for all groups but
// the last n, wait_all for all copies.
#ifndef WEFT_CHECK_COPIES_UNDER_WAY_H
#define WEFT_CHECK_COPIES_UNDER_WAY_H

#include <cstdint>
#include <vector>

#include "weft/ptx/program.h"

namespace weft::check {

class CopiesUnderWay {
 public:
  // A block of so many threads begins; none copies.
  void start(std::uint32_t threads, std::uint64_t shared_bytes) {
    threads_.assign(threads, {});
    bytes_.assign(shared_bytes, 0);
    count_ = 0;
  }
  void copy(std::uint32_t thread, std::uint64_t offset, std::uint64_t bytes);
  // cp.async.commit_group, .wait_group, .wait_all.
  void order(std::uint32_t thread, const ptx::Instruction& in);
  // Whether a copy to one of these bytes may be under way.
  bool touches(std::uint64_t offset, std::uint64_t bytes) const;

 private:
  struct Copy {
    std::uint64_t offset = 0, bytes = 0, group = 0;
  };
  struct Thread {
    std::vector<Copy> copies;  // by group, ascending
    std::uint64_t open = 0;    // the group that copies join now
  };
  void finish(Thread& thread, std::uint64_t groups);

  std::vector<Thread> threads_;
  std::vector<std::uint16_t> bytes_;  // copies under way to each
  std::uint64_t count_ = 0;           // copies under way
};

}  // namespace weft::check

#endif
