// Which reader an opcode has, which unit executes it, and what Weft does not execute.
#include "ptx/operation.h"

#include <algorithm>
#include <string>

#include "ptx/operation_readers.h"

namespace weft::ptx {
namespace {

struct Reader {
  std::string_view mnemonic;
  Opcode op;
  void (*read)(Modifiers&, Operation&);
};

constexpr Reader kReaders[] = {{"abs", Opcode::kAbs, read_negate},
                               {"activemask", Opcode::kActivemask, read_activemask},
                               {"add", Opcode::kAdd, read_add},
                               {"addc", Opcode::kAddc, read_add},
                               {"and", Opcode::kAnd, read_logic},
                               {"applypriority", Opcode::kMov, read_applypriority},
                               {"atom", Opcode::kAtom, read_atomic},
                               {"bar", Opcode::kBar, read_barrier},
                               {"barrier", Opcode::kBar, read_barrier},
                               {"bfe", Opcode::kBfe, read_bitfield},
                               {"bfi", Opcode::kBfi, read_bitfield},
                               {"bfind", Opcode::kBfind, read_bfind},
                               {"bmsk", Opcode::kBmsk, read_bmsk},
                               {"bra", Opcode::kBra, read_branch},
                               {"brev", Opcode::kBrev, read_brev},
                               {"brkpt", Opcode::kSystem, read_trap},
                               {"brx", Opcode::kBrx, read_indexed_branch},
                               {"call", Opcode::kCall, read_call},
                               {"clz", Opcode::kClz, read_count},
                               {"cnot", Opcode::kCnot, read_not},
                               {"copysign", Opcode::kCopysign, read_copysign},
                               {"cos", Opcode::kCos, read_approximate},
                               {"cp", Opcode::kCopyAsync, read_copy_async},
                               {"createpolicy", Opcode::kMov, read_policy},
                               {"cvt", Opcode::kCvt, read_cvt},
                               {"cvta", Opcode::kCvta, read_convert_address},
                               {"discard", Opcode::kMov, read_discard},
                               {"div", Opcode::kDiv, read_div},
                               {"dp2a", Opcode::kDp2a, read_dot_product},
                               {"dp4a", Opcode::kDp4a, read_dot_product},
                               {"elect", Opcode::kElect, read_elect},
                               {"ex2", Opcode::kEx2, read_approximate},
                               {"exit", Opcode::kExit, read_exit},
                               {"fence", Opcode::kMembar, read_fence},
                               {"fma", Opcode::kFma, read_fma},
                               {"fns", Opcode::kFns, read_fns},
                               {"getctarank", Opcode::kMov, read_cluster_rank},
                               {"griddepcontrol", Opcode::kNop, read_grid_dependency},
                               {"isspacep", Opcode::kIsspacep, read_isspacep},
                               {"ld", Opcode::kLd, read_load},
                               {"ldu", Opcode::kLd, read_uniform_load},
                               {"lg2", Opcode::kLg2, read_approximate},
                               {"lop3", Opcode::kLop3, read_lop3},
                               {"mad", Opcode::kMad, read_mad},
                               {"mad24", Opcode::kMad24, read_mul24},
                               {"madc", Opcode::kMadc, read_mad},
                               {"mapa", Opcode::kMov, read_map_address},
                               {"match", Opcode::kMatch, read_match},
                               {"max", Opcode::kMax, read_extremum},
                               {"membar", Opcode::kMembar, read_fence},
                               {"min", Opcode::kMin, read_extremum},
                               {"mov", Opcode::kMov, read_mov},
                               {"mul", Opcode::kMul, read_mul},
                               {"mul24", Opcode::kMul24, read_mul24},
                               {"nanosleep", Opcode::kMov, read_nanosleep},
                               {"neg", Opcode::kNeg, read_negate},
                               {"not", Opcode::kNot, read_not},
                               {"or", Opcode::kOr, read_logic},
                               {"pmevent", Opcode::kNop, read_performance_event},
                               {"popc", Opcode::kPopc, read_count},
                               {"prefetch", Opcode::kMov, read_prefetch},
                               {"prefetchu", Opcode::kMov, read_prefetch},
                               {"prmt", Opcode::kPrmt, read_prmt},
                               {"rcp", Opcode::kRcp, read_root},
                               {"red", Opcode::kRed, read_atomic},
                               {"redux", Opcode::kRedux, read_redux},
                               {"rem", Opcode::kRem, read_rem},
                               {"ret", Opcode::kRet, read_exit},
                               {"rsqrt", Opcode::kRsqrt, read_root},
                               {"sad", Opcode::kSad, read_sad},
                               {"selp", Opcode::kSelp, read_selp},
                               {"set", Opcode::kSet, read_set},
                               {"setmaxnreg", Opcode::kNop, read_register_limit},
                               {"setp", Opcode::kSetp, read_setp},
                               {"shf", Opcode::kShf, read_shf},
                               {"shfl", Opcode::kShfl, read_shfl},
                               {"shl", Opcode::kShl, read_shift},
                               {"shr", Opcode::kShr, read_shift},
                               {"sin", Opcode::kSin, read_approximate},
                               {"slct", Opcode::kSelp, read_slct},
                               {"sqrt", Opcode::kSqrt, read_root},
                               {"st", Opcode::kSt, read_store},
                               {"sub", Opcode::kSub, read_add},
                               {"subc", Opcode::kSubc, read_add},
                               {"suld", Opcode::kSuld, read_surface},
                               {"suq", Opcode::kSuq, read_image_query},
                               {"sust", Opcode::kSust, read_surface},
                               {"szext", Opcode::kBfe, read_szext},
                               {"tanh", Opcode::kTanh, read_approximate},
                               {"testp", Opcode::kTestp, read_testp},
                               {"tex", Opcode::kTex, read_texture},
                               {"tld4", Opcode::kTld4, read_gather},
                               {"trap", Opcode::kSystem, read_trap},
                               {"txq", Opcode::kTxq, read_image_query},
                               {"vabsdiff", Opcode::kVabsdiff, read_video_scalar},
                               {"vabsdiff2", Opcode::kVabsdiff, read_video},
                               {"vabsdiff4", Opcode::kVabsdiff, read_video},
                               {"vadd", Opcode::kVadd, read_video_scalar},
                               {"vadd2", Opcode::kVadd, read_video},
                               {"vadd4", Opcode::kVadd, read_video},
                               {"vavrg2", Opcode::kVavrg, read_video},
                               {"vavrg4", Opcode::kVavrg, read_video},
                               {"vmad", Opcode::kVmad, read_video_multiply},
                               {"vmax", Opcode::kVmax, read_video_scalar},
                               {"vmax2", Opcode::kVmax, read_video},
                               {"vmax4", Opcode::kVmax, read_video},
                               {"vmin", Opcode::kVmin, read_video_scalar},
                               {"vmin2", Opcode::kVmin, read_video},
                               {"vmin4", Opcode::kVmin, read_video},
                               {"vote", Opcode::kVote, read_vote},
                               {"vset", Opcode::kVset, read_video_set},
                               {"vshl", Opcode::kVshl, read_video_shift},
                               {"vshr", Opcode::kVshr, read_video_shift},
                               {"vsub", Opcode::kVsub, read_video_scalar},
                               {"vsub2", Opcode::kVsub, read_video},
                               {"vsub4", Opcode::kVsub, read_video},
                               {"xor", Opcode::kXor, read_logic}};

constexpr bool sorted() {
  for (std::size_t i = 1; i < std::size(kReaders); ++i) {
    if (!(kReaders[i - 1].mnemonic < kReaders[i].mnemonic)) return false;
  }
  return true;
}
static_assert(sorted(), "kReaders is searched by bisection");

// Legal PTX that Weft does not execute (PTX ISA 9.0), and what helps.
struct Later {
  std::string_view mnemonic;
  std::string_view help;
};
constexpr Later kLaterMnemonics[] = {
    {"alloca", kNoHelp},
    {"clusterlaunchcontrol", kOlderCodeHelps},
    {"istypep", kNoHelp},
    {"ldmatrix", kWithoutTensorCores},
    {"mbarrier", kOlderCodeHelps},
    {"mma", kWithoutTensorCores},
    {"movmatrix", kWithoutTensorCores},
    {"multimem", kOlderCodeHelps},
    {"st_async", kOlderCodeHelps},
    {"stackrestore", kNoHelp},
    {"stacksave", kNoHelp},
    {"stmatrix", kOlderCodeHelps},
    {"sured", kNoHelp},
    {"tcgen05", kOlderCodeHelps},
    {"tensormap", kOlderCodeHelps},
    {"vset2", kNoHelp},
    {"vset4", kNoHelp},
    {"wgmma", kOlderCodeHelps},
    {"wmma", kWithoutTensorCores},
};

void choose_unit(Instruction& i) {
  const bool wide_float = i.type == Type::kF64 || i.from == Type::kF64;
  const bool floating = is_float(i.type) || is_float(i.from);
  switch (i.op) {
    case Opcode::kLd:
    case Opcode::kSt:
    case Opcode::kAtom:
    case Opcode::kRed:
    case Opcode::kCopyAsync:
    case Opcode::kTex:
    case Opcode::kTld4:
    case Opcode::kTxq:
    case Opcode::kSuq:
    case Opcode::kSuld:
    case Opcode::kSust:
      i.unit = Unit::kMemory;
      break;
    case Opcode::kBra:
    case Opcode::kRet:
    case Opcode::kExit:
    case Opcode::kBar:
    case Opcode::kBrx:
    case Opcode::kCall:
    case Opcode::kReturn:
    case Opcode::kSystem:
    case Opcode::kMembar:
    case Opcode::kCopyCommit:
    case Opcode::kCopyWait:
      i.unit = Unit::kControl;
      break;
    case Opcode::kShfl:
    case Opcode::kVote:
    case Opcode::kMatch:
    case Opcode::kActivemask:
    case Opcode::kRedux:
    case Opcode::kElect:
    case Opcode::kWarpBarrier:
      i.unit = Unit::kWarp;
      i.latency = Latency::kWarp;
      break;
    case Opcode::kRcp:
    case Opcode::kSqrt:
    case Opcode::kRsqrt:
    case Opcode::kEx2:
    case Opcode::kLg2:
    case Opcode::kSin:
    case Opcode::kCos:
    case Opcode::kTanh:
      i.unit = Unit::kSfu;
      i.latency = wide_float ? Latency::kDoubleDiv : Latency::kSfu;
      break;
    case Opcode::kDiv:
    case Opcode::kRem:
      i.unit = floating ? Unit::kSfu : Unit::kSp;
      i.latency = wide_float ? Latency::kDoubleDiv : floating ? Latency::kFloatDiv : Latency::kIntDiv;
      break;
    case Opcode::kMul:
      i.latency = wide_float ? Latency::kDoubleMul : floating ? Latency::kFloatMul : Latency::kIntMul;
      break;
    case Opcode::kMad:
    case Opcode::kMadc:
    case Opcode::kMul24:
    case Opcode::kMad24:
    case Opcode::kDp2a:
    case Opcode::kDp4a:
    case Opcode::kFma:
      i.latency = wide_float ? Latency::kDoubleMul : floating ? Latency::kFloatFma : Latency::kIntMul;
      break;
    case Opcode::kMov:
    case Opcode::kCvta:
    case Opcode::kSelp:
      i.latency = Latency::kMove;
      break;
    default:
      i.latency = wide_float ? Latency::kDoubleAdd : floating ? Latency::kFloatAdd : Latency::kIntAdd;
  }
}

// Targets sm_10 to sm_13 know no subnormal numbers of f32: what newer ones do with .ftz (PTX ISA 9.0, 9.7.3).
bool is_single_arithmetic(const Instruction& i) {
  switch (i.op) {
    case Opcode::kAdd:
    case Opcode::kSub:
    case Opcode::kMul:
    case Opcode::kFma:
    case Opcode::kDiv:
    case Opcode::kAbs:
    case Opcode::kNeg:
    case Opcode::kMin:
    case Opcode::kMax:
    case Opcode::kRcp:
    case Opcode::kSqrt:
    case Opcode::kRsqrt:
    case Opcode::kSin:
    case Opcode::kCos:
    case Opcode::kLg2:
    case Opcode::kEx2:
    case Opcode::kSet:
    case Opcode::kSetp:
    case Opcode::kCvt:
      return true;
    default:
      return false;
  }
}

}  // namespace

Operation read_operation(const ModuleText& text, const Statement& statement) {
  Modifiers m(text, statement);
  const auto* reader =
      std::lower_bound(std::begin(kReaders), std::end(kReaders), m.mnemonic(),
                       [](const Reader& r, std::string_view name) { return r.mnemonic < name; });
  if (reader == std::end(kReaders) || reader->mnemonic != m.mnemonic()) {
    for (const Later& later : kLaterMnemonics) {
      if (later.mnemonic == m.mnemonic()) m.not_executable("", later.help);
    }
    m.illegal("unknown instruction '" + std::string(m.mnemonic()) + "'");
  }
  Operation operation;
  operation.instruction.op = reader->op;
  reader->read(m, operation);
  m.finish();
  Instruction& i = operation.instruction;
  if (i.from == Type::kNone) i.from = i.type;
  if (text.is_sm_1x && (i.type == Type::kF32 || i.from == Type::kF32) && is_single_arithmetic(i))
    i.ftz = true;
  choose_unit(i);
  return operation;
}

}  // namespace weft::ptx
