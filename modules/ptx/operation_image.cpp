// Textures and surfaces: 9.7.9 and 9.7.10 of PTX ISA 9.0.
#include "ptx/operation_readers.h"

namespace weft::ptx {
namespace {

using Geometry = ImageAccess::Geometry;

// .1d, .a2d, ...
void take_geometry(Modifiers& m, ImageAccess& image, bool with_cubes) {
  struct Choice {
    Geometry geometry;
    bool layered;
  };
  Choice choice{Geometry::k1d, false};
  if (with_cubes &&
      m.take({{"cube", Choice{Geometry::kCube, false}}, {"acube", Choice{Geometry::kCube, true}}}, choice)) {
  } else {
    if (m.peek() == "2dms" || m.peek() == "a2dms") m.not_executable(" of multi-sampled textures");
    m.need({{"1d", Choice{Geometry::k1d, false}},
            {"2d", Choice{Geometry::k2d, false}},
            {"3d", Choice{Geometry::k3d, false}},
            {"a1d", Choice{Geometry::k1d, true}},
            {"a2d", Choice{Geometry::k2d, true}}},
           choice);
  }
  image.geometry = choice.geometry;
  image.layered = choice.layered;
}

constexpr TypeSet kTexelTypes = set_of(Type::kU32, Type::kS32, Type::kF32);

}  // namespace

void read_texture(Modifiers& m, Operation& o) {
  Instruction& i = o.instruction;
  ImageAccess& image = i.image;
  m.take({{"level", ImageAccess::Detail::kLevel}, {"grad", ImageAccess::Detail::kGradient}}, image.detail);
  m.take("base");
  take_geometry(m, image, true);
  if (image.geometry == Geometry::kCube && image.detail == ImageAccess::Detail::kGradient) {
    m.not_executable(" with gradients of cubes");
  }
  if (!m.take("v4")) m.peek() == "v2" ? m.not_executable(" of f16x2 texels") : m.unexpected(".v4");
  i.vector = 4;
  i.type = m.type(kTexelTypes);
  i.from = m.type(set_of(Type::kS32, Type::kF32));
  image.integer_coordinates = i.from == Type::kS32;
  if (image.integer_coordinates &&
      (image.geometry == Geometry::kCube || image.detail != ImageAccess::Detail::kBase)) {
    m.illegal("cubes, levels and gradients need coordinates of .f32");
  }
  i.space = Space::kTexture;
  o.shape = Shape::kTexture;
}

void read_gather(Modifiers& m, Operation& o) {
  Instruction& i = o.instruction;
  m.need({{"r", std::uint8_t{0}}, {"g", std::uint8_t{1}}, {"b", std::uint8_t{2}}, {"a", std::uint8_t{3}}},
         i.image.component);
  take_geometry(m, i.image, true);
  if (i.image.geometry != Geometry::k2d) {
    if (i.image.geometry == Geometry::kCube) m.not_executable(" of cubes");
    m.illegal("tld4 needs .2d, .a2d, .cube or .acube");
  }
  if (!m.take("v4")) m.unexpected(".v4");
  i.vector = 4;
  i.type = m.type(kTexelTypes);
  i.from = m.type(set_of(Type::kF32));
  i.space = Space::kTexture;
  o.shape = Shape::kTexture;
}

void read_image_query(Modifiers& m, Operation& o) {
  using Query = ImageAccess::Query;
  Instruction& i = o.instruction;
  const bool texture = i.op == Opcode::kTxq;
  if (m.take("level")) m.not_executable(" with .level");
  if (m.peek() == "num_samples" || m.peek() == "memory_layout" || m.peek() == "force_unnormalized_coords" ||
      m.peek() == "filter_mode" || m.peek().substr(0, 10) == "addr_mode_") {
    m.not_executable(" of ." + std::string(m.peek()));
  }
  if (!texture || !m.take({{"normalized_coords", Query::kNormalized}, {"num_mipmap_levels", Query::kLevels}},
                          i.image.query)) {
    m.need({{"width", Query::kWidth},
            {"height", Query::kHeight},
            {"depth", Query::kDepth},
            {"channel_data_type", Query::kChannelType},
            {"channel_order", Query::kChannelOrder},
            {"array_size", Query::kArraySize}},
           i.image.query);
  }
  i.type = m.type(set_of(Type::kB32));
  i.space = Space::kTexture;
  o.shape = Shape::kImageQuery;
}

// suld.b.geom{.cop}{.vec}.dtype{.clamp}, sust.{b,p} likewise. Cache operators have no effect on function.
void read_surface(Modifiers& m, Operation& o) {
  using Outside = ImageAccess::Outside;
  Instruction& i = o.instruction;
  const bool stores = i.op == Opcode::kSust;
  i.image.formatted = stores && m.take("p");
  if (!i.image.formatted && !m.take("b")) m.unexpected(stores ? ".b or .p" : ".b");
  take_geometry(m, i.image, false);
  i.image.integer_coordinates = true;
  for (const char* hint : {"ca", "cg", "cs", "cv", "wb", "wt"}) {
    if (m.take(hint)) break;
  }
  m.take({{"v2", std::uint8_t{2}}, {"v4", std::uint8_t{4}}}, i.vector);
  i.type = m.type(i.image.formatted ? kTexelTypes | set_of(Type::kB32)
                                    : set_of(Type::kB8, Type::kB16, Type::kB32, Type::kB64));
  m.take({{"trap", Outside::kTrap}, {"clamp", Outside::kClamp}, {"zero", Outside::kZero}}, i.image.outside);
  if (bytes_of(i.type) * i.vector > 16) m.illegal("an access has at most 16 bytes");
  i.space = Space::kGlobal;
  o.shape = stores ? Shape::kSurfaceStore : Shape::kSurfaceLoad;
}

}  // namespace weft::ptx
