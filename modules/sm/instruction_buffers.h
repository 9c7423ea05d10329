// An instruction buffer for each warp slot of an SM: fetch fills them, issue empties them.
#ifndef WEFT_SM_INSTRUCTION_BUFFERS_H
#define WEFT_SM_INSTRUCTION_BUFFERS_H

#include <cstdint>
#include <vector>

#include "bus/clock_domain.h"
#include "weft/common/archive.h"
#include "weft/ptx/program.h"

namespace weft::sm {

// In place of the address of a line of instructions: there is none.
inline constexpr std::uint64_t kNoLine = UINT64_MAX;

class InstructionBuffers {
 public:
  explicit InstructionBuffers(unsigned contexts) : buffers_(contexts) {}
  virtual ~InstructionBuffers() = default;

  // The buffer begins with the instruction.
  bool holds(unsigned context, ptx::Pc pc) const {
    const Buffer& b = buffers_[context];
    return b.count != 0 && b.first == pc;
  }
  // The instruction at the front of the buffer was issued.
  virtual void consume(unsigned context) = 0;

 protected:
  struct Buffer {
    ptx::Pc wanted = ptx::kNoPc;  // what the scheme needs next
    ptx::Pc first = 0;            // the oldest instruction held
    std::uint8_t count = 0;
    bool fetching = false;  // a fetch is on its way
    ptx::Pc fetch_pc = 0;   // ... of instructions from here
    std::uint8_t fetch_count = 0;
    bool missing = false;  // ... and waits for memory
    Cycle arrival = 0;
    void archive(Archive& archive) {
      auto& [wanted_, first_, count_, fetching_, fetch_pc_, fetch_count_, missing_, arrival_] = *this;
      archive(wanted_, first_, count_, fetching_, fetch_pc_, fetch_count_, missing_, arrival_);
    }
  };
  std::vector<Buffer> buffers_;
};

}  // namespace weft::sm

#endif
