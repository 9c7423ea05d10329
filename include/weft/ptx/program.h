// A decoded kernel: what the rest of Weft sees of PTX. Made once by `decode` (ptx/decode.h), then immutable.
//
// Registers are rows of 32-bit units: a 64-bit register takes an even row and the next. Predicates are
// numbered apart. Special registers that are constant per thread (%tid, %ctaid, %laneid ...) take rows after
// the allocated ones and are filled when a thread block starts. Literals and addresses of variables are
// entries of `constants`. A PC is the index of an instruction; for the instruction cache and for tables each
// takes kInstructionBytes.
#ifndef WEFT_PTX_PROGRAM_H
#define WEFT_PTX_PROGRAM_H

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace weft::ptx {

using Pc = std::uint32_t;
inline constexpr Pc kNoPc = UINT32_MAX;
inline constexpr std::uint32_t kInstructionBytes = 8;

enum class Type : std::uint8_t {
  kNone,
  kPred,
  kB8,
  kB16,
  kB32,
  kB64,
  kU8,
  kU16,
  kU32,
  kU64,
  kS8,
  kS16,
  kS32,
  kS64,
  kF16,
  kF16x2,
  kBf16,
  kBf16x2,
  kF32,
  kF64,
  kF32x2,   // two of f32 in 64 bits
  kTf32,    // f32 with 10 bits of fraction
  kE4m3x2,  // two numbers of 8 bits, the exponent's and the fraction's width in the name
  kE5m2x2,
  kE2m3x2,  // of 6 bits, each in a byte
  kE3m2x2,
  kE2m1x2,  // of 4 bits, both in a byte
  kUe8m0x2  // exponents alone
};
inline constexpr Type kLastType = Type::kUe8m0x2;
unsigned bytes_of(Type type);  // 0 for kNone and kPred
bool is_float(Type type);
bool is_signed(Type type);  // kS8 .. kS64
const char* name_of(Type type);

enum class Opcode : std::uint8_t {
  kRet,  // of a kernel
  kExit,
  kBrx,
  kCall,
  kReturn,  // of a device function
  kSystem,
  kLd,
  kSt,
  kMov,
  kAdd,
  kSub,
  kMul,
  kMad,
  kFma,
  kCvta,
  kBra,
  kSetp,
  kShl,
  kShr,
  kAnd,
  kOr,
  kXor,
  kNot,
  kCnot,
  kCvt,
  kSelp,
  kDiv,
  kRem,
  kBar,
  kNeg,
  kMax,
  kMin,
  kAbs,
  kAtom,
  kRed,
  kBfi,
  kBfe,
  kRcp,
  kSqrt,
  kRsqrt,
  kEx2,
  kLg2,
  kSin,
  kCos,
  kMembar,
  kCopysign,
  kPopc,
  kClz,
  kBrev,
  kPrmt,
  kLop3,
  kShf,
  kBfind,
  kBmsk,
  kFns,
  kSad,
  kMul24,
  kMad24,
  kDp2a,
  kDp4a,
  kTestp,
  kSet,
  kAddc,
  kSubc,
  kMadc,
  kVadd,
  kVsub,
  kVavrg,
  kVabsdiff,
  kVmin,
  kVmax,
  kVshl,
  kVshr,
  kVmad,
  kVset,
  kShfl,
  kVote,
  kMatch,
  kActivemask,
  kRedux,
  kElect,
  kWarpBarrier,
  kCopyAsync,
  kCopyCommit,
  kCopyWait,
  kTex,
  kTld4,
  kTxq,
  kSuq,
  kSuld,
  kSust,
  kTanh,
  kIsspacep,
  kNop
};
const char* name_of(Opcode opcode);

enum class Space : std::uint8_t { kGeneric, kGlobal, kShared, kLocal, kConst, kParam, kTexture };
enum class Rounding : std::uint8_t { kDefault, kRn, kRz, kRm, kRp, kRna, kRni, kRzi, kRmi, kRpi };
enum class Compare : std::uint8_t {
  kEq,
  kNe,
  kLt,
  kLe,
  kGt,
  kGe,
  kLo,
  kLs,
  kHi,
  kHs,
  kEqu,
  kNeu,
  kLtu,
  kLeu,
  kGtu,
  kGeu,
  kNum,
  kNan
};
enum class Combine : std::uint8_t { kNone, kAnd, kOr, kXor };  // setp.cmp.and p|q, a, b, c
enum class Width : std::uint8_t { kDefault, kLo, kHi, kWide };
enum class Atomic : std::uint8_t { kNone, kAdd, kMin, kMax, kInc, kDec, kExch, kCas, kAnd, kOr, kXor };
// The mode words of prmt; shf; bmsk; bfind; testp; min and max; shfl; vote and match; cp.async.
enum class Mode : std::uint8_t {
  kNone,
  kF4e,
  kB4e,
  kRc8,
  kEcl,
  kEcr,
  kRc16,
  kLeftClamp,
  kLeftWrap,
  kRightClamp,
  kRightWrap,
  kClamp,
  kWrap,
  kShiftAmount,
  kFinite,
  kInfinite,
  kNumber,
  kNotANumber,
  kNormal,
  kSubnormal,
  kUp,
  kDown,
  kBfly,
  kIdx,
  kAll,
  kAny,
  kUni,
  kBallot,
  kPastL1,
  kNan,         // .NaN: a NaN wins
  kXorsign,     // .xorsign.abs: of the magnitudes, with the product of the signs
  kXorsignNan,  // both
  kMagnitude,   // .abs
  kMagnitudeNan
};
// What the scalar video instructions add to their opcode (9.7.18.1 of PTX ISA 9.0): which part of a, b and d
// they take, and what they do with the result and the operand c.
struct VideoAccess {
  enum class Part : std::uint8_t { kWord, kByte0, kByte1, kByte2, kByte3, kHalf0, kHalf1 };
  enum class Second : std::uint8_t { kNone, kAdd, kMin, kMax };
  Part a = Part::kWord, b = Part::kWord, d = Part::kWord;
  Second second = Second::kNone;
  std::uint8_t shift = 0;                           // vmad: 0, 7 or 15
  bool plus_one = false;                            // vmad.po
  bool negate_product = false, negate_sum = false;  // vmad: -(a * b), -c
};
// What a kSystem instruction asks of the simulator: functions of the device runtime, and the ends of a
// kernel.
enum class SystemCall : std::uint8_t { kNone, kPrint, kAllocate, kFree, kAssertFail, kTrap, kBreakpoint };
// Bytes of its results and arguments, in this order, as CUDA declares them.
std::uint64_t bytes_of_system_call(SystemCall call);
enum class BarrierKind : std::uint8_t { kSync, kArrive, kRedAnd, kRedOr, kRedPopc };

// What tex, tld4, txq, suq, suld and sust add to their opcode (9.7.9 to 9.7.11).
struct ImageAccess {
  enum class Geometry : std::uint8_t { k1d, k2d, k3d, kCube };
  enum class Detail : std::uint8_t { kBase, kLevel, kGradient };  // which mip level
  enum class Outside : std::uint8_t { kTrap, kClamp, kZero };     // suld, sust: beyond the surface
  enum class Query : std::uint8_t {
    kWidth,
    kHeight,
    kDepth,
    kChannelType,
    kChannelOrder,
    kNormalized,
    kArraySize,
    kLevels
  };
  Geometry geometry = Geometry::k1d;
  Detail detail = Detail::kBase;
  Outside outside = Outside::kTrap;
  Query query = Query::kWidth;
  bool layered = false;
  bool integer_coordinates = false;  // tex: .s32
  bool formatted = false;            // sust.p
  bool has_sampler = false;          // tex, tld4: src[1]
  std::uint8_t component = 0;        // tld4: r, g, b, a

  // Coordinates along the axes; a layer comes before them.
  unsigned axes() const { return geometry == Geometry::k1d ? 1 : geometry == Geometry::k2d ? 2 : 3; }
};

// Which functional unit executes an instruction, and with which latency: an index into the SM's latency
// table.
// kWarp: across the lanes of a warp; runs on the SIMD groups, but may have to wait for other threads first.
enum class Unit : std::uint8_t { kSp, kSfu, kMemory, kControl, kWarp };
enum class Latency : std::uint8_t {
  kIntAdd,
  kIntMul,
  kIntDiv,
  kFloatAdd,
  kFloatMul,
  kFloatFma,
  kFloatDiv,
  kDoubleAdd,
  kDoubleMul,
  kDoubleDiv,
  kSfu,
  kMove,
  kWarp,
  kCount
};

// Special registers. Those up to kEnvreg (kClock excluded) are constant for a thread.
enum class Special : std::uint8_t {
  kTidX,
  kTidY,
  kTidZ,
  kNtidX,
  kNtidY,
  kNtidZ,
  kCtaidX,
  kCtaidY,
  kCtaidZ,
  kNctaidX,
  kNctaidY,
  kNctaidZ,
  kLaneid,
  kWarpid,
  kNwarpid,
  kSmid,
  kNsmid,
  kGridid,
  kLanemaskEq,
  kLanemaskLe,
  kLanemaskLt,
  kLanemaskGe,
  kLanemaskGt,
  kDynamicSharedSize,
  kTotalSharedSize,
  kReservedSharedBegin,
  kReservedSharedEnd,
  kReservedSharedCap,
  kReservedShared0,
  kReservedShared1,
  kEnvreg0,
  kClock,
  kClockHi,
  kGlobaltimerLo,
  kGlobaltimerHi,
  kClock64,
  kGlobaltimer
};
const char* name_of(Special special);

struct Operand {
  enum class Kind : std::uint8_t {
    kNone,
    kRow,        // index = first register row (special rows included)
    kPredicate,  // index = predicate number
    kConstant,   // index into Program::constants
    kDynamic,    // index = Special whose value changes with time (kClock ...)
  };
  Kind kind = Kind::kNone;
  bool negated = false;  // kPredicate: !p
  std::uint16_t index = 0;
};
inline bool operator==(const Operand& a, const Operand& b) {
  return a.kind == b.kind && a.negated == b.negated && a.index == b.index;
}

// Which registers and instructions have one value for a warp (Lucas et al., Spatio-temporal SIMT and
// scalarization, 4.2): none; those where threads of a warp cannot have parted; all of which it is known.
enum class Scalarization : std::uint8_t { kOff, kRestricted, kFull };

struct SourcePlace {
  std::uint32_t file = 0;  // index into Program::files; file 0 is the PTX itself
  std::uint32_t line = 0;  // 0: unknown
  std::uint32_t column = 0;
};

inline constexpr std::size_t kMaxSources =
    12;  // tex.grad.3d: texture, sampler, layer, 3 coordinates, 6 slopes

struct Instruction {
  Opcode op = Opcode::kNop;
  Type type = Type::kNone;  // operation type; of cvt: destination type; of ld/st/atom: memory type
  Type from = Type::kNone;  // cvt: source type; setp/selp etc.: as `type`
  Space space = Space::kGeneric;
  Rounding rounding = Rounding::kDefault;
  Compare compare = Compare::kEq;
  Combine combine = Combine::kNone;
  Width width = Width::kDefault;
  Atomic atomic = Atomic::kNone;
  BarrierKind barrier = BarrierKind::kSync;
  Unit unit = Unit::kSp;
  Latency latency = Latency::kMove;
  std::uint8_t vector = 1;  // ld/st: elements 1, 2, 4
  bool ftz = false, sat = false, approx = false, full = false, is_volatile = false, non_coherent = false;
  // Order among memory accesses [PTX ISA, memory consistency model], of ld, st, atom, red, membar and fence.
  bool acquires = false, releases = false;
  bool system_scope = false;    // ... also with those outside the GPU
  bool fresh = false;           // ld: sees what those outside have written (.volatile, .cv, scope .sys)
  bool uniform = false;         // bra.uni; bar, barrier: .aligned
  bool to_space = false;        // cvta.to.space (generic -> space) rather than cvta.space
  bool constant_cache = false;  // ld.param of an entry, ld.const: served by the constant cache
  bool wide_address = true;     // ld, st, atom: the address base src[0] is a 64-bit register

  std::int16_t guard = -1;  // predicate number, -1: unguarded
  bool guard_negated = false;

  // dst: up to 4 (vector ld); setp: dst[0] = p, dst[1] = q.
  // src: operands in PTX order. ld: src[0] = address base (kNone: absolute). st: src[0] = address base, data
  // in src[1..4]. atom: src[0] = address base, src[1], src[2] = b, c. setp with combine: src[2] = predicate
  // c. bar: src[0] = barrier, src[1] = thread count (kNone: all), src[2] = predicate of bar.red. set: `type`
  // of the result, `from` of the operands; src[2] = predicate c. dp2a, dp4a: `type` of a, `from` of b. With
  // cvt of two f32 into a pair: src[0] = the upper one, src[1] = the lower one. vmad, vset and other scalar
  // video: src[2] = c. With carries (addc, subc, madc, and add, sub, mad where carry_out): src[2] =
  // carry in (kNone: none), src[3] = the addend c of mad, dst[1] = carry out, a predicate. lop3:
  // src[3] = the literal table. shfl, vote, match, redux, elect, bar.warp.sync: src[0..2] = a, b, c, src[3] =
  // member mask (kNone: the mask-less form, or activemask), dst[0] = d, dst[1] = p. cp.async: src[0] =
  // address in global memory, src[1] = address in shared memory (32 bits), src[2] = bytes to read (kNone:
  // all), src[3] = predicate that ignores the source; `vector` words of `type`. cp.async.wait_group: `offset`
  // = groups that may be under way, mode kAll: wait_all. tex, tld4, txq, suq, suld, sust: src[0] = 64-bit
  // object or address of a reference, src[1] = sampler, src[2] = layer, src[3..5] = coordinates; then, from
  // src[6] on, tex: the level or the slopes in x and in y, sust: the data.
  std::array<Operand, 4> dst{};
  std::array<Operand, kMaxSources> src{};
  std::int64_t offset = 0;  // byte offset added to the address base

  Pc target = kNoPc;  // bra; call: entry of the function, kNoPc: src[0] holds its address; brx: first of its
                      // targets in Program::branch_targets
  // bra, brx: where the threads that part here meet again (ptx/meeting.h), and the first instruction of the
  // immediate post-dominator, which is the same where no block barrier is before it (kNoPc: virtual exit);
  // call through a register: the next instruction.
  Pc reconvergence = kNoPc, plain_reconvergence = kNoPc;
  SourcePlace ptx;     // line and column in the PTX text
  SourcePlace source;  // from .loc, if any

  // Scoreboard keys: register rows (64-bit: the even row), predicates as Program::rows + number. Filled by
  // decode.
  std::array<std::uint16_t, kMaxSources + 1> reads{};
  std::array<std::uint16_t, 5> writes{};
  std::uint8_t read_count = 0, write_count = 0;

  Mode mode = Mode::kNone;  // also kAll: fence wider than a block; ld, st with an order
  bool carry_out = false;   // .cc
  Type second =
      Type::kNone;  // video (vadd .. vset4): type of b; `type` of d, `from` of a; `vector` parts, 1: scalar
  bool accumulate = false;        // SIMD video: .add
  bool relu = false;              // fma of 16-bit floats, cvt: a negative result becomes 0
  bool saturates_finite = false;  // cvt.satfinite: the largest finite number instead of an infinity
  VideoAccess video;
  bool spill = false;  // a local access that keeps a register's value, not the program's own
  // All it reads and writes has one value for a warp (DecodeOptions::scalarization): it executes once for
  // all active threads, and what it writes is the warp's, whatever the mask.
  bool scalar = false;
  std::uint8_t wide_results = 0;  // bit i: dst[i] is a register of 64 bits
  SystemCall system = SystemCall::kNone;
  std::uint32_t target_count = 0;  // brx
  ImageAccess image;

  bool is_branch() const { return op == Opcode::kBra; }
  bool is_exit() const { return op == Opcode::kRet || op == Opcode::kExit; }
  bool is_barrier() const { return op == Opcode::kBar; }
  bool is_control() const { return unit == Unit::kControl; }
  bool is_image() const { return op >= Opcode::kTex && op <= Opcode::kSust; }
  // Threads wait for what it returns.
  bool is_load() const {
    return op == Opcode::kLd || op == Opcode::kAtom || (op >= Opcode::kTex && op <= Opcode::kSuld);
  }
  bool is_memory() const { return unit == Unit::kMemory; }
  bool is_warp_primitive() const { return unit == Unit::kWarp; }
  // shfl and vote without .sync: among the threads that execute together, which must be a warp of the block.
  bool needs_original_warp() const {
    return (op == Opcode::kShfl || op == Opcode::kVote) && src[3].kind == Operand::Kind::kNone;
  }
};

// Calls. A thread has a stack in its local memory that grows upwards, behind the kernel's own frame; two rows
// of the program are its stack pointer and its link register. `call` writes the return PC to dst[0], the link
// register, and kReturn goes to the PC in src[0]. Arguments and results lie at the end of the caller's frame,
// right below the callee's stack pointer. kSystem reads its arguments and writes its result likewise, at the
// local address src[0] + offset (see SystemCall).

// Addresses of functions, the same in every program of a device: numbers that are no address of memory.
inline constexpr std::uint64_t kFunctionBase = 0x0080'0000, kFunctionStride = 16;
inline constexpr std::uint64_t kMaxFunctions = (0x0100'0000 - kFunctionBase) / kFunctionStride;

// The code of a device function within a program.
struct FunctionCode {
  std::string name;
  Pc first = 0, last = 0;         // inclusive
  std::uint64_t frame_bytes = 0;  // of its stack frame
};

struct BasicBlock {
  Pc first = 0, last = 0;  // inclusive
  std::vector<std::uint32_t>
      successors;  // block numbers, fall-through first; Program::blocks.size() = virtual exit
  std::uint32_t post_dominator = 0;  // block number or blocks.size() for the virtual exit
  // In the order of priorities of thread frontiers (ptx/frontiers.h): 0 runs before all others. The kernel's
  // blocks come before those of functions.
  std::uint32_t rank = 0;
};

// What threads do at a convergence barrier before they execute an instruction (ptx/convergence.h).
struct BarrierAction {
  // kJoinAtEntry: threads for which the kernel or the function begins, not those that come again in a loop.
  enum class Kind : std::uint8_t { kLeave, kWait, kJoin, kJoinAtEntry };
  Kind kind = Kind::kLeave;
  bool at_post_dominator = false;  // the barrier is at the immediate post-dominator of a branch
  std::uint32_t barrier = 0;       // number, of its own in the program
};

// Whether the instruction that ends a block leads back to a loop's begin.
struct Turn {
  static constexpr std::uint8_t kTaken = 1;        // by its branch
  static constexpr std::uint8_t kFallThrough = 2;  // by going on at the next instruction
  static constexpr std::uint8_t kPolls = 4;        // the loop may wait for what other threads do
};

struct ConvergenceBarriers {
  std::uint32_t count = 0;
  std::vector<std::uint32_t> first;  // by PC, of `actions`; one more than there are instructions
  std::vector<BarrierAction> actions;
  std::vector<std::uint8_t> turns;  // by PC: Turn
};

struct Parameter {
  std::string name;
  Type type = Type::kB8;                          // element type; .b8 name[n] is an array of bytes
  std::uint64_t offset = 0, size = 0, align = 1;  // bytes, within the parameter block
};

// A broadcast literal: the same 32 lanes of 8 bytes for a 64-bit type, of 4 bytes otherwise.
struct Constant {
  alignas(64) std::array<std::uint32_t, 64> lanes{};
};

struct Program {
  std::string name;
  std::vector<std::string> files;  // [0] = name of the PTX file
  std::vector<Instruction> code;   // never empty; always ends in ret or exit or an unconditional bra
  std::vector<BasicBlock> blocks;
  std::vector<Constant> constants;
  std::vector<Special> special_rows;  // row register_rows + 2*k holds special k (each takes an even pair)
  std::uint16_t register_rows = 0;    // allocated 32-bit rows per thread, even
  std::uint16_t rows = 0;             // register_rows + 2 * special_rows.size()
  std::uint16_t predicates = 0;
  std::uint16_t scalar_predicates = 0;  // of those, the last ones: a warp has them once
  std::uint32_t registers_per_thread =
      0;  // for occupancy: allocated 32-bit registers (predicates not counted)
  // With scalarization: 32-bit registers that a warp has once, beside those per thread. Their rows lie among
  // register_rows; only instructions marked `scalar` write them, and every instruction may read them.
  std::uint32_t scalars_per_warp = 0;
  // What registers_per_thread is without scalarization; 0: the program was decoded without.
  std::uint32_t unscalarized_registers = 0;
  std::uint32_t virtual_registers = 0;
  std::uint64_t shared_bytes = 0;       // static .shared
  std::uint64_t local_bytes = 0;        // per thread, with the stack of the deepest calls without recursion
  bool uses_heap = false;               // calls malloc
  bool recursive = false;               // how deep the stack grows is not known
  std::vector<FunctionCode> functions;  // device functions, behind the kernel's code
  std::vector<Pc> function_entries;     // by (address - kFunctionBase) / kFunctionStride; kNoPc: not callable
  std::vector<Pc> branch_targets;       // tables of brx
  ConvergenceBarriers convergence;
  // Compute capability of the kernel's .target, major x 10 + minor: 90 for sm_90a; 0: none is named.
  std::uint32_t target = 0;
  std::vector<Parameter> parameters;
  std::uint64_t parameter_bytes = 0;
  std::array<std::uint32_t, 3> max_threads{};       // .maxntid or .reqntid; zeros: not given
  std::array<std::uint32_t, 3> required_threads{};  // .reqntid
  std::uint32_t min_blocks = 0;                     // .minnctapersm, 0: not given
  std::uint32_t spill_loads = 0, spill_stores = 0;  // instructions that keep registers in local memory
  std::uint64_t spill_bytes = 0;                    // of the frames, for them
  bool uses_dynamic_shared = false;  // .extern .shared; placed after shared_bytes, 16-byte aligned

  // The most threads of a block by these directives; UINT32_MAX if there is no limit, or a larger one.
  std::uint32_t most_threads() const {
    if (max_threads[0] == 0) return UINT32_MAX;
    std::uint64_t product = 1;
    for (const std::uint32_t extent : max_threads)
      product = std::min<std::uint64_t>(product * extent, UINT32_MAX);
    return static_cast<std::uint32_t>(product);
  }
  std::string place(Pc pc) const;  // "file.cu:12 (kernel.ptx:40:3)" for messages
  // The entry of the function at `address`, or kNoPc.
  Pc entry_of(std::uint64_t address) const {
    const std::uint64_t ordinal = (address - kFunctionBase) / kFunctionStride;
    if (address % kFunctionStride != 0 || ordinal >= function_entries.size()) return kNoPc;
    return function_entries[ordinal];
  }
};

// Rows of an operand type: 2 for 64-bit types, else 1.
inline unsigned rows_of(Type type) {
  return bytes_of(type) == 8 ? 2 : 1;
}

}  // namespace weft::ptx

#endif
