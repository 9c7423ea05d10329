// Operands: guards are read, so that it is known which threads of an issue execute it; the datapath takes the
// instruction, and says when its results can be used.
#ifndef WEFT_SM_STAGES_OPERANDS_H
#define WEFT_SM_STAGES_OPERANDS_H

#include "sm/stages/core.h"
#include "sm/stages/stage.h"

namespace weft::sm {

class OperandStage final : public IssueSink {
 public:
  OperandStage(Core& core, ExecutionSink& next) : core_(core), next_(next) {}

  void take(Cycle now, std::uint16_t id, unsigned scheduler, const warp_formation::Issue& offer) override;

 private:
  [[gnu::always_inline]] void count(const InFlight& flight, const datapath::Times& times);

  Core& core_;
  ExecutionSink& next_;
};

}  // namespace weft::sm

#endif
