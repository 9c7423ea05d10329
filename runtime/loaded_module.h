// A parsed module whose variables have addresses, and the programs decoded from it so far.
#ifndef WEFT_RUNTIME_LOADED_MODULE_H
#define WEFT_RUNTIME_LOADED_MODULE_H

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ptx/module.h"

namespace weft::runtime {

class LoadedModule {
 public:
  // Returns the address of `bytes` bytes aligned to 256.
  using Place = std::function<std::uint64_t(std::uint64_t bytes)>;
  // Writes `bytes` to device memory.
  using Write = std::function<void(std::uint64_t address, const std::vector<std::uint8_t>& bytes)>;

  // Places all .global and .const variables one behind the other in one allocation, so that a module costs
  // little device memory, and writes their initial values. Throws InputError for an .extern variable that the
  // module does not define, an alignment above 256, a relocation to an unknown name.
  LoadedModule(ptx::Module module, const Place& place, const Write& write);

  const std::string& file() const { return module_.file; }
  const std::vector<std::string>& kernels() const { return module_.kernels; }
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
  // Decoded at first use; throws InputError.
  const std::shared_ptr<const ptx::Program>& program(const std::string& kernel);

 private:
  std::vector<std::uint8_t> initial_value(const ptx::Variable& variable) const;

  ptx::Module module_;
  ptx::Symbols symbols_;
  std::map<std::string, std::shared_ptr<const ptx::Program>> programs_;
};

}  // namespace weft::runtime

#endif
