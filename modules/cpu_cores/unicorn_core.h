// Host CPU models on Unicorn (the instruction-set translators of QEMU as a library): RV64 and AArch64.
//
// What it does about the limits of Unicorn 2.0.1:
// - A step is bounded by counting instructions per basic block, and stopped at the next block: stopping in an
//   access to a device would repeat the access, and a limit given to Unicorn costs a call per instruction.
// - The instruction that waits for an interrupt comes back as an ordinary end, with the PC behind it.
// - Code that others overwrite is not noticed: pages with code are kept as they were, and compared.
// - Exceptions never reach the guest: they end the step as a fault.
#ifndef WEFT_CPU_CORES_UNICORN_CORE_H
#define WEFT_CPU_CORES_UNICORN_CORE_H

#include <unicorn/unicorn.h>

#include <array>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "soc/cpu_core.h"

namespace weft::cpu_cores {

inline constexpr std::uint64_t kPage = 4096;

class UnicornCore : public soc::CpuCore {
 public:
  ~UnicornCore() override;
  UnicornCore(const UnicornCore&) = delete;
  UnicornCore& operator=(const UnicornCore&) = delete;

  void attach(Bus& bus) override { bus_ = &bus; }
  void map_memory(std::uint64_t base, std::uint64_t bytes, unsigned char* host) override;
  void map_devices(std::uint64_t base, std::uint64_t bytes) override;
  void memory_changed() override;
  void reset(std::uint64_t program_counter) override;
  Stop step(std::uint64_t instructions) override;
  void halt_soon() override { halt_ = true; }
  std::uint64_t executed() const override { return executed_; }
  std::uint64_t program_counter() const override { return get(pc_register_); }
  std::string fault() const override { return fault_; }

 protected:
  // Opens an engine; throws std::runtime_error with Unicorn's reason. All instructions have 4 bytes.
  UnicornCore(uc_arch architecture, uc_mode mode, int pc_register, std::uint32_t wait_opcode);

  // Before each run: whatever the architecture needs to take a pending interrupt.
  virtual void before_run() {}
  // Asked at each basic block while watch() is on: true ends the step there.
  virtual bool must_stop() const { return false; }
  void watch(bool on) { watch_ = on; }
  virtual void reset_registers() = 0;
  // What an exception number of this architecture means.
  virtual std::string exception_name(std::uint32_t number) const = 0;

  uc_engine* engine() const { return engine_; }
  std::uint64_t get(int register_number) const;
  void set(int register_number, std::uint64_t value);

 private:
  struct Range {
    std::uint64_t base = 0, bytes = 0;
    unsigned char* host = nullptr;  // null: devices
    UnicornCore* core = nullptr;
  };
  using Page = std::array<unsigned char, kPage>;

  static std::uint64_t on_read(uc_engine*, std::uint64_t offset, unsigned bytes, void* range);
  static void on_write(uc_engine*, std::uint64_t offset, unsigned bytes, std::uint64_t value, void* range);
  static void on_block(uc_engine*, std::uint64_t address, std::uint32_t bytes, void* core);
  static void on_exception(uc_engine*, std::uint32_t number, void* core);
  static bool on_invalid(uc_engine*, uc_mem_type type, std::uint64_t address, int bytes, std::int64_t value,
                         void* core);

  void block(std::uint64_t address, std::uint32_t bytes);
  void remember_code(std::uint64_t page);
  void forget_pages(const Range& range);
  void unmap(std::uint64_t base, std::uint64_t bytes);
  const Range* find(std::uint64_t address) const;
  bool waited() const;
  void check(uc_err error, const char* what) const;

  const int pc_register_;
  const std::uint32_t wait_opcode_;
  uc_engine* engine_ = nullptr;
  Bus* bus_ = nullptr;
  std::vector<Range*> ranges_;                    // on the heap: Unicorn holds pointers to them
  std::unordered_map<std::uint64_t, Page> code_;  // by page address
  std::uint64_t last_page_ = ~std::uint64_t{0};

  std::uint64_t executed_ = 0;
  std::uint64_t block_ = 0;  // instructions of the current basic block
  std::uint64_t block_address_ = 0;
  std::uint64_t goal_ = 0;  // of executed_
  bool halt_ = false, watch_ = false, stopped_ = false, first_ = false;
  std::string fault_;
};

}  // namespace weft::cpu_cores

#endif
