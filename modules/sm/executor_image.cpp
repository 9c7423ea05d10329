// Textures and surfaces: lane by lane, because each lane may have an object and a footprint of its own. The
// n-th texels of the lanes in memory are recorded as one access.
#include <algorithm>
#include <cstring>

#include "common/hex.h"
#include "sm/executor.h"
#include "texture/surface.h"

namespace weft::sm {
namespace {

using ptx::ImageAccess;
using warp_formation::Groups;
using warp_formation::ThreadGroup;

// Places of operands, as ptx/program.h says.
constexpr std::size_t kObject = 0, kSampler = 1, kLayer = 2, kCoordinates = 3, kRest = 6;

// Channel types and orders as OpenCL 3.0 numbers them (CL/cl.h), which is what txq returns.
std::uint32_t channel_type(const texture::Format& format, bool normalised) {
  constexpr std::uint32_t kSnorm8 = 0x10d0, kUnorm8 = 0x10d2, kSigned8 = 0x10d7, kUnsigned8 = 0x10da,
                          kHalf = 0x10dd, kFloat = 0x10de;
  const std::uint32_t step = format.bits == 8 ? 0 : format.bits == 16 ? 1 : 2;
  switch (format.kind) {
    case texture::ChannelKind::kFloat:
      return format.bits == 16 ? kHalf : kFloat;
    case texture::ChannelKind::kSigned:
      return (normalised ? kSnorm8 : kSigned8) + step;
    default:
      return (normalised ? kUnorm8 : kUnsigned8) + step;
  }
}

std::uint32_t channel_order(const texture::Format& format) {
  constexpr std::uint32_t kR = 0x10b0, kRg = 0x10b2, kRgba = 0x10b5;
  return format.channels == 1 ? kR : format.channels == 2 ? kRg : kRgba;
}

}  // namespace

// One instruction on the lanes of one chunk.
struct Executor::ImageLanes {
  const Operation& op;
  const ptx::Instruction& in;
  const ResidentBlock& block;
  ptx::Pc pc;
  std::uint32_t* registers;  // of the chunk
  unsigned chunk;
  unsigned first_access;        // of this chunk, in accesses_
  std::uint32_t in_memory = 0;  // lanes with at least one access
  std::uint64_t object = 0;     // the last lane's
  const texture::Texture* texture = nullptr;
  const texture::Image* surface = nullptr;
  texture::Footprint footprint;

