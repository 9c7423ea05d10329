#include "texture/sample.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "common/bits.h"

namespace weft::texture {
namespace {

constexpr unsigned kWeightBits = 8;
constexpr std::uint32_t kOne = 1u << kWeightBits;
constexpr std::uint32_t kOutside = UINT32_MAX;

// The texels that an axis contributes: one, or two with weights.
struct Axis {
  std::uint32_t texel[2] = {0, 0};  // kOutside: border
  std::uint32_t weight[2] = {kOne, 0};
  unsigned count = 1;
};

// A whole number to a texel number. `texel` may be of any size: fmod is exact.
std::uint32_t address(double texel, std::uint32_t size, AddressMode mode) {
  const double n = size;
  switch (mode) {
    case AddressMode::kBorder:
      if (!(texel >= 0 && texel < n)) return kOutside;
      break;
    case AddressMode::kClamp:
      texel = texel >= 0 ? std::min(texel, n - 1) : 0;
      break;
    case AddressMode::kWrap:
      texel = std::fmod(texel, n);
      if (texel < 0) texel += n;
      break;
    case AddressMode::kMirror:
      texel = std::fmod(texel, 2 * n);
      if (texel < 0) texel += 2 * n;
      if (texel >= n) texel = 2 * n - 1 - texel;
      break;
  }
  return static_cast<std::uint32_t>(texel);
}

// Coordinates that no image reaches, infinities among them, become large whole numbers; NaN becomes 0.
double tame(double x) {
  constexpr double kFar = 0x1p100;
  return std::isnan(x) ? 0 : std::clamp(x, -kFar, kFar);
}

// The guide's i = floor(x), or i = floor(x - 0.5) with weight frac(x - 0.5) for i + 1.
Axis split(double x, std::uint32_t size, AddressMode mode, bool linear) {
  Axis axis;
  if (!linear) {
    axis.texel[0] = address(std::floor(x), size, mode);
    return axis;
  }
  const double shifted = x - 0.5, low = std::floor(shifted);
  const auto weight = static_cast<std::uint32_t>(std::floor((shifted - low) * kOne + 0.5));
  axis.count = 2;
  axis.texel[0] = address(low, size, mode);
  axis.texel[1] = address(low + 1, size, mode);
  axis.weight[0] = kOne - weight;
  axis.weight[1] = weight;
  return axis;
}

// Without normalised coordinates there is no wrapping: the guide's modes are then as clamp.
AddressMode mode_of(const Sampler& sampler, unsigned axis, bool whole) {
  const AddressMode mode = sampler.address[axis];
  const bool repeats = mode == AddressMode::kWrap || mode == AddressMode::kMirror;
  return repeats && (whole || !sampler.normalized_coordinates) ? AddressMode::kClamp : mode;
}

struct Position {
  std::array<double, 3> x{};  // normalised or in texels, as the sampler says
  std::uint32_t first_slice = 0;
  bool cube = false;
};

// The face that a direction points to, and where on it (guide, table of cubemap faces). Of equal magnitudes z
// goes before y before x.
Position on_cube(const Coordinates& at, std::uint32_t layer) {
  const double x = tame(at.x[0]), y = tame(at.x[1]), z = tame(at.x[2]);
  const double ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  unsigned face = 0;
  double major = 0, s = 0, t = 0;
  if (az >= ax && az >= ay) {
    face = std::signbit(z) ? 5 : 4;
    major = az, s = face == 5 ? -x : x, t = -y;
  } else if (ay >= ax) {
    face = y < 0 ? 3 : 2;
    major = ay, s = x, t = face == 3 ? -z : z;
  } else {
    face = x < 0 ? 1 : 0;
    major = ax, s = face == 1 ? z : -z, t = -y;
  }
  Position p;
  p.cube = true;
  p.first_slice = layer * kCubeFaces + face;
  // (0, 0, 0) points nowhere: the middle of a face.
  p.x = {major == 0 ? 0.5 : (s / major + 1) / 2, major == 0 ? 0.5 : (t / major + 1) / 2, 0};
  return p;
}

Position position_of(const Image& image, const Coordinates& at) {
  const std::uint32_t layer = std::min(at.layer, image.layers - 1);
  if (image.geometry == Geometry::kCube) return on_cube(at, layer);
  Position p;
  for (unsigned i = 0; i < image.axes(); ++i) p.x[i] = at.whole ? at.texel[i] : tame(at.x[i]);
  p.first_slice = layer;
  return p;
}

// Adds the taps of one level, their weights multiplied by `scale`.
void locate_on(const Image& image, const Sampler& sampler, const Coordinates& at, const Position& p,
               const Level& level, bool linear, std::uint64_t scale, Footprint& result) {
  std::array<Axis, 3> axes;
  for (unsigned i = 0; i < image.axes(); ++i) {
    const bool normalized = (sampler.normalized_coordinates || p.cube) && !at.whole;
    AddressMode mode = p.cube ? AddressMode::kClamp : mode_of(sampler, i, at.whole);
    // Linear memory reads 0 outside (guide, tex1Dfetch).
    if (image.layout == Layout::kLinear) mode = AddressMode::kBorder;
    axes[i] = split(normalized ? p.x[i] * level.size[i] : p.x[i], level.size[i], mode, linear);
  }
  const unsigned texel_bytes = image.format.bytes();
  for (unsigned k = 0; k < axes[2].count; ++k) {
    for (unsigned j = 0; j < axes[1].count; ++j) {
      for (unsigned i = 0; i < axes[0].count; ++i) {
        const std::uint32_t x = axes[0].texel[i], y = axes[1].texel[j], z = axes[2].texel[k];
        Tap& tap = result.taps[result.count++];
        tap.border = x == kOutside || y == kOutside || z == kOutside;
        tap.weight = scale;
        if (linear) tap.weight *= axes[0].weight[i];
        if (linear && image.axes() > 1) tap.weight *= axes[1].weight[j];
        if (linear && image.axes() > 2) tap.weight *= axes[2].weight[k];
        if (tap.border) continue;
        const std::uint32_t slice = image.geometry == Geometry::k3d ? z : p.first_slice;
        tap.address = image.address + image.offset_of(level, std::uint64_t{x} * texel_bytes, y, slice);
      }
    }
  }
}

Channels border_of(const Image& image, const Sampler& sampler) {
  // tex1Dfetch beyond linear memory reads zeros, whatever the border colour.
  Channels result{};
  if (image.layout == Layout::kLinear) return result;
  const bool floats = image.format.kind == ChannelKind::kFloat || sampler.normalized_values;
  for (unsigned c = 0; c < 4; ++c) {
    const float value = sampler.border[c];
    if (floats) {
      result[c] = bits_of(value);
    } else if (image.format.kind == ChannelKind::kSigned) {
      result[c] = static_cast<std::uint32_t>(
          static_cast<std::int64_t>(std::clamp(static_cast<double>(value), -0x1p31, 0x1p31 - 1)));
    } else {
      result[c] = static_cast<std::uint32_t>(std::clamp(static_cast<double>(value), 0.0, 0x1p32 - 1));
    }
  }
  return result;
}

Channels read(const Image& image, const Sampler& sampler, const Tap& tap, const std::uint8_t* memory,
              std::uint64_t base) {
  if (tap.border) return border_of(image, sampler);
  return load(image.format, sampler.normalized_values, memory + (tap.address - base));
}

// Whether values may be averaged at all.
bool filterable(const Image& image, const Sampler& sampler, const Coordinates& at) {
  const bool floats = image.format.kind == ChannelKind::kFloat || sampler.normalized_values;
  return floats && !at.whole && image.layout != Layout::kLinear;
}

// The mip level of a fetch with 8 bits of fraction, as the weights have.
std::uint32_t fixed_level(const Image& image, const Sampler& sampler, float given) {
  const double least = sampler.least_level;
  const double greatest = std::max<double>(sampler.greatest_level, least);
  const double level = std::clamp(tame(given) + sampler.level_bias, least, greatest);
  return static_cast<std::uint32_t>(
      std::floor(std::clamp<double>(level, 0, image.level_count - 1) * kOne + 0.5));
}

}  // namespace

void locate(const Image& image, const Sampler& sampler, const Coordinates& at, Footprint& result) {
  result.count = 0;
  result.weight_bits = 0;
  const Position p = position_of(image, at);
  const bool may_filter = filterable(image, sampler, at);
  const bool linear = may_filter && sampler.filter == Filter::kLinear;
  const bool blends = may_filter && sampler.level_filter == Filter::kLinear;
  const std::uint32_t level = image.level_count > 1 ? fixed_level(image, sampler, at.level) : 0;
  const std::uint32_t fraction = blends ? level % kOne : 0;
  const std::uint32_t low = blends ? level / kOne : (level + kOne / 2) / kOne;
  result.filtered = linear || fraction != 0;
  if (linear) result.weight_bits = kWeightBits * image.axes();
  if (fraction == 0) {
    locate_on(image, sampler, at, p, image.levels[low], linear, 1, result);
    return;
  }
  result.weight_bits += kWeightBits;
  locate_on(image, sampler, at, p, image.levels[low], linear, kOne - fraction, result);
  locate_on(image, sampler, at, p, image.levels[low + 1], linear, fraction, result);
}

Channels sample(const Image& image, const Sampler& sampler, const Footprint& footprint,
                const std::uint8_t* memory, std::uint64_t base) {
  if (!footprint.filtered) return read(image, sampler, footprint.taps[0], memory, base);
  std::array<double, 4> sum{};
  for (unsigned i = 0; i < footprint.count; ++i) {
    const Tap& tap = footprint.taps[i];
    if (tap.weight == 0) continue;
    const Channels texel = read(image, sampler, tap, memory, base);
    for (unsigned c = 0; c < 4; ++c) {
      float value;
      std::memcpy(&value, &texel[c], sizeof value);
      sum[c] += static_cast<double>(tap.weight) * value;
    }
  }
  Channels result{};
  const double scale = 1.0 / static_cast<double>(std::uint64_t{1} << footprint.weight_bits);
  for (unsigned c = 0; c < 4; ++c) {
    const float value = static_cast<float>(sum[c] * scale);
    result[c] = std::isnan(value) ? 0x7fff'ffffu : bits_of(value);
  }
  return result;
}

void locate_gather(const Image& image, const Sampler& sampler, const Coordinates& at, Footprint& result) {
  result.count = 0;
  result.weight_bits = 2 * kWeightBits;
  result.filtered = false;
  locate_on(image, sampler, at, position_of(image, at), image.levels[0], true, 1, result);
}

Channels gather(const Image& image, const Sampler& sampler, const Footprint& footprint, unsigned component,
                const std::uint8_t* memory, std::uint64_t base) {
  constexpr unsigned kOrder[] = {2, 3, 1, 0};
  Channels result{};
  for (unsigned i = 0; i < 4; ++i) {
    result[i] = read(image, sampler, footprint.taps[kOrder[i]], memory, base)[component];
  }
  return result;
}

float level_of(const Image& image, const Sampler& sampler, const std::array<float, 3>& dx,
               const std::array<float, 3>& dy) {
  double x = 0, y = 0;
  for (unsigned i = 0; i < image.axes(); ++i) {
    const double size = sampler.normalized_coordinates ? image.levels[0].size[i] : 1;
    x += tame(dx[i] * size) * tame(dx[i] * size);
    y += tame(dy[i] * size) * tame(dy[i] * size);
  }
  const double longest = std::max(x, y);
  return longest > 0 ? static_cast<float>(std::log2(longest) / 2) : -static_cast<float>(kMaxLevels);
}

}  // namespace weft::texture
