#include <unicorn/unicorn.h>

#include <memory>

#include "cpu_cores/cores.h"
#include "cpu_cores/unicorn_core.h"

namespace weft::cpu_cores {
namespace {

constexpr std::uint32_t kWfi = 0x10500073;
// Of the interrupt bits of `mip` Unicorn lets software set those of supervisor mode; without delegation the
// trap goes to machine mode, cause 9.
constexpr std::uint64_t kSupervisorExternal = 1u << 9;

class Rv64Core final : public UnicornCore {
 public:
  Rv64Core() : UnicornCore(UC_ARCH_RISCV, UC_MODE_RISCV64, UC_RISCV_REG_PC, kWfi) {}

  void interrupt(bool level) override {
    const std::uint64_t pending = get(UC_RISCV_REG_MIP);
    const std::uint64_t wanted = level ? pending | kSupervisorExternal : pending & ~kSupervisorExternal;
    if (wanted != pending) set(UC_RISCV_REG_MIP, wanted);
  }

 private:
  void reset_registers() override {
    for (int i = UC_RISCV_REG_X1; i <= UC_RISCV_REG_X31; ++i) set(i, 0);
    for (const int csr : {UC_RISCV_REG_MIP, UC_RISCV_REG_MIE, UC_RISCV_REG_MSTATUS, UC_RISCV_REG_MTVEC})
      set(csr, 0);
  }

  std::string exception_name(std::uint32_t number) const override {
    // The RISC-V Instruction Set Manual, volume II, table "Machine cause register (mcause) values".
    static constexpr const char* kNames[] = {"misaligned instruction address",
                                             "instruction access fault",
                                             "illegal instruction",
                                             "breakpoint",
                                             "misaligned load",
                                             "load access fault",
                                             "misaligned store",
                                             "store access fault",
                                             "environment call"};
    return number < std::size(kNames) ? kNames[number] : "unknown";
  }
};

}  // namespace

std::unique_ptr<soc::CpuCore> make_rv64() {
  return std::make_unique<Rv64Core>();
}

}  // namespace weft::cpu_cores