  std::uint32_t word(std::size_t source, unsigned lane) const {
    const Source& s = (*op.image)[source];
    const void* lanes = s.kind == Source::Kind::kConstant ? s.constant : registers + s.offset;
    return static_cast<const std::uint32_t*>(lanes)[lane];
  }
  std::uint64_t wide(std::size_t source, unsigned lane) const {
    const Source& s = (*op.image)[source];
    const void* lanes = s.kind == Source::Kind::kConstant ? s.constant : registers + s.offset;
    return static_cast<const std::uint64_t*>(lanes)[lane];
  }
  float real(std::size_t source, unsigned lane) const {
    const std::uint32_t bits = word(source, lane);
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
  void write(unsigned destination, unsigned lane, std::uint64_t value) const {
    const std::int32_t offset = op.dst[destination];
    if (offset < 0) return;
    if (ptx::bytes_of(in.type) == 8) {
      reinterpret_cast<std::uint64_t*>(registers + offset)[lane] = value;
    } else {
      registers[static_cast<std::size_t>(offset) + lane] = static_cast<std::uint32_t>(value);
    }
  }
  std::uint32_t layer(unsigned lane) const { return in.image.layered ? word(kLayer, lane) : 0; }
};

bool Executor::image(const Operation& op, ptx::Pc pc, const Groups& groups, const ResidentBlock& block) {
  const ptx::Instruction& in = *op.instruction;
  for (const ThreadGroup& group : groups) {
    const std::uint32_t mask = guarded(in, group);
    group_ = static_cast<unsigned>(&group - groups.data);
    if (mask == 0) continue;
    ImageLanes lanes{
        op, in,      block,   pc, registers_.chunk_base(group.chunk), group.chunk, access_count_, 0,
        0,  nullptr, nullptr, {}};
    for (std::uint32_t rest = mask; rest != 0; rest &= rest - 1) {
      const auto lane = static_cast<unsigned>(__builtin_ctz(rest));
      if (!image_object(lanes, lane)) return false;
      bool done = false;
      switch (in.op) {
        case ptx::Opcode::kTxq:
        case ptx::Opcode::kSuq:
          done = query(lanes, lane);
          break;
        case ptx::Opcode::kSuld:
        case ptx::Opcode::kSust:
          done = this->surface(lanes, lane);
          break;
        default:
          done = fetch(lanes, lane);
      }
      if (!done) return false;
    }
    const std::uint32_t idle = mask & ~lanes.in_memory & ~refused(group_);
    if (idle != 0 && in.is_load()) record(ptx::Space::kTexture, group.chunk, idle, 0);
  }
  return true;
}

// The value of a .texref, .surfref or .samplerref if `value` is the address of one; else `value` itself.
std::uint64_t Executor::reference(std::uint64_t value) const {
  const std::uint64_t offset = value - memory_.base;
  const bool inside = value >= memory_.base && offset + 8 <= memory_.bytes && offset % 8 == 0;
  if (!inside || memory_.mapped[offset >> memory_.page_shift] == 0) return value;
  std::uint64_t bound;
  std::memcpy(&bound, memory_.image + offset, sizeof bound);
  return bound;
}

bool Executor::image_object(ImageLanes& lanes, unsigned lane) {
  const std::uint64_t value = lanes.wide(kObject, lane);
  const bool known = lanes.texture != nullptr || lanes.surface != nullptr;
  if (known && value == lanes.object) return true;
  lanes.object = value;
  const std::uint64_t handle = reference(value);
  const ptx::Opcode op = lanes.in.op;
  const bool is_surface = op == ptx::Opcode::kSuld || op == ptx::Opcode::kSust || op == ptx::Opcode::kSuq;
  lanes.texture = is_surface || memory_.objects == nullptr ? nullptr : memory_.objects->texture(handle);
  lanes.surface = !is_surface || memory_.objects == nullptr ? nullptr : memory_.objects->surface(handle);
  if (lanes.texture == nullptr && lanes.surface == nullptr) {
    const std::string kind = is_surface ? "surface" : "texture";
    const bool unbound = value >= memory_.base && handle == 0;
    return refuse_image(lanes, lane, FaultKind::kIllegalInstruction,
                        unbound ? "the " + kind + " reference at " + hex(value) + " is not bound"
                                : hex(value) + " is no " + kind + " object");
  }
  if (op == ptx::Opcode::kTxq || op == ptx::Opcode::kSuq) return true;
  const texture::Image& image = is_surface ? *lanes.surface : lanes.texture->image;
  const ImageAccess& wanted = lanes.in.image;
  if (image.geometry != wanted.geometry || image.layered != wanted.layered) {
    return refuse_image(lanes, lane, FaultKind::kIllegalInstruction,
                        "the object " + hex(value) + " is ." +
                            texture::name_of(image.geometry, image.layered) + ", the instruction reads ." +
                            texture::name_of(wanted.geometry, wanted.layered));
  }
  return true;
}

// Shows the observer one texel of a lane. False: the lane has to skip the instruction.
bool Executor::texel_permitted(const ImageLanes& lanes, unsigned lane, std::uint64_t address,
                               unsigned bytes) {
  using Kind = ObservedAccess::Kind;
  const Kind kind = lanes.in.op == ptx::Opcode::kSust ? Kind::kStore : Kind::kLoad;
  std::array<std::uint64_t, isa::kLanes> addresses{};
  addresses[lane] = address;
  const std::uint32_t allowed =
      observer_->access({kind, kernel_, &lanes.op, lanes.pc, ptx::Space::kGlobal, sm_, &lanes.block,
                         lanes.chunk, 1u << lane, bytes, addresses.data(), memory_.image, lanes.registers});
  refused_[group_] |= (1u << lane) & ~allowed;
  return allowed != 0;
}

// Lane `lane` touches `bytes` bytes at `address` as its `number`-th place in memory.
bool Executor::touch(ImageLanes& lanes, unsigned lane, unsigned number, std::uint64_t address,
                     unsigned bytes) {
  const std::uint64_t offset = address - memory_.base;
  if (offset >= memory_.bytes || memory_.bytes - offset < bytes ||
      memory_.mapped[offset >> memory_.page_shift] == 0) {
    return refuse_image(lanes, lane, FaultKind::kIllegalAddress,
                        "the memory of the object " + hex(lanes.object) + " is not allocated any more");
  }
  while (access_count_ <= lanes.first_access + number) {
    LaneAccess& added = record(ptx::Space::kGlobal, lanes.chunk, 0, bytes);
    added.low = UINT64_MAX;
    added.high = 0;
  }
  LaneAccess& access = accesses_[lanes.first_access + number];
  access.mask |= 1u << lane;
  access.address[lane] = offset;
  access.low = std::min(access.low, offset);
  access.high = std::max(access.high, offset);
  lanes.in_memory |= 1u << lane;
  return true;
}

bool Executor::fetch(ImageLanes& lanes, unsigned lane) {
  const ImageAccess& how = lanes.in.image;
  const texture::Image& image = lanes.texture->image;
  texture::Sampler sampler = lanes.texture->sampler;
  if (how.has_sampler) {
    const std::uint64_t value = reference(lanes.wide(kSampler, lane));
    if (!texture::is_encoded_sampler(value)) {
      return refuse_image(lanes, lane, FaultKind::kIllegalInstruction,
                          hex(lanes.wide(kSampler, lane)) + " is no sampler");
    }
    texture::decode(value, sampler);
  }
  texture::Coordinates at;
  at.whole = how.integer_coordinates;
  at.layer = lanes.layer(lane);
  for (unsigned i = 0; i < how.axes(); ++i) {
    at.texel[i] = static_cast<std::int32_t>(lanes.word(kCoordinates + i, lane));
    at.x[i] = lanes.real(kCoordinates + i, lane);
  }
  if (how.detail == ImageAccess::Detail::kLevel) at.level = lanes.real(kRest, lane);
  if (how.detail == ImageAccess::Detail::kGradient) {
    std::array<float, 3> dx{}, dy{};
    for (unsigned i = 0; i < how.axes(); ++i) {
      dx[i] = lanes.real(kRest + i, lane);
      dy[i] = lanes.real(kRest + how.axes() + i, lane);
    }
    at.level = texture::level_of(image, sampler, dx, dy);
  }
  const bool gathers = lanes.in.op == ptx::Opcode::kTld4;
  texture::Footprint& footprint = lanes.footprint;
  if (gathers) {
    texture::locate_gather(image, sampler, at, footprint);
  } else {
    texture::locate(image, sampler, at, footprint);
  }
  if (observer_ != nullptr) {
    bool permitted = true;
    for (unsigned i = 0; i < footprint.count; ++i) {
      const texture::Tap& tap = footprint.taps[i];
      if (!tap.border) permitted &= texel_permitted(lanes, lane, tap.address, image.format.bytes());
    }
    if (!permitted) return true;
  }
  unsigned number = 0;
  for (unsigned i = 0; i < footprint.count; ++i) {
    const texture::Tap& tap = footprint.taps[i];
    if (!tap.border && !touch(lanes, lane, number++, tap.address, image.format.bytes())) return false;
  }
  const texture::Channels value =
      gathers ? texture::gather(image, sampler, footprint, how.component, memory_.image, memory_.base)
              : texture::sample(image, sampler, footprint, memory_.image, memory_.base);
  for (unsigned c = 0; c < 4; ++c) lanes.write(c, lane, value[c]);
  return true;
}

bool Executor::query(ImageLanes& lanes, unsigned lane) {
  using Query = ImageAccess::Query;
  const texture::Image& image = lanes.texture != nullptr ? lanes.texture->image : *lanes.surface;
  const texture::Sampler sampler = lanes.texture != nullptr ? lanes.texture->sampler : texture::Sampler{};
  const auto& size = image.levels[0].size;
  std::uint32_t value = 0;
  switch (lanes.in.image.query) {
    case Query::kWidth:
      value = size[0];
      break;
    case Query::kHeight:
      value = size[1];
      break;
    case Query::kDepth:
      value = size[2];
      break;
    case Query::kArraySize:
      value = image.layers;
      break;
    case Query::kLevels:
      value = image.level_count;
      break;
    case Query::kNormalized:
      value = sampler.normalized_coordinates ? 1 : 0;
      break;
    case Query::kChannelType:
      value = channel_type(image.format, sampler.normalized_values);
      break;
    case Query::kChannelOrder:
      value = channel_order(image.format);
      break;
  }
  lanes.write(0, lane, value);
  return true;
}

bool Executor::surface(ImageLanes& lanes, unsigned lane) {
  const ptx::Instruction& in = lanes.in;
  const ImageAccess& how = in.image;
  const texture::Image& image = *lanes.surface;
  const unsigned part = ptx::bytes_of(in.type);
  const unsigned bytes = how.formatted ? image.format.bytes() : part * in.vector;
  std::array<std::int32_t, 3> at{};
  for (unsigned i = 0; i < how.axes(); ++i)
    at[i] = static_cast<std::int32_t>(lanes.word(kCoordinates + i, lane));
  const texture::Place place =
      texture::locate(image, at, lanes.layer(lane), !how.formatted, bytes, how.outside);
  if (place.kind == texture::Place::Kind::kMisaligned) {
    return refuse_image(lanes, lane, FaultKind::kMisalignedAddress,
                        "the coordinate x = " + std::to_string(at[0]) +
                            " (bytes) is not aligned to the access of " + std::to_string(bytes) + " bytes");
  }
  const bool inside = place.kind == texture::Place::Kind::kInside;
  if (!inside && how.outside == ImageAccess::Outside::kTrap) {
    return refuse_image(
        lanes, lane, FaultKind::kIllegalAddress,
        "the access of " + std::to_string(bytes) + " bytes at (" + std::to_string(at[0]) + ", " +
            std::to_string(at[1]) + ", " + std::to_string(at[2]) + "), layer " +
            std::to_string(lanes.layer(lane)) + " lies outside the surface of " +
            std::to_string(image.levels[0].size[0]) + " x " + std::to_string(image.levels[0].size[1]) +
            " x " + std::to_string(image.levels[0].size[2]) + " texels of " + texture::name_of(image.format));
  }
  if (inside && observer_ != nullptr && !texel_permitted(lanes, lane, place.address, bytes)) return true;
  if (inside && !touch(lanes, lane, 0, place.address, bytes)) return false;
  ++outside_uses_;
  std::uint8_t* memory = inside ? memory_.image + (place.address - memory_.base) : nullptr;
  if (in.op == ptx::Opcode::kSuld) {
    for (unsigned k = 0; k < in.vector; ++k) {
      std::uint64_t value = 0;
      if (inside) std::memcpy(&value, memory + k * part, part);
      lanes.write(k, lane, value);
    }
  } else if (inside && how.formatted) {
    texture::Channels channels{};
    for (unsigned k = 0; k < in.vector; ++k) channels[k] = lanes.word(kRest + k, lane);
    texture::store(image.format, channels, memory);
  } else if (inside) {
    for (unsigned k = 0; k < in.vector; ++k) {
      const std::uint64_t value = part == 8 ? lanes.wide(kRest + k, lane) : lanes.word(kRest + k, lane);
      std::memcpy(memory + k * part, &value, part);
    }
  }
  return true;
}

bool Executor::refuse_image(const ImageLanes& lanes, unsigned lane, FaultKind kind, const std::string& what) {
  fault_ = {kind, place_name(lanes.pc, lanes.chunk, lane, lanes.block) + ": " + ptx::name_of(lanes.in.op) +
                      ": " + what};
  return false;
}

}  // namespace weft::sm
