#include "runtime/loaded_module.h"

#include <algorithm>

#include "common/error.h"
#include "runtime/allocator.h"
#include "texture/sampler.h"

namespace weft::runtime {
namespace {

bool lives_in_device_memory(const ptx::Variable& variable) {
  return variable.space == ptx::Space::kGlobal || variable.space == ptx::Space::kConst;
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

LoadedModule::LoadedModule(ptx::Module module, const Place& place, const Write& write)
    : module_(std::move(module)) {
  std::map<std::string, std::uint64_t> offsets;
  std::uint64_t end = 0;
  for (const ptx::Variable& variable : module_.variables) {
    if (!lives_in_device_memory(variable) || variable.is_extern) continue;
    const std::uint64_t align = std::max<std::uint64_t>(variable.align, 1);
    if (align > Allocator::kAlignment) {
      throw InputError(module_.file, "variable " + variable.name + " is aligned to " + std::to_string(align) +
                                         " bytes; allowed: up to " + std::to_string(Allocator::kAlignment));
    }
    const std::uint64_t offset = (end + align - 1) / align * align;
    // Sizes come from a file: their sum must not wrap around into something small.
    if (__builtin_add_overflow(offset, variable.size, &end)) {
      throw InputError(module_.file, "its variables take more than 2^64 bytes");
    }
    offsets[variable.name] = offset;
  }
  for (const ptx::Variable& variable : module_.variables) {
    if (lives_in_device_memory(variable) && variable.is_extern && offsets.count(variable.name) == 0) {
      throw InputError(module_.file,
                       "variable " + variable.name + " is .extern and not defined in this module");
    }
  }
  if (offsets.empty()) return;

  const std::uint64_t base = place(std::max<std::uint64_t>(end, 1));
  for (const auto& [name, offset] : offsets) symbols_[name] = base + offset;
  for (const ptx::Variable& variable : module_.variables) {
    if (lives_in_device_memory(variable) && !variable.is_extern && variable.size > 0) {
      write(symbols_.at(variable.name), initial_value(variable));
    }
  }
}

std::vector<std::uint8_t> LoadedModule::initial_value(const ptx::Variable& variable) const {
  std::vector<std::uint8_t> bytes = variable.initial;
  bytes.resize(variable.size);
  if (variable.opaque == ptx::Opaque::kSampler) {
    const std::uint64_t value = texture::encode(sampler_of(variable.sampler));
    for (std::uint64_t i = 0; i < bytes.size(); ++i)
      bytes[i] = static_cast<std::uint8_t>(value >> 8 * (i % 8));
  }
  for (const ptx::Variable::Relocation& relocation : variable.relocations) {
    const auto target = symbols_.find(relocation.symbol);
    if (target == symbols_.end() || bytes.size() < 8 || relocation.offset > bytes.size() - 8) {
      throw InputError(module_.file, "the initial value of " + variable.name + " takes the address of " +
                                         relocation.symbol +
                                         "; allowed: a .global or .const variable of this module");
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
  for (const ptx::Variable& variable : module_.variables) {
    if (!lives_in_device_memory(variable) || variable.is_extern) continue;
    list.push_back({variable.name, symbols_.at(variable.name), variable.size});
  }
  return list;
}

std::uint64_t LoadedModule::address_of(const std::string& variable, std::uint64_t* bytes) const {
  const auto symbol = symbols_.find(variable);
  if (symbol == symbols_.end()) {
    std::string known;
    for (const auto& [name, address] : symbols_) known += (known.empty() ? "" : ", ") + name;
    throw InputError(module_.file,
                     "unknown variable '" + variable + "'; known: " + (known.empty() ? "none" : known));
  }
  if (bytes != nullptr) {
    const auto found = std::find_if(
        module_.variables.begin(), module_.variables.end(),
        [&](const auto& candidate) { return candidate.name == variable && !candidate.is_extern; });
    *bytes = found->size;
  }
  return symbol->second;
}

ptx::Opaque LoadedModule::opaque_of(const std::string& variable) const {
  address_of(variable, nullptr);
  const auto found = std::find_if(module_.variables.begin(), module_.variables.end(),
                                  [&](const auto& candidate) { return candidate.name == variable; });
  return found->opaque;
}

const std::shared_ptr<const ptx::Program>& LoadedModule::program(const std::string& kernel) {
  auto& program = programs_[kernel];
  if (program == nullptr) {
    program = std::make_shared<const ptx::Program>(ptx::decode(module_, kernel, symbols_));
  }
  return program;
}

}  // namespace weft::runtime
