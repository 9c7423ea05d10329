#include "system_port/carve_out.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <sstream>
#include <utility>

#include "weft/common/error.h"

namespace weft::system_port {
namespace {

bool all_zero(const unsigned char* data, unsigned bytes) {
  return data[0] == 0 && std::memcmp(data, data + 1, bytes - 1) == 0;
}

// visit(offset, bytes) for the blocks of a range.
template <class Visit>
void for_each_block(std::uint64_t offset, std::uint64_t bytes, unsigned block, Visit&& visit) {
  for (std::uint64_t done = 0; done < bytes;) {
    const std::uint64_t at = offset + done;
    const auto run = static_cast<unsigned>(std::min<std::uint64_t>(bytes - done, block - at % block));
    visit(at, run);
    done += run;
  }
}

}  // namespace

void CarveOut::attach(Path path, const std::string& where) {
  path_ = std::move(path);
  unsigned char probe = 0;
  for (const std::uint64_t offset : {std::uint64_t{0}, image_.bytes() - 1}) {
    if (reach(false, offset, &probe, 1)) continue;
    std::ostringstream text;
    text << "device memory is configured in system memory from 0x" << std::hex << base_ << " to 0x"
         << base_ + (image_.bytes() - 1) << ", but dma_socket does not reach 0x" << base_ + offset
         << "; allowed: a range that can be read completely through dma_socket (debug transport)";
    throw InputError(where, text.str());
  }
  direct_ = path_.direct(base_, image_.bytes());
  known_.emplace(image_.bytes());
  for_each_block(0, image_.bytes(), kBlock, [this](std::uint64_t at, unsigned bytes) {
    if (!all_zero(image_.data() + at, bytes)) exchange_block(at, bytes);
  });
}

void CarveOut::withdraw(std::uint64_t first, std::uint64_t last) {
  if (first <= base_ + (image_.bytes() - 1) && last >= base_) direct_ = nullptr;
}

bool CarveOut::reach(bool write, std::uint64_t offset, unsigned char* data, unsigned bytes) const {
  if (direct_ == nullptr) return path_.move(write, base_ + offset, data, bytes);
  write ? std::memcpy(direct_ + offset, data, bytes) : std::memcpy(data, direct_ + offset, bytes);
  return true;
}

void CarveOut::exchange(const std::vector<std::uint8_t>& mapped, std::uint64_t page_bytes) {
  if (!known_.has_value()) return;
  for (std::uint64_t page = 0; page < mapped.size(); ++page) {
    const std::uint64_t at = page * page_bytes;
    if (mapped[page] != 0) exchange(at, std::min(page_bytes, image_.bytes() - at));
  }
}

void CarveOut::exchange(std::uint64_t offset, std::uint64_t bytes) {
  if (!known_.has_value()) return;
  for_each_block(offset, bytes, kBlock, [this](std::uint64_t at, unsigned run) { exchange_block(at, run); });
}

// The GPU's changes go before those of others to the same byte.
void CarveOut::exchange_block(std::uint64_t offset, unsigned bytes) {
  unsigned char* const image = image_.data() + offset;
  unsigned char* const known = known_->data() + offset;
  const bool ours = std::memcmp(image, known, bytes) != 0;
  if (direct_ != nullptr && !ours && std::memcmp(direct_ + offset, known, bytes) == 0) return;
  std::array<unsigned char, kBlock> memory;
  if (!reach(false, offset, memory.data(), bytes)) return;  // the timed access will say so
  const bool theirs = std::memcmp(memory.data(), known, bytes) != 0;
  if (ours) {
    for (unsigned i = 0; i < bytes; ++i) {
      if (image[i] != known[i]) memory[i] = image[i];
    }
    reach(true, offset, memory.data(), bytes);
  }
  if (!ours && !theirs) return;
  std::memcpy(image, memory.data(), bytes);
  std::memcpy(known, memory.data(), bytes);
}

void CarveOut::landed(std::uint64_t offset, const unsigned char* data, unsigned bytes) {
  if (!known_.has_value()) return;
  unsigned char* const known = known_->data() + offset;
  for (unsigned i = 0; i < bytes; ++i) {
    if (data[i] != known[i]) reach(true, offset + i, known + i, 1);
  }
}

void CarveOut::move(bool write, std::uint64_t offset, unsigned char* data, unsigned bytes) {
  exchange(offset, bytes);
  // The data of Weft's own payloads may lie in the image themselves: memmove.
  if (!write) {
    std::memmove(data, image_.data() + offset, bytes);
    return;
  }
  std::memmove(image_.data() + offset, data, bytes);
  exchange(offset, bytes);
}

void CarveOut::reset() {
  image_.reset();
  if (!known_.has_value()) return;
  known_->reset();
  clear_outside();
}

void CarveOut::clear_outside() {
  std::array<unsigned char, kBlock> memory;
  for_each_block(0, image_.bytes(), kBlock, [&](std::uint64_t at, unsigned bytes) {
    if (!reach(false, at, memory.data(), bytes) || all_zero(memory.data(), bytes)) return;
    memory.fill(0);
    reach(true, at, memory.data(), bytes);
  });
}

}  // namespace weft::system_port
