// Memory: accesses of an instruction go through the load-store unit and the port to the crossbar; its data
// come back the same way.
#ifndef WEFT_SM_STAGES_MEMORY_H
#define WEFT_SM_STAGES_MEMORY_H

#include <cstdint>
#include <string>
#include <tlm>

#include "bus/clock_domain.h"
#include "sm/instruction_buffers.h"
#include "sm/load_store_unit.h"
#include "sm/memory_port.h"
#include "sm/stages/core.h"
#include "sm/stages/stage.h"
#include "sm/system_transactions.h"

namespace weft::sm {

class MemoryStage final : public MemorySink,
                          public MemoryRoom,
                          private LoadStoreListener,
                          private MemoryPort::Listener {
 public:
  MemoryStage(Core& core, tlm::tlm_initiator_socket<32>& socket, const bus::EdgePace& pace, double megahertz,
              Completion& completion);

  void reset();
  // One cycle of an SM whose kernel was abandoned: nothing new is sent, and answers are dropped. True: none
  // is under way any more, and the stage is as after a reset.
  bool drain(Cycle now);
  // Between two launches.
  void archive(Archive& archive) { archive(unit_, port_); }
  // `image`: of device memory. `carries`: transactions have their bytes with them.
  void start_kernel(const execute::DeviceMemoryView& memory, std::uint8_t* image, bool carries,
                    std::uint64_t parameter_offset, std::uint64_t shared_option);

  void take(Cycle now, std::uint16_t id, const datapath::Times& times) override;
  void order(const InFlight& flight) override;
  bool can_accept() const override { return unit_.can_accept(); }
  unsigned held_group(const ptx::Instruction& in, const warp_formation::Issue& offer) const override;

  // One cycle. First what has come back: one response enters the load-store unit. Returns the line of
  // instructions that it brought; kNoLine: none.
  std::uint64_t receive(Cycle now) {
    const std::uint64_t line = port_.answered(now) ? take_answer(now) : kNoLine;
    unit_.events(now);
    return line;
  }
  // Then the load-store unit works, and a request goes.
  void step(Cycle now) {
    unit_.step(now);
    if (unit_.data_cache().has_to_flush()) unit_.flush(!core_.has_block());
    if (!unit_.outgoing().empty() && port_.usable(now)) send();
  }
  Cycle next_event(Cycle now) const;
  // Queues the fetch of a line of instructions. Precondition: there is room.
  bool has_room() const { return !unit_.outgoing().full(); }
  void fetch_instructions(std::uint64_t line, std::uint32_t bytes);
  // What holds up the load-store unit (LoadStoreUnit::Hold).
  unsigned hold(Cycle now) const { return static_cast<unsigned>(unit_.hold(now)); }
  bool idle() const { return unit_.idle() && port_.idle(); }

  // Transactions that have not been answered yet.
  std::size_t transactions() const { return port_.transactions(); }
  const MemoryPort& port() const { return port_; }
  // Accesses to system memory so far.
  std::uint64_t system_accesses() const { return system_.opened(); }
  // A kernel's write to system memory is done: what the first level holds of it changes alike.
  void update_system_lines(std::uint64_t address, const tlm::tlm_generic_payload& write) {
    unit_.data_cache().update_system_lines(address, write);
  }
  // What the first level holds of system memory from `first` to `last` is no longer valid.
  void drop_system_lines(std::uint64_t first, std::uint64_t last);

  // The queue of responses, and the load-store unit's statistics.
  void bind_queue(statistics::Group& group);
  void bind(statistics::Group& group) { unit_.bind(group); }

 private:
  void memory_returned(std::uint16_t id, unsigned chunk, std::uint32_t threads) override;
  void memory_finished(std::uint16_t id) override;
  bool memory_answered(const tlm::tlm_generic_payload& payload) override;
  std::uint64_t take_answer(Cycle now);
  void send();
  tlm::tlm_generic_payload& payload_of(const OutgoingRequest& request);
  tlm::tlm_generic_payload& carrying(const OutgoingRequest& request);
  Stages stages_of(const MemoryPort::Answer& answer) const;

  Core& core_;
  Completion& completion_;
  const double cycles_per_ps_;
  SystemTransactions system_;
  LoadStoreUnit unit_;
  MemoryPort port_;
  std::uint8_t* image_ = nullptr;
  bool carries_ = false;
};

}  // namespace weft::sm

#endif
