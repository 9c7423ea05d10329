// The machine that is measured: a GPU of Weft or a real one.
//
//   Machine::Kernel kernel = machine.load(machine.header() + text);
//   machine.start(kernel, {blocks, threads, dynamic_shared}, {out, buffer});
//   machine.wait();
#ifndef WEFT_MICROBENCHMARKS_MACHINE_H
#define WEFT_MICROBENCHMARKS_MACHINE_H

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace weft::microbenchmarks {

// The machine does not take a module: an instruction that it lacks. Its other measurements go on.
class Refused : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Facts {
  std::string name;      // "gtx480", "NVIDIA H200"
  std::string software;  // "CUDA driver 13000"
  bool simulated = false;
  unsigned sms = 1, threads_per_sm = 1024, threads_per_block = 1024;
  double core_mhz = 0;
  std::uint64_t shared_per_block = 0;  // the most dynamic shared memory of a block, in bytes
  std::uint64_t l1_bytes = 0;          // of an SM; 0: not known
  std::uint64_t l2_bytes = 0;
  std::uint64_t memory_bytes = 0;
};

struct Shape {
  unsigned blocks = 1, threads = 1;
  std::uint64_t dynamic_shared = 0;
};

class Machine {
 public:
  using Kernel = std::size_t;

  virtual ~Machine() = default;
  virtual const Facts& facts() const = 0;
  virtual std::uint64_t allocate(std::uint64_t bytes) = 0;
  virtual void free(std::uint64_t address) = 0;
  virtual void write(std::uint64_t to, const void* from, std::uint64_t bytes) = 0;
  virtual void read(void* to, std::uint64_t from, std::uint64_t bytes) = 0;
  // .version and .target of modules that it takes.
  virtual std::string header() const = 0;
  // A module with the kernel "k", whose parameters are all .u64. Throws Refused.
  virtual Kernel load(const std::string& text) = 0;
  // The address of a variable of the kernel's module.
  virtual std::uint64_t variable(Kernel kernel, const std::string& name) = 0;
  // Puts a launch behind those before it, and returns; `wait` returns when all are done.
  virtual void start(Kernel kernel, const Shape& shape, const std::vector<std::uint64_t>& arguments) = 0;
  virtual void wait() = 0;
  // A clock of the host, or the simulated time.
  virtual double seconds() const = 0;
};

}  // namespace weft::microbenchmarks

#endif
