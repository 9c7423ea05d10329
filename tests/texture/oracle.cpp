#include "texture/oracle.h"

#include <cmath>
#include <cstring>

namespace weft::test {
namespace {

using Wide = long double;

std::uint32_t bits_of(float f) {
  std::uint32_t u;
  std::memcpy(&u, &f, 4);
  return u;
}

// One channel as a number.
Wide channel_value(const PlainImage& image, const PlainSampler& sampler, const std::uint8_t* bytes) {
  std::int64_t whole = 0;
  for (unsigned b = 0; b < image.bits / 8; ++b) whole += static_cast<std::int64_t>(bytes[b]) << (8 * b);
  const std::int64_t range = std::int64_t{1} << image.bits;
  if (image.kind == 's' && whole >= range / 2) whole -= range;
  if (image.kind == 'f' && image.bits == 32) {
    float f;
    std::memcpy(&f, bytes, 4);
    return f;
  }
  if (image.kind == 'f') {  // sign, 5 bits of exponent, 10 of fraction
    const std::int64_t exponent = whole >> 10 & 31, fraction = whole & 1023;
    const Wide magnitude =
        exponent == 0 ? std::ldexp(static_cast<Wide>(fraction), -24)
                      : std::ldexp(static_cast<Wide>(1024 + fraction), static_cast<int>(exponent) - 25);
    return whole >> 15 != 0 ? -magnitude : magnitude;
  }
  if (!sampler.as_float) return static_cast<Wide>(whole);
  if (image.kind == 'u') return static_cast<float>(static_cast<Wide>(whole) / static_cast<Wide>(range - 1));
  const auto largest = range / 2 - 1;
  const Wide quotient = static_cast<Wide>(whole) / static_cast<Wide>(largest);
  return static_cast<float>(quotient < -1 ? -1 : quotient);
}

// Texel number i of an axis of n texels, or -1 for the border.
int beyond(std::int64_t i, int n, Beyond mode) {
  if (0 <= i && i < n) return static_cast<int>(i);
  switch (mode) {
    case Beyond::kBorder:
      return -1;
    case Beyond::kClamp:
      return i < 0 ? 0 : n - 1;
    case Beyond::kWrap:
      while (i < 0) i += n;
      return static_cast<int>(i % n);
    case Beyond::kMirror:
      break;
  }
  // Reflect at the nearer edge until inside.
  while (i < 0 || i >= n) i = i < 0 ? -1 - i : 2 * n - 1 - i;
  return static_cast<int>(i);
}

using Values = std::array<Wide, 4>;

Values texel(const PlainImage& image, const PlainSampler& sampler, const std::array<std::int64_t, 3>& at,
             int layer) {
  const bool floats = image.kind == 'f' || sampler.as_float;
  std::array<int, 3> inside{};
  for (unsigned d = 0; d < image.dimensions; ++d) {
    Beyond mode = sampler.beyond[d];
    // Repeating needs normalised coordinates; otherwise it is clamped.
    if (!sampler.normalised_coordinates && mode != Beyond::kBorder) mode = Beyond::kClamp;
    inside[d] = beyond(at[d], image.size[d], mode);
    if (inside[d] >= 0) continue;
    Values result;
    for (unsigned c = 0; c < 4; ++c) result[c] = floats ? sampler.border[c] : std::trunc(sampler.border[c]);
    return result;
  }
  const std::size_t index =
      ((static_cast<std::size_t>(layer) * image.size[2] + inside[2]) * image.size[1] + inside[1]) *
          image.size[0] +
      inside[0];
  Values result{0, 0, 0, 1};
  for (unsigned c = 0; c < image.channels; ++c) {
    result[c] = channel_value(image, sampler, &image.texels[index * texel_bytes(image) + c * image.bits / 8]);
  }
  return result;
}

}  // namespace

std::size_t texel_bytes(const PlainImage& image) {
  return image.bits / 8 * image.channels;
}

PlainImage random_image(std::mt19937& random, unsigned dimensions, std::array<int, 3> size, int layers,
                        char kind, unsigned bits, unsigned channels) {
  PlainImage image;
  image.dimensions = dimensions;
  for (unsigned d = 0; d < dimensions; ++d) image.size[d] = size[d];
  image.layers = layers;
  image.kind = kind;
  image.bits = bits;
  image.channels = channels;
  const std::size_t count =
      static_cast<std::size_t>(image.size[0]) * image.size[1] * image.size[2] * layers * channels;
  image.texels.resize(count * bits / 8);
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t value = random();
    if (kind == 'f' && bits == 32)
      value = bits_of(static_cast<float>(static_cast<std::int32_t>(value)) * 0x1p-30f);
    if (kind == 'f' && bits == 16) value &= 0xbfff;  // exponents below 16: less than 2
    std::memcpy(&image.texels[i * bits / 8], &value, bits / 8);
  }
  return image;
}

