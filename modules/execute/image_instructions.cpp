#include "execute/image_instructions.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "common/hex.h"
#include "execute/lane_bits.h"
#include "texture/sample.h"
#include "texture/surface.h"
#include "texture/table.h"

namespace weft::execute {
namespace {

using ptx::ImageAccess;

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
struct ImageInstructions::Lanes {
  const Access& access;  // its mask: of the threads that execute; without addresses
  const Operation& op;
  const ptx::Instruction& in;
  std::uint32_t* registers;     // of the chunk
  unsigned first_access;        // of this chunk, in the record
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

bool ImageInstructions::run(const Operation& op, ptx::Pc pc, const warp_formation::Groups& groups,
                            const ResidentBlock& block) {
  for (const warp_formation::ThreadGroup& group : groups) {
    const std::uint32_t mask = operands_.guarded(*op.instruction, group);
    if (mask == 0) continue;
    const auto number = static_cast<unsigned>(&group - groups.data);
    if (!run(Access{op, block, pc, group.chunk, number, mask, ptx::Space::kGlobal, nullptr})) return false;
  }
  return true;
}

// For the threads of one chunk.
bool ImageInstructions::run(const Access& access) {
  const ptx::Instruction& in = *access.op.instruction;
  Lanes lanes{access,  access.op, in, operands_.registers_of(access.chunk), record_.count(), 0, 0,
              nullptr, nullptr,   {}};
  for (std::uint32_t rest = access.mask; rest != 0; rest &= rest - 1) {
    const unsigned lane = first_lane(rest);
    if (!find_object(lanes, lane)) return false;
    bool done = false;
    switch (in.op) {
      case ptx::Opcode::kTxq:
      case ptx::Opcode::kSuq:
        done = query(lanes, lane);
        break;
      case ptx::Opcode::kSuld:
      case ptx::Opcode::kSust:
        done = surface(lanes, lane);
        break;
      default:
        done = fetch(lanes, lane);
    }
    if (!done) return false;
  }
  const std::uint32_t idle = access.mask & ~lanes.in_memory & ~watch_.refused(access.group);
  if (idle != 0 && in.is_load()) record_.add(ptx::Space::kTexture, access.chunk, access.group, idle, 0);
  return true;
}

// The value of a .texref, .surfref or .samplerref if `value` is the address of one; else `value` itself.
std::uint64_t ImageInstructions::reference(std::uint64_t value) const {
  const DeviceMemoryView& memory = spaces_.memory();
  const std::uint64_t offset = value - memory.base;
  const bool inside = value >= memory.base && offset + 8 <= memory.bytes && offset % 8 == 0;
  if (!inside || !spaces_.is_mapped(offset)) return value;
  std::uint64_t bound;
  std::memcpy(&bound, memory.image + offset, sizeof bound);
  return bound;
}

bool ImageInstructions::find_object(Lanes& lanes, unsigned lane) {
  const DeviceMemoryView& memory = spaces_.memory();
  const std::uint64_t value = lanes.wide(kObject, lane);
  const bool known = lanes.texture != nullptr || lanes.surface != nullptr;
  if (known && value == lanes.object) return true;
  lanes.object = value;
  const std::uint64_t handle = reference(value);
  const ptx::Opcode op = lanes.in.op;
  const bool is_surface = op == ptx::Opcode::kSuld || op == ptx::Opcode::kSust || op == ptx::Opcode::kSuq;
  lanes.texture = is_surface || memory.objects == nullptr ? nullptr : memory.objects->texture(handle);
  lanes.surface = !is_surface || memory.objects == nullptr ? nullptr : memory.objects->surface(handle);
  if (lanes.texture == nullptr && lanes.surface == nullptr) {
    const std::string kind = is_surface ? "surface" : "texture";
    const bool unbound = value >= memory.base && handle == 0;
    return refuse(lanes, lane, FaultKind::kIllegalInstruction,
                  unbound ? "the " + kind + " reference at " + hex(value) + " is not bound"
                          : hex(value) + " is no " + kind + " object");
  }
  if (op == ptx::Opcode::kTxq || op == ptx::Opcode::kSuq) return true;
  const texture::Image& image = is_surface ? *lanes.surface : lanes.texture->image;
  const ImageAccess& wanted = lanes.in.image;
  if (image.geometry != wanted.geometry || image.layered != wanted.layered) {
    return refuse(lanes, lane, FaultKind::kIllegalInstruction,
                  "the object " + hex(value) + " is ." + texture::name_of(image.geometry, image.layered) +
                      ", the instruction reads ." + texture::name_of(wanted.geometry, wanted.layered));
  }
  return true;
}

// Shows the observer one texel of a lane. False: the lane has to skip the instruction.
bool ImageInstructions::permitted(const Lanes& lanes, unsigned lane, std::uint64_t address, unsigned bytes) {
  using Kind = ObservedAccess::Kind;
  const Kind kind = lanes.in.op == ptx::Opcode::kSust ? Kind::kStore : Kind::kLoad;
  std::array<std::uint64_t, isa::kLanes> addresses{};
  addresses[lane] = address;
  const Access texel = lanes.access.in(ptx::Space::kGlobal, addresses.data(), 1u << lane);
  return watch_.texel_permitted(texel, kind, bytes);
}

// Lane `lane` touches `bytes` bytes at `address` as its `number`-th place in memory.
bool ImageInstructions::touch(Lanes& lanes, unsigned lane, unsigned number, std::uint64_t address,
                              unsigned bytes) {
  const DeviceMemoryView& memory = spaces_.memory();
  const std::uint64_t offset = address - memory.base;
  if (offset >= memory.bytes || memory.bytes - offset < bytes || !spaces_.is_mapped(offset)) {
    return refuse(lanes, lane, FaultKind::kIllegalAddress,
                  "the memory of the object " + hex(lanes.object) + " is no longer allocated");
  }
  while (record_.count() <= lanes.first_access + number) {
    LaneAccess& added = record_.add(ptx::Space::kGlobal, lanes.access.chunk, lanes.access.group, 0, bytes);
    added.low = UINT64_MAX;
    added.high = 0;
  }
  LaneAccess& access = record_[lanes.first_access + number];
  access.mask |= 1u << lane;
  access.address[lane] = offset;
  access.low = std::min(access.low, offset);
  access.high = std::max(access.high, offset);
  lanes.in_memory |= 1u << lane;
  return true;
}

bool ImageInstructions::fetch(Lanes& lanes, unsigned lane) {
  const ImageAccess& how = lanes.in.image;
  const texture::Image& image = lanes.texture->image;
  texture::Sampler sampler = lanes.texture->sampler;
  if (how.has_sampler) {
    const std::uint64_t value = reference(lanes.wide(kSampler, lane));
    if (!texture::is_encoded_sampler(value)) {
      return refuse(lanes, lane, FaultKind::kIllegalInstruction,
                    hex(lanes.wide(kSampler, lane)) + " is not a sampler");
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
  const DeviceMemoryView& memory = spaces_.memory();
  const bool gathers = lanes.in.op == ptx::Opcode::kTld4;
  texture::Footprint& footprint = lanes.footprint;
  if (gathers) {
    texture::locate_gather(image, sampler, at, footprint);
  } else {
    texture::locate(image, sampler, at, footprint);
  }
  if (watch_.on()) {
    bool whole = true;
    for (unsigned i = 0; i < footprint.count; ++i) {
      const texture::Tap& tap = footprint.taps[i];
      if (!tap.border) whole &= permitted(lanes, lane, tap.address, image.format.bytes());
    }
    if (!whole) return true;
  }
  unsigned number = 0;
  for (unsigned i = 0; i < footprint.count; ++i) {
    const texture::Tap& tap = footprint.taps[i];
    if (!tap.border && !touch(lanes, lane, number++, tap.address, image.format.bytes())) return false;
  }
  const texture::Channels value =
      gathers ? texture::gather(image, sampler, footprint, how.component, memory.image, memory.base)
              : texture::sample(image, sampler, footprint, memory.image, memory.base);
  for (unsigned c = 0; c < 4; ++c) lanes.write(c, lane, value[c]);
  return true;
}

bool ImageInstructions::query(Lanes& lanes, unsigned lane) {
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

bool ImageInstructions::surface(Lanes& lanes, unsigned lane) {
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
    return refuse(lanes, lane, FaultKind::kMisalignedAddress,
                  "the coordinate x = " + std::to_string(at[0]) +
                      " (bytes) is not aligned to the access of " + std::to_string(bytes) + " bytes");
  }
  const bool inside = place.kind == texture::Place::Kind::kInside;
  if (!inside && how.outside == ImageAccess::Outside::kTrap) {
    return refuse(
        lanes, lane, FaultKind::kIllegalAddress,
        "the access of " + std::to_string(bytes) + " bytes at (" + std::to_string(at[0]) + ", " +
            std::to_string(at[1]) + ", " + std::to_string(at[2]) + "), layer " +
            std::to_string(lanes.layer(lane)) + " lies outside the surface of " +
            std::to_string(image.levels[0].size[0]) + " x " + std::to_string(image.levels[0].size[1]) +
            " x " + std::to_string(image.levels[0].size[2]) + " texels of " + texture::name_of(image.format));
  }
  if (inside && watch_.on() && !permitted(lanes, lane, place.address, bytes)) return true;
  if (inside && !touch(lanes, lane, 0, place.address, bytes)) return false;
  ++surface_uses_;
  std::uint8_t* const bytes_there =
      inside ? spaces_.memory().image + (place.address - spaces_.memory().base) : nullptr;
  if (in.op == ptx::Opcode::kSuld) {
    for (unsigned k = 0; k < in.vector; ++k) {
      std::uint64_t value = 0;
      if (inside) std::memcpy(&value, bytes_there + k * part, part);
      lanes.write(k, lane, value);
    }
  } else if (inside && how.formatted) {
    texture::Channels channels{};
    for (unsigned k = 0; k < in.vector; ++k) channels[k] = lanes.word(kRest + k, lane);
    texture::store(image.format, channels, bytes_there);
  } else if (inside) {
    for (unsigned k = 0; k < in.vector; ++k) {
      const std::uint64_t value = part == 8 ? lanes.wide(kRest + k, lane) : lanes.word(kRest + k, lane);
      std::memcpy(bytes_there + k * part, &value, part);
    }
  }
  return true;
}

bool ImageInstructions::refuse(const Lanes& lanes, unsigned lane, FaultKind kind, const std::string& what) {
  return faults_.refuse(kind, lanes.access, lane, std::string(ptx::name_of(lanes.in.op)) + ": " + what);
}

}  // namespace weft::execute
