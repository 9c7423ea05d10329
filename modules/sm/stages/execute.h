// Execute: what an instruction does to registers happens here, at once; its datapath's times say when that
// may be seen. Memory instructions go on to the memory stage.
#ifndef WEFT_SM_STAGES_EXECUTE_H
#define WEFT_SM_STAGES_EXECUTE_H

#include "sm/stages/core.h"
#include "sm/stages/stage.h"

namespace weft::sm {

class ExecuteStage final : public ExecutionSink {
 public:
  ExecuteStage(Core& core, MemorySink& memory, Completion& completion)
      : core_(core), memory_(memory), completion_(completion) {}

  void take(Cycle now, std::uint16_t id, const datapath::Times& times) override;

 private:
  void do_arithmetic(Cycle now, std::uint16_t id, const datapath::Times& times);
  void do_control(Cycle now, std::uint16_t id, const datapath::Times& times);
  bool call_device(const InFlight& flight);
  void do_warp_primitive(Cycle now, std::uint16_t id, const datapath::Times& times);

  Core& core_;
  MemorySink& memory_;
  Completion& completion_;
};

}  // namespace weft::sm

#endif