std::array<std::uint32_t, 4> fetch(const PlainImage& image, const PlainSampler& sampler,
                                   std::array<float, 3> at, int layer) {
  // Coordinates in 1/256 of a texel, rounded to nearest; a linear filter first goes back by half a texel.
  std::array<std::int64_t, 3> fixed{}, first{};
  std::array<std::int64_t, 3> weight{};
  for (unsigned d = 0; d < image.dimensions; ++d) {
    const Wide texels =
        sampler.normalised_coordinates ? static_cast<Wide>(at[d]) * image.size[d] : static_cast<Wide>(at[d]);
    if (!sampler.linear) {
      first[d] = static_cast<std::int64_t>(std::floor(texels));
      continue;
    }
    fixed[d] = static_cast<std::int64_t>(std::floor(texels * 256 - 128 + 0.5L));
    weight[d] = ((fixed[d] % 256) + 256) % 256;
    first[d] = (fixed[d] - weight[d]) / 256;
  }
  Values sum{};
  for (unsigned corner = 0; corner < 8; ++corner) {
    Wide factor = 1;
    std::array<std::int64_t, 3> place = first;
    for (unsigned d = 0; d < 3; ++d) {
      const bool upper = (corner >> d & 1) != 0;
      if (upper) ++place[d];
      factor *= static_cast<Wide>(upper ? weight[d] : 256 - weight[d]) / 256;
    }
    if (factor == 0) continue;
    const Values value = texel(image, sampler, place, layer);
    for (unsigned c = 0; c < 4; ++c)
      sum[c] = sampler.linear ? sum[c] + factor * value[c] : value[c];  // keeps -0
  }
  const bool floats = image.kind == 'f' || sampler.as_float;
  std::array<std::uint32_t, 4> result{};
  for (unsigned c = 0; c < 4; ++c) {
    result[c] = floats ? bits_of(static_cast<float>(sum[c]))
                       : static_cast<std::uint32_t>(static_cast<std::int64_t>(sum[c]));
  }
  return result;
}

// Guide, table of cubemap faces: face, major axis, s, t.
std::array<std::uint32_t, 4> fetch_cube(const PlainImage& image, std::array<float, 3> direction) {
  const auto [x, y, z] = direction;
  const float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
  int face = 0;
  std::array<float, 3> mst{};
  if (ax > ay && ax > az) {
    face = x >= 0 ? 0 : 1;
    mst = {ax, x >= 0 ? -z : z, -y};
  } else if (ay > az) {
    face = y >= 0 ? 2 : 3;
    mst = {ay, x, y >= 0 ? z : -z};
  } else {
    face = z >= 0 ? 4 : 5;
    mst = {az, z >= 0 ? x : -x, -y};
  }
  const auto column = [&](float s) {
    return static_cast<float>(image.size[0] * (static_cast<double>(s) / mst[0] + 1) / 2);
  };
  return fetch(image, {}, {column(mst[1]), column(mst[2]), 0}, face);
}

}  // namespace weft::test
