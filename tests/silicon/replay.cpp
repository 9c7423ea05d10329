#include "silicon/replay.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "weft/memory/memory_image.h"
#include "weft/platform/gpu.h"

namespace weft::test::silicon {

Replay::Replay(const microbenchmarks::Symbols& symbols, std::uint64_t bytes)
    : driver_(symbols), bytes_(bytes), base_(driver_.allocate(bytes)) {}

Replay::~Replay() = default;

std::vector<std::string> Replay::settings() const {
  return {"addresses.device_base=" + std::to_string(base_), "dram.bytes=" + std::to_string(bytes_)};
}

void Replay::begin(const std::string& ptx) {
  if (module_ != nullptr) driver_.unload(std::exchange(module_, nullptr));
  module_ = driver_.load(ptx);
  launches_.clear();
  at_rest_ = true;
}

std::uint8_t* Replay::image() const {
  return device_->gpu().memory().data();
}

template <class Copy>
void Replay::each_range(Copy copy) {
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> present((bytes_ + page - 1) / page);
  if (mincore(image(), bytes_, present.data()) != 0)
    throw std::runtime_error("the pages of device memory are not known: mincore failed");
  const auto is_there = [&](std::size_t i) { return i < present.size() && (present[i] & 1) != 0; };
  for (std::size_t first = 0; first < present.size();) {
    std::size_t end = first;
    while (is_there(end)) ++end;
    if (end != first) {
      const std::uint64_t begin = first * page;
      copy(base_ + begin, image() + begin, std::min(end * page, bytes_) - begin);
    }
    first = end + 1;
  }
  for (const auto& variable : loaded_->placed()) {
    if (!driver_.has_variable(module_, variable.name)) continue;  // the compiler has no use for it
    copy(driver_.variable(module_, variable.name), image() + (variable.address - base_), variable.bytes);
  }
}

void Replay::launching(const dispatch::Launch& launch, const runtime::LoadedModule& module) {
  loaded_ = &module;
  if (std::exchange(at_rest_, false)) {
    each_range([&](std::uint64_t address, const std::uint8_t* bytes, std::uint64_t count) {
      driver_.write(address, bytes, count);
    });
  }
  microbenchmarks::CudaDriver::Launch there;
  there.kernel = launch.program->name;
  there.blocks = {launch.grid[0], launch.grid[1], launch.grid[2]};
  there.threads = {launch.block[0], launch.block[1], launch.block[2]};
  there.dynamic_shared = launch.dynamic_shared;
  for (const ptx::Parameter& parameter : launch.program->parameters) {
    const auto first = launch.parameters.begin() + static_cast<std::ptrdiff_t>(parameter.offset);
    there.arguments.emplace_back(first, first + static_cast<std::ptrdiff_t>(parameter.size));
  }
  driver_.start(module_, there);
  launches_.push_back({there.kernel, launch.blocks(), launch.threads_per_block()});
}

void Replay::synchronised() {
  if (std::exchange(at_rest_, true)) return;
  driver_.wait();
  each_range([&](std::uint64_t address, std::uint8_t* bytes, std::uint64_t count) {
    driver_.read(bytes, address, count);
  });
}

}  // namespace weft::test::silicon
