// Scalar video: 9.7.18.1 of PTX ISA 9.0. Parts of operands (.b0, .h1) are suffixes of their names:
// lower_video.cpp.
#include "ptx/operation_readers.h"

namespace weft::ptx {
namespace {

using Second = VideoAccess::Second;

constexpr TypeSet kVideoTypes = set_of(Type::kU32, Type::kS32);

void take_types(Modifiers& m, Operation& o, TypeSet of_b) {
  Instruction& i = o.instruction;
  i.type = m.type(kVideoTypes);
  i.from = m.type(kVideoTypes);
  i.second = m.type(of_b);
  o.shape = Shape::kVideo;
  signature(o, i.type, {i.from, i.second, i.type});
}

bool take_second(Modifiers& m, Instruction& i) {
  return i.video.second == Second::kNone &&
         m.take({{"add", Second::kAdd}, {"min", Second::kMin}, {"max", Second::kMax}}, i.video.second);
}
bool take_saturation(Modifiers& m, Instruction& i) {
  if (i.sat || !m.take("sat")) return false;
  i.sat = true;
  return true;
}

}  // namespace

void read_video_scalar(Modifiers& m, Operation& o) {  // vadd, vsub, vabsdiff, vmin, vmax
  take_types(m, o, kVideoTypes);
  while (take_saturation(m, o.instruction) || take_second(m, o.instruction)) {
  }
}

void read_video_shift(Modifiers& m, Operation& o) {  // vshl, vshr
  Instruction& i = o.instruction;
  take_types(m, o, set_of(Type::kU32));
  const auto take_mode = [&] {
    return i.mode == Mode::kNone && m.take({{"clamp", Mode::kClamp}, {"wrap", Mode::kWrap}}, i.mode);
  };
  while (take_saturation(m, i) || take_mode() || take_second(m, i)) {
  }
  if (i.mode == Mode::kNone) m.unexpected(".clamp or .wrap");
}

// vset.atype.btype.cmp: the result is 1 or 0, and c an unsigned number.
void read_video_set(Modifiers& m, Operation& o) {
  Instruction& i = o.instruction;
  i.type = Type::kU32;
  i.from = m.type(kVideoTypes);
  i.second = m.type(kVideoTypes);
  m.need({{"eq", Compare::kEq},
          {"ne", Compare::kNe},
          {"lt", Compare::kLt},
          {"le", Compare::kLe},
          {"gt", Compare::kGt},
          {"ge", Compare::kGe}},
         i.compare);
  take_second(m, i);
  o.shape = Shape::kVideo;
  signature(o, i.type, {i.from, i.second, i.type});
}

// vmad.dtype.atype.btype{.po}{.sat}{.shr7|.shr15}
void read_video_multiply(Modifiers& m, Operation& o) {
  Instruction& i = o.instruction;
  VideoAccess& v = i.video;
  take_types(m, o, kVideoTypes);
  const auto take_shift = [&] {
    return v.shift == 0 && m.take({{"shr7", std::uint8_t{7}}, {"shr15", std::uint8_t{15}}}, v.shift);
  };
  const auto take_plus_one = [&] {
    if (v.plus_one || !m.take("po")) return false;
    v.plus_one = true;
    return true;
  };
  while (take_plus_one() || take_saturation(m, i) || take_shift()) {
  }
}

}  // namespace weft::ptx
