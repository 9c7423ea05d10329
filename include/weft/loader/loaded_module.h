// Parsed modules that are linked with each other, whose variables and functions have addresses, and the
// programs decoded from them so far. Most often it is one module.
#ifndef WEFT_LOADER_LOADED_MODULE_H
#define WEFT_LOADER_LOADED_MODULE_H

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "weft/ptx/module.h"
#include "weft/ptx/named_registers.h"

namespace weft::loader {

class LoadedModule {
 public:
  // The largest alignment of a variable, in bytes: what every allocation of device memory has.
  static constexpr std::uint64_t kAlignment = 256;
  // Returns the address of `bytes` bytes aligned to kAlignment.
  using Place = std::function<std::uint64_t(std::uint64_t bytes)>;
  // Writes `bytes` to device memory.
  using Write = std::function<void(std::uint64_t address, const std::vector<std::uint8_t>& bytes)>;

  // Places all .global and .const variables one behind the other in one allocation, so that a module costs
  // little device memory, and writes their initial values. Functions get addresses from number
  // `next_function` on, which is then the number after the last: they differ between the modules of a device.
  // Throws InputError for an .extern variable that no module defines, a variable, function or kernel that two
  // define, an alignment above kAlignment, a relocation to an unknown name. Variables with
  // .attribute(.managed) lie where `place_managed` says, each by itself; without it, with the others,
  // between which `gap` bytes stay free.
  LoadedModule(std::vector<ptx::Module> modules, const Place& place, const Write& write,
               std::uint64_t& next_function, const Place& place_managed = nullptr, std::uint64_t gap = 0);

  const std::string& file() const { return modules_[0].file; }
  const std::vector<std::string>& kernels() const { return kernels_; }
  // The variables that lie in device memory.
  struct Placed {
    std::string name;
    std::uint64_t address = 0, bytes = 0;
  };
  std::vector<Placed> placed() const;
  // Throws InputError listing the variables.
  std::uint64_t address_of(const std::string& variable, std::uint64_t* bytes) const;
  // Whether a variable is a .texref, .samplerref or .surfref, which `bind` (runtime/images.h) sets. Throws as
  // address_of.
  ptx::Opaque opaque_of(const std::string& variable) const;
  // How programs are decoded from now on, if not as by default.
  void set_options(const ptx::DecodeOptions& options) { options_ = options; }
  const ptx::DecodeOptions& options() const { return options_; }
  // Decoded at first use, once for every limit on its registers; throws InputError. `max_registers`: fewer
  // than the options allow; 0: as they say.
  const std::shared_ptr<const ptx::Program>& program(const std::string& kernel,
                                                     std::uint32_t max_registers = 0);
  // Where its registers lie, for a debugger: of a program that `program` returned, else none.
  std::vector<ptx::NamedRegister> registers_of(const ptx::Program& program) const;

 private:
  struct Definition {
    std::size_t module = 0;
    const ptx::Variable* variable = nullptr;
  };

  void collect_kernels();
  void place_variables(const Place& place, const Place& place_managed, std::uint64_t gap);
  std::map<std::string, Definition> exported_variables() const;
  void link_variables();
  void link_functions(std::uint64_t& next_function);
  std::vector<std::uint8_t> initial_value(std::size_t module, const ptx::Variable& variable) const;

  std::vector<ptx::Module> modules_;
  std::vector<ptx::Symbols> symbols_;  // by module
  std::vector<ptx::LinkedModule> linked_;
  std::vector<std::string> kernels_;
  ptx::DecodeOptions options_;
  // By name, most registers of a thread, scalarization.
  std::map<std::tuple<std::string, std::uint32_t, ptx::Scalarization>, std::shared_ptr<const ptx::Program>>
      programs_;
};

}  // namespace weft::loader

#endif
