#include "weft/loader/loaded_module.h"

#include <algorithm>
#include <set>

#include "ptx/link.h"
#include "ptx/syntax.h"
#include "texture/sampler.h"
#include "weft/common/error.h"

namespace weft::loader {
namespace {

bool lives_in_device_memory(const ptx::Variable& variable) {
  return variable.space == ptx::Space::kGlobal || variable.space == ptx::Space::kConst;
}

bool is_defined_here(const ptx::Variable& variable) {
  return lives_in_device_memory(variable) && !variable.is_extern;
}

texture::Sampler sampler_of(const ptx::SamplerState& state) {
  using Address = ptx::SamplerState::Address;
  texture::Sampler sampler;
  for (std::size_t i = 0; i < state.address.size(); ++i) {
    sampler.address[i] = state.address[i] == Address::kWrap     ? texture::AddressMode::kWrap
                         : state.address[i] == Address::kMirror ? texture::AddressMode::kMirror
                         : state.address[i] == Address::kBorder ? texture::AddressMode::kBorder
                                                                : texture::AddressMode::kClamp;
  }
  sampler.filter = state.linear ? texture::Filter::kLinear : texture::Filter::kPoint;
  sampler.normalized_coordinates = state.normalized_coordinates;
  return sampler;
}

}  // namespace

LoadedModule::LoadedModule(std::vector<ptx::Module> modules, const Place& place, const Write& write,
                           std::uint64_t& next_function, const Place& place_managed, std::uint64_t gap)
    : modules_(std::move(modules)), symbols_(modules_.size()) {
  for (std::size_t m = 0; m < modules_.size(); ++m) linked_.push_back({&modules_[m], &symbols_[m]});
  collect_kernels();
  place_variables(place, place_managed, gap);
  const std::vector<ptx::Symbols> placed = symbols_;
  link_variables();
  link_functions(next_function);
  for (std::size_t m = 0; m < modules_.size(); ++m) {
    for (const ptx::Variable& variable : modules_[m].variables) {
      if (!is_defined_here(variable) || variable.size == 0) continue;
      // A weak variable whose name another module defines is not that of its name.
      if (symbols_[m].at(variable.name) != placed[m].at(variable.name)) continue;
      write(symbols_[m].at(variable.name), initial_value(m, variable));
    }
  }
}

void LoadedModule::collect_kernels() {
  std::set<std::string> known;
  for (const ptx::Module& module : modules_) {
    for (const std::string& kernel : module.kernels) {
      if (!known.insert(kernel).second) {
        throw InputError(module.file, "kernel '" + kernel + "' is also defined in another linked module");
      }
      kernels_.push_back(kernel);
    }
  }
}

void LoadedModule::place_variables(const Place& place, const Place& place_managed, std::uint64_t gap) {
  std::vector<ptx::Symbols> apart(modules_.size());
  std::uint64_t end = 0;
  for (std::size_t m = 0; m < modules_.size(); ++m) {
    const std::string& file = modules_[m].file;
    for (const ptx::Variable& variable : modules_[m].variables) {
      if (!is_defined_here(variable)) continue;
      const std::uint64_t align = std::max<std::uint64_t>(variable.align, 1);
      if (align > LoadedModule::kAlignment) {
        throw InputError(file, "variable " + variable.name + " is aligned to " + std::to_string(align) +
                                   " bytes; allowed: up to " + std::to_string(LoadedModule::kAlignment));
      }
      if (variable.managed && place_managed) {
        apart[m][variable.name] = place_managed(std::max<std::uint64_t>(variable.size, 1));
        continue;
      }
      const std::uint64_t first = end == 0 ? 0 : end + gap;
      const std::uint64_t offset = (first + align - 1) / align * align;
      // Sizes come from a file: their sum must not wrap around into something small.
      if (__builtin_add_overflow(offset, variable.size, &end)) {
        throw InputError(file, "its variables take more than 2^64 bytes");
      }
      symbols_[m][variable.name] = offset;
    }
  }
  const bool any = std::any_of(symbols_.begin(), symbols_.end(), [](const auto& s) { return !s.empty(); });
  const std::uint64_t base = any ? place(std::max<std::uint64_t>(end, 1)) : 0;
  for (std::size_t m = 0; m < modules_.size(); ++m) {
    for (auto& [name, offset] : symbols_[m]) offset += base;
    symbols_[m].merge(apart[m]);
  }
}

// What modules see of each other: .visible definitions, and .weak ones where there is no other.
std::map<std::string, LoadedModule::Definition> LoadedModule::exported_variables() const {
  std::map<std::string, Definition> exported;
  for (std::size_t m = 0; m < modules_.size(); ++m) {
    for (const ptx::Variable& variable : modules_[m].variables) {
      const bool seen = modules_.size() == 1 || variable.is_visible || variable.is_weak;
      if (!is_defined_here(variable) || !seen) continue;
      const auto [known, added] = exported.emplace(variable.name, Definition{m, &variable});
      if (added || variable.is_weak) continue;
      if (!known->second.variable->is_weak) {
        throw InputError(modules_[m].file, "variable " + variable.name + " is defined in " +
                                               modules_[known->second.module].file + " as well");
      }
      known->second = {m, &variable};
    }
  }
  return exported;
}

void LoadedModule::link_variables() {
  const auto exported = exported_variables();
  const std::vector<ptx::Symbols> own = symbols_;
  for (std::size_t m = 0; m < modules_.size(); ++m) {
    for (const ptx::Variable& variable : modules_[m].variables) {
      const bool gives_way = variable.is_extern || variable.is_weak;
      if (!lives_in_device_memory(variable) || !gives_way) continue;
      const auto definition = exported.find(variable.name);
      if (definition == exported.end()) {
        if (own[m].count(variable.name) != 0) continue;
        throw InputError(modules_[m].file, "variable " + variable.name + " is .extern and not defined in " +
                                               (modules_.size() == 1 ? "this module" : "any linked module"));
      }
      const ptx::Variable& found = *definition->second.variable;
      if (found.space != variable.space || (variable.size != 0 && found.size != variable.size)) {
        throw InputError(modules_[m].file, "variable " + variable.name +
                                               " has another size or state space in " +
                                               modules_[definition->second.module].file);
      }
      symbols_[m][variable.name] = own[definition->second.module].at(variable.name);
    }
  }
}

void LoadedModule::link_functions(std::uint64_t& next_function) {
  std::vector<ptx::Symbols> own(modules_.size());
  for (std::size_t m = 0; m < modules_.size(); ++m) {
    next_function = ptx::add_functions(modules_[m], next_function, own[m]);
  }
  const ptx::Linkage linkage(linked_);
  for (std::uint32_t m = 0; m < modules_.size(); ++m) {
    for (const ptx::Function& function : modules_[m].text->functions) {
      if (function.is_entry) continue;
      const std::string name(modules_[m].text->view(function.name));
      const auto definition = linkage.function(m, name);
      if (definition) symbols_[m][name] = own[definition->module].at(name);
    }
  }
}

std::vector<std::uint8_t> LoadedModule::initial_value(std::size_t module,
                                                      const ptx::Variable& variable) const {
  std::vector<std::uint8_t> bytes = variable.initial;
  bytes.resize(variable.size);
  if (variable.opaque == ptx::Opaque::kSampler) {
    const std::uint64_t value = texture::encode(sampler_of(variable.sampler));
    for (std::uint64_t i = 0; i < bytes.size(); ++i)
      bytes[i] = static_cast<std::uint8_t>(value >> 8 * (i % 8));
  }
  for (const ptx::Variable::Relocation& relocation : variable.relocations) {
    const auto target = symbols_[module].find(relocation.symbol);
    if (target == symbols_[module].end() || bytes.size() < 8 || relocation.offset > bytes.size() - 8) {
      throw InputError(modules_[module].file,
                       "the initial value of " + variable.name + " takes the address of " +
                           relocation.symbol +
                           "; allowed: a .global or .const variable or a function that is defined here");
    }
    // Generic addresses of device memory are the addresses themselves, so both kinds of relocation are alike.
    const std::uint64_t value = target->second + static_cast<std::uint64_t>(relocation.addend);
    for (unsigned i = 0; i < 8; ++i) {
      bytes[relocation.offset + i] = static_cast<std::uint8_t>(value >> (8 * i));
    }
  }
  return bytes;
}

std::vector<LoadedModule::Placed> LoadedModule::placed() const {
  std::vector<Placed> list;
  for (std::size_t m = 0; m < modules_.size(); ++m) {
    for (const ptx::Variable& variable : modules_[m].variables) {
      if (is_defined_here(variable))
        list.push_back({variable.name, symbols_[m].at(variable.name), variable.size});
    }
  }
  return list;
}

std::uint64_t LoadedModule::address_of(const std::string& variable, std::uint64_t* bytes) const {
  for (std::size_t m = 0; m < modules_.size(); ++m) {
    const auto& variables = modules_[m].variables;
    const auto found = std::find_if(variables.begin(), variables.end(), [&](const auto& candidate) {
      return candidate.name == variable && is_defined_here(candidate);
    });
    if (found == variables.end()) continue;
    if (bytes != nullptr) *bytes = found->size;
    return symbols_[m].at(variable);
  }
  std::set<std::string> names;
  for (const ptx::Module& module : modules_) {
    for (const ptx::Variable& candidate : module.variables) {
      if (is_defined_here(candidate)) names.insert(candidate.name);
    }
  }
  std::string known;
  for (const std::string& name : names) known += (known.empty() ? "" : ", ") + name;
  throw InputError(file(), "unknown variable '" + variable + "'; known: " + (known.empty() ? "none" : known));
}

ptx::Opaque LoadedModule::opaque_of(const std::string& variable) const {
  for (const ptx::Module& module : modules_) {
    for (const ptx::Variable& candidate : module.variables) {
      if (candidate.name == variable && is_defined_here(candidate)) return candidate.opaque;
    }
  }
  address_of(variable, nullptr);  // throws: there is none
  return ptx::Opaque::kNone;
}

const std::shared_ptr<const ptx::Program>& LoadedModule::program(const std::string& kernel,
                                                                 std::uint32_t max_registers) {
  ptx::DecodeOptions options = options_;
  if (max_registers != 0) options.max_registers = std::min(options.max_registers, max_registers);
  auto& program = programs_[{kernel, options.max_registers, options.scalarization}];
  if (program == nullptr) {
    program = std::make_shared<const ptx::Program>(ptx::decode(linked_, kernel, options));
  }
  return program;
}

std::vector<ptx::NamedRegister> LoadedModule::registers_of(const ptx::Program& program) const {
  for (const auto& [key, known] : programs_) {
    if (known.get() != &program) continue;
    ptx::DecodeOptions options = options_;
    options.max_registers = std::get<1>(key);
    options.scalarization = std::get<2>(key);
    return ptx::named_registers(linked_, std::get<0>(key), options);
  }
  return {};
}

}  // namespace weft::loader
