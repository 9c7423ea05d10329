// What instructions make units and register banks of the SM do, for energy: counted with sm.observe.events.
//
// What other statistics say already is not counted again: issues, fetches, lookups in caches, requests.
#ifndef WEFT_SM_OBSERVERS_EVENT_ACCOUNT_H
#define WEFT_SM_OBSERVERS_EVENT_ACCOUNT_H

#include <array>
#include <cstdint>
#include <vector>

#include "common/operation.h"
#include "sm/sm_observer.h"
#include "weft/machine/sm_config.h"

namespace weft::sm {

Operation operation_of(const ptx::Instruction& in);

// 32-bit words of registers that an instruction reads and writes in each thread. Predicates and special
// registers lie elsewhere. Those that a warp has once (Program::scalars_per_warp) are counted apart.
struct RegisterWords {
  std::uint8_t reads = 0, writes = 0;
  std::uint8_t scalar_reads = 0, scalar_writes = 0;
};
// By PC.
std::vector<RegisterWords> register_words(const ptx::Program& program);

class EventAccount final : public SmObserver {
 public:
  EventAccount(const machine::SmConfig& config, unsigned lane_width);

  void kernel_started(const KernelStart& start) override;
  void issued(const Issue& issue) override;
  // The words of shared memory among what the instruction accesses.
  void accessed(const InFlight& flight, const execute::LaneAccess* accesses, unsigned count) override;
  // Its group `events`.
  void bind(statistics::Group& sm) override;

 private:
  struct Demand {
    Operation operation = Operation::kControl;
    RegisterWords words;
  };
  struct Registers {
    std::uint64_t rows_read = 0, rows_written = 0;    // of a beat each, lanes x 32 bits
    std::uint64_t words_read = 0, words_written = 0;  // of them, by threads that execute
  };
  // Registers that a warp has once.
  struct Scalars {
    std::uint64_t words_read = 0, words_written = 0;
    std::uint64_t operations = 0, saved_operations = 0;
  };

  std::uint64_t distinct_words(const execute::LaneAccess& access) const;

  const bool scalars_on_;
  const unsigned word_shift_, served_places_, beat_lanes_;
  std::vector<Demand> demands_;
  std::array<std::uint64_t, kOperations> operations_{};
  Registers vector_;
  Scalars scalar_;
  std::uint64_t idle_lanes_ = 0;
  std::uint64_t shared_read_ = 0, shared_written_ = 0;
};

}  // namespace weft::sm

#endif
