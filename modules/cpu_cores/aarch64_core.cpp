#include <unicorn/unicorn.h>

#include <memory>

#include "cpu_cores/cores.h"
#include "cpu_cores/unicorn_core.h"

namespace weft::cpu_cores {
namespace {

constexpr std::uint32_t kWfi = 0xd503207f;
constexpr std::uint64_t kIrqMask = 1u << 7;          // PSTATE.I
constexpr std::uint64_t kAllMasks = 0xfu << 6;       // PSTATE.DAIF
constexpr std::uint64_t kExceptionLevel1 = 5;        // EL1 with its own stack pointer
constexpr std::uint64_t kConditions = 0xfULL << 28;  // PSTATE.NZCV
constexpr std::uint64_t kIrqSameLevel = 0x280;    // vector: IRQ from the current level with its stack pointer
constexpr std::uint64_t kIrqSharedStack = 0x200;  // ... with SP_EL0

// An interrupt is taken by hand before a run, as the ARM Architecture Reference Manual (D1.10) says.
class AArch64Core final : public UnicornCore {
 public:
  AArch64Core() : UnicornCore(UC_ARCH_ARM64, UC_MODE_ARM, UC_ARM64_REG_PC, kWfi) {}

  void interrupt(bool level) override {
    level_ = level;
    watch(level);  // a program may unmask it at any block
  }

 private:
  struct SystemRegister {
    std::uint32_t crn, crm, op0, op1, op2;
  };
  static constexpr SystemRegister kSavedStatus{4, 0, 3, 0, 0};    // SPSR_EL1
  static constexpr SystemRegister kReturnAddress{4, 0, 3, 0, 1};  // ELR_EL1
  static constexpr SystemRegister kVectorBase{12, 0, 3, 0, 0};    // VBAR_EL1
  static constexpr SystemRegister kFloatingTrap{1, 0, 3, 0, 2};   // CPACR_EL1

  void write(const SystemRegister& which, std::uint64_t value) {
    uc_arm64_cp_reg access{which.crn, which.crm, which.op0, which.op1, which.op2, value};
    uc_reg_write(engine(), UC_ARM64_REG_CP_REG, &access);
  }
  std::uint64_t read(const SystemRegister& which) const {
    uc_arm64_cp_reg access{which.crn, which.crm, which.op0, which.op1, which.op2, 0};
    uc_reg_read(engine(), UC_ARM64_REG_CP_REG, &access);
    return access.val;
  }

  bool must_stop() const override { return level_ && (get(UC_ARM64_REG_PSTATE) & kIrqMask) == 0; }

  void before_run() override {
    if (!must_stop()) return;
    const std::uint64_t status = get(UC_ARM64_REG_PSTATE);
    write(kSavedStatus, status);
    write(kReturnAddress, program_counter());
    set(UC_ARM64_REG_PSTATE, (status & kConditions) | kAllMasks | kExceptionLevel1);
    set(UC_ARM64_REG_PC, read(kVectorBase) + ((status & 1) != 0 ? kIrqSameLevel : kIrqSharedStack));
  }

  void reset_registers() override {
    for (int i = UC_ARM64_REG_X0; i <= UC_ARM64_REG_X28; ++i) set(i, 0);
    set(UC_ARM64_REG_X29, 0);
    set(UC_ARM64_REG_X30, 0);
    set(UC_ARM64_REG_PSTATE, kAllMasks | kExceptionLevel1);
    write(kFloatingTrap, 0x3u << 20);
    interrupt(false);
  }

  std::string exception_name(std::uint32_t number) const override {
    // Numbers of QEMU's Arm translator.
    switch (number) {
      case 1:
        return "undefined instruction";
      case 2:
        return "supervisor call";
      case 3:
        return "instruction abort";
      case 4:
        return "data abort";
      case 7:
        return "breakpoint";
      default:
        return "unknown";
    }
  }

  bool level_ = false;
};

}  // namespace

std::unique_ptr<soc::CpuCore> make_aarch64() {
  return std::make_unique<AArch64Core>();
}

}  // namespace weft::cpu_cores
