#include "host/kernel_cache.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <sstream>
#include <utility>
#include <vector>

#include "weft/common/error.h"
#include "weft/ptx/module.h"

namespace weft::host {
namespace {

std::string name_of(const weft_kernel_object& object) {
  std::ostringstream text;
  text << "module at 0x" << std::hex << object.ptx_address;
  return text.str();
}

}  // namespace

const KernelCache::Kernel* KernelCache::find(std::uint64_t object_address) {
  const auto found = state_.kernels.find(object_address);
  if (found == state_.kernels.end()) return nullptr;
  const weft_kernel_object& object = found->second.object;
  return look(object_address, &object, sizeof object) == Seen::kSame ? find(object_address, object) : nullptr;
}

const KernelCache::Kernel* KernelCache::find(std::uint64_t object_address, const weft_kernel_object& object) {
  const auto found = state_.kernels.find(object_address);
  if (found == state_.kernels.end()) return nullptr;
  const Loaded& loaded = found->second;
  if (std::memcmp(&loaded.object, &object, sizeof object) != 0) return nullptr;
  if (look(object.name_address, loaded.name.data(), loaded.name.size()) == Seen::kChanged) return nullptr;
  return has_module(object) ? &loaded.kernel : nullptr;
}

bool KernelCache::has_module(const weft_kernel_object& object) {
  const auto found = state_.modules.find(key_of(object));
  if (found == state_.modules.end()) return false;
  Module& module = found->second;
  if (look(object.ptx_address, module.text.data(), module.text.size()) != Seen::kChanged) return true;
  for (auto kernel = state_.kernels.begin(); kernel != state_.kernels.end();)
    kernel = kernel->second.module == &module ? state_.kernels.erase(kernel) : std::next(kernel);
  state_.modules.erase(found);
  return false;
}

KernelCache::Seen KernelCache::look(std::uint64_t address, const void* bytes, std::size_t count) const {
  std::array<unsigned char, 4096> now{};
  const auto* const known = static_cast<const unsigned char*>(bytes);
  for (std::size_t at = 0; at < count; at += now.size()) {
    const std::size_t piece = std::min(now.size(), count - at);
    if (!bus_.peek(address + at, now.data(), piece)) return Seen::kNothing;
    if (std::memcmp(now.data(), known + at, piece) != 0) return Seen::kChanged;
  }
  return Seen::kSame;
}

std::uint64_t KernelCache::take(Module& module, std::uint64_t bytes, const char* what) {
  constexpr std::uint64_t kAlignment = loader::LoadedModule::kAlignment;
  const std::uint64_t left = module.end - module.next;
  if (bytes > left) {
    throw ModuleMemoryError(std::string(what) + " need " + std::to_string(bytes) +
                            " bytes of the module's memory; left are " + std::to_string(left));
  }
  const std::uint64_t address = module.next;
  const std::uint64_t rounded = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  module.next = rounded > left ? module.end : address + rounded;
  return address;
}

void KernelCache::load_module(const weft_kernel_object& object, const std::string& text) {
  const bool none = object.memory_bytes == 0;
  const bool aligned = object.memory_address % loader::LoadedModule::kAlignment == 0;
  if (!none &&
      (!aligned || bus_.space().place_of(object.memory_address, object.memory_bytes) != Place::kDevice)) {
    throw ModuleMemoryError("the module's memory is not aligned to 256 bytes or lies outside device memory");
  }
  Module module;
  module.next = object.memory_address;
  module.end = object.memory_address + object.memory_bytes;
  std::vector<ptx::Module> parsed;
  parsed.push_back(ptx::parse(text, name_of(object)));
  std::uint64_t functions = state_.next_function;
  module.loaded = std::make_unique<loader::LoadedModule>(
      std::move(parsed), [&](std::uint64_t bytes) { return take(module, bytes, "variables"); },
      [&](std::uint64_t address, const std::vector<std::uint8_t>& bytes) {
        gpu_.write_memory(address - bus_.space().device_base(), bytes.data(), bytes.size());
      },
      functions);
  state_.next_function = functions;
  module.text = text;
  module.loaded->set_options(gpu_.decode_options());
  state_.modules.emplace(key_of(object), std::move(module));
}

KernelCache::Kernel KernelCache::kernel_of(Module& module, const std::string& name,
                                           std::uint32_t max_registers) {
  Kernel kernel;
  kernel.program = module.loaded->program(name, max_registers);
  const auto known = module.code.find(kernel.program.get());
  if (known != module.code.end()) {
    kernel.code_address = known->second;
  } else {
    kernel.code_address = take(module, kernel.program->code.size() * ptx::kInstructionBytes, "instructions");
    module.code[kernel.program.get()] = kernel.code_address;
  }
  return kernel;
}

const KernelCache::Kernel& KernelCache::load_kernel(std::uint64_t object_address,
                                                    const weft_kernel_object& object,
                                                    const std::string& name) {
  Module& module = state_.modules.at(key_of(object));
  Kernel kernel = kernel_of(module, name, 0);
  kernel.object_address = object_address;
  Loaded& loaded = state_.kernels[object_address] = {std::move(kernel), &module, object, name, {}};
  return loaded.kernel;
}

const KernelCache::Kernel* KernelCache::fitting(const Kernel* kernel, std::uint64_t threads) {
  const std::uint32_t limit = gpu_.registers_to_fit(*kernel->program, threads);
  if (limit == 0) return kernel;
  Loaded& loaded = state_.kernels.at(kernel->object_address);
  const auto known = loaded.fewer.find(limit);
  if (known != loaded.fewer.end()) return &known->second;
  try {
    return &(loaded.fewer[limit] = kernel_of(*loaded.module, loaded.name, limit));
  } catch (const InputError&) {
    return kernel;  // it cannot do with so few; the launch is refused and says what would help
  }
}

void KernelCache::clear() {
  state_ = {};
}

}  // namespace weft::host
