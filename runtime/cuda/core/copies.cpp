// Copies and fills in streams.
#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "common/digest.h"
#include "runtime/cuda/core/backend.h"
#include "runtime/cuda/core/context.h"
#include "runtime/cuda/core/streams.h"
#include "weft/common/error.h"

namespace weft::cuda {
namespace {

bool is_device(const Memory& memory, const End& end) {
  return end.image != nullptr || memory.is_device(end.address);
}

Activity::Kind kind_of_copy(const Memory& memory, const End& to, const End& from) {
  const bool from_device = is_device(memory, from);
  if (is_device(memory, to))
    return from_device ? Activity::Kind::kDeviceToDevice : Activity::Kind::kHostToDevice;
  return from_device ? Activity::Kind::kDeviceToHost : Activity::Kind::kHostToHost;
}

// The part of a box that begins at (x, y, z) and fits into `most` bytes: slices, rows, or part of a row.
Box part_of(const Box& box, std::uint64_t most, std::uint64_t x, std::uint64_t y, std::uint64_t z) {
  if (y == 0 && box.width * box.height <= most)
    return {box.width, box.height, std::min(box.depth - z, most / (box.width * box.height))};
  if (box.width <= most) return {box.width, std::min(box.height - y, most / box.width), 1};
  return {std::min(box.width - x, most), 1, 1};
}

// Between rows of the host's and consecutive bytes.
enum class Packing { kGather, kScatter };
void pack(Packing way, const End& host, const Box& box, std::uint8_t* packed) {
  for (std::uint64_t z = 0; z < box.depth; ++z) {
    for (std::uint64_t y = 0; y < box.height; ++y, packed += box.width) {
      auto* const row = reinterpret_cast<std::uint8_t*>(host.address_of(0, y, z));
      std::memcpy(way == Packing::kGather ? packed : row, way == Packing::kGather ? row : packed, box.width);
    }
  }
}

// Whether the product of the extents wraps around.
bool is_too_large(const Box& box) {
  std::uint64_t bytes = 0;
  return __builtin_mul_overflow(box.width, box.height, &bytes) ||
         __builtin_mul_overflow(bytes, box.depth, &bytes);
}

}  // namespace

End part_of(const End& end, std::uint64_t x, std::uint64_t y, std::uint64_t z) {
  return end.from(x, y, z);
}

std::function<void()> Streams::note_of_copy(const End& to, const End& from, const Box& box,
                                            Activity::Kind kind) {
  if (context_.settings().out.empty() || is_device(context_.memory(), to)) return {};
  const Memory::Block* block = context_.memory().find(from.address);
  const bool kernels_see = block != nullptr && block->shared;
  if (kind != Activity::Kind::kDeviceToHost && !kernels_see) return {};
  const std::size_t number = context_.profile().copy_begins();
  return [this, number, to, box] {
    Digest digest;
    for (std::uint64_t z = 0; z < box.depth; ++z) {
      for (std::uint64_t y = 0; y < box.height; ++y)
        digest.add(reinterpret_cast<const std::uint8_t*>(to.address_of(0, y, z)), box.width);
    }
    context_.profile().copied(number, {digest.bytes(), digest.text()});
  };
}

void Streams::begin(Activity& activity, const Stream& stream) {
  activity.stream = stream.number;
  if (!context_.selection().is_some()) return;
  activity.timed = context_.selection().times_copies();
  context_.backend().set_timed(activity.timed);
}

Backend::Ended Streams::kept(Activity activity, std::function<void()> then) {
  return [this, activity = std::move(activity), then = std::move(then)](const Backend::Outcome& how) {
    Activity ended = activity;
    ended.start = how.begin_ps;
    ended.duration = how.end_ps - how.begin_ps;
    context_.profile().add(std::move(ended));
    if (then) then();
  };
}

bool Streams::is_pageable(const End& end) const {
  if (is_device(context_.memory(), end)) return false;
  const Memory::Block* block = context_.memory().find(end.address);
  return block == nullptr || !block->shared;
}

// As CUDA's driver does: through pinned memory of its own, piece by piece, while the host waits. (Its
// addresses are the same in each run; those of the program's memory need not be, and a copy's time depends on
// its alignment.)
Backend::Outcome Streams::copy_pageable(const End& to, const End& from, const Box& box, Stream& stream) {
  Backend& backend = context_.backend();
  const auto whole = std::make_shared<Backend::Outcome>();
  whole->begin_ps = UINT64_MAX;
  const Backend::Ended piece = [whole](const Backend::Outcome& how) {
    whole->begin_ps = std::min(whole->begin_ps, how.begin_ps);
    whole->end_ps = how.end_ps;
  };
  auto* const staging = static_cast<std::uint8_t*>(context_.memory().staging());
  const bool to_device = is_device(context_.memory(), to);
  Box part;
  for (std::uint64_t z = 0; z < box.depth; z += part.depth) {
    for (std::uint64_t y = 0; y < box.height; y += part.height) {
      for (std::uint64_t x = 0; x < box.width; x += part.width) {
        part = part_of(box, Memory::kStagingBytes, x, y, z);
        End packed = End::at_address(reinterpret_cast<std::uint64_t>(staging));
        packed.pitch = part.width;
        packed.slice = part.width * part.height;
        if (to_device) {
          pack(Packing::kGather, from.from(x, y, z), part, staging);
          backend.copy(stream.number, to.from(x, y, z), packed, part, piece);
          synchronise(stream);
        } else {
          backend.copy(stream.number, packed, from.from(x, y, z), part, piece);
          synchronise(stream);
          pack(Packing::kScatter, to.from(x, y, z), part, staging);
        }
      }
    }
  }
  return *whole;
}

void Streams::copy(const End& to, const End& from, const Box& box, Stream& stream, Host host) {
  if (box.empty()) return;
  if (is_too_large(box)) fail(Error::kInvalidValue);
  for (const End* end : {&to, &from}) {
    if (end->image == nullptr && end->address == 0) fail(Error::kInvalidValue);
  }
  const bool consecutive = is_consecutive(to, box) && is_consecutive(from, box);
  const Box rows = consecutive ? Box{box.bytes(), 1, 1} : box;
  Activity activity;
  activity.kind = kind_of_copy(context_.memory(), to, from);
  activity.bytes = box.bytes();
  const bool pageable = is_pageable(to) || is_pageable(from);
  const bool on_host = activity.kind == Activity::Kind::kHostToHost;
  if (pageable || host == Host::kWaits) context_.await_turn();  // alone with the staging memory
  order(stream);
  auto note = note_of_copy(to, from, rows, activity.kind);
  begin(activity, stream);
  const Backend::Ended ended = kept(std::move(activity), std::move(note));
  try {
    if (pageable && !on_host) {
      ended(copy_pageable(to, from, rows, stream));
    } else {
      context_.backend().copy(stream.number, to, from, rows, ended);
    }
  } catch (const InputError&) {
    fail(Error::kInvalidValue);
  }
  if (pageable || host == Host::kWaits) synchronise(stream);
}

void Streams::copy(std::uint64_t to, std::uint64_t from, std::uint64_t bytes, Stream& stream) {
  copy(End::at_address(to), End::at_address(from), {bytes}, stream);
}

void Streams::fill(const End& to, const Box& box, std::uint32_t value, unsigned bytes_of_value,
                   Stream& stream) {
  if (box.empty()) return;
  if (is_too_large(box)) fail(Error::kInvalidValue);
  const std::uint64_t steps = (box.height > 1 ? to.pitch : 0) | (box.depth > 1 ? to.slice : 0);
  const bool aligned = ((to.address | box.width | steps) & (bytes_of_value - 1)) == 0;
  if (!aligned || is_pageable(to)) fail(Error::kInvalidValue);
  Activity activity;
  activity.kind = Activity::Kind::kFill;
  activity.bytes = box.bytes();
  const std::uint32_t pattern = bytes_of_value == 1   ? (value & 0xff) * 0x01010101u
                                : bytes_of_value == 2 ? (value & 0xffff) * 0x00010001u
                                                      : value;
  order(stream);
  begin(activity, stream);
  try {
    context_.backend().fill(stream.number, to, box, pattern, kept(std::move(activity), {}));
  } catch (const InputError&) {
    fail(Error::kInvalidValue);
  }
  // CUDA runtime API, "API synchronization behavior": memset of host memory waits.
  if (!context_.memory().is_device(to.address)) synchronise(stream);
}

}  // namespace weft::cuda
