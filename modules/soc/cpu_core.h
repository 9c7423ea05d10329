// What a host CPU model is to the SoC: something that executes instructions, has one interrupt line, and
// reaches memory by pointers and everything else through its bus. Free of SystemC, so that an adapter to an
// instruction-set simulator needs nothing of Weft but this file; `HostCpu` gives it time.
//
//   std::unique_ptr<CpuCore> core = load_cpu_core("rv64");     // cpu_core_loader.h
//   core->attach(bus);
//   core->map_memory(0x8000'0000, bytes, pointer);
//   core->reset(entry);
//   CpuCore::Stop stop = core->step(10'000);
#ifndef WEFT_SOC_CPU_CORE_H
#define WEFT_SOC_CPU_CORE_H

#include <cstdint>
#include <string>

namespace weft::soc {

class CpuCore {
 public:
  // Where accesses go that no memory takes: called from within step(). `bytes` is 1, 2 or 4 (a core splits
  // what is wider, low word first).
  class Bus {
   public:
    virtual std::uint64_t read(std::uint64_t address, unsigned bytes) = 0;
    virtual void write(std::uint64_t address, unsigned bytes, std::uint64_t value) = 0;

   protected:
    ~Bus() = default;
  };

  // Why step() came back.
  enum class Stop : std::uint8_t {
    kBudget,   // executed what it was asked for, or halt_soon() was called
    kWaiting,  // executed the instruction that waits for an interrupt
    kFault     // cannot go on: fault() says why
  };

  virtual ~CpuCore() = default;

  // Once, before anything else; `bus` outlives the core.
  virtual void attach(Bus& bus) = 0;

  // Address ranges, in whole pages of 4096 bytes; a range replaces what was there before. Not from within
  // step().
  virtual void map_memory(std::uint64_t base, std::uint64_t bytes, unsigned char* host) = 0;
  virtual void map_devices(std::uint64_t base, std::uint64_t bytes) = 0;
  // Others may have written to memory: translations of code that has changed are dropped. Not from within
  // step().
  virtual void memory_changed() = 0;

  virtual void reset(std::uint64_t program_counter) = 0;
  // Executes at least one instruction and about `instructions`: to the end of a basic block.
  virtual Stop step(std::uint64_t instructions) = 0;
  // Ends the running step at the next basic block; from within step() only.
  virtual void halt_soon() = 0;
  // Instructions executed since construction; within step(), those before the current basic block.
  virtual std::uint64_t executed() const = 0;
  // Level of the external interrupt line; also from within step().
  virtual void interrupt(bool level) = 0;

  virtual std::uint64_t program_counter() const = 0;
  virtual std::string fault() const = 0;
};

}  // namespace weft::soc

#endif
