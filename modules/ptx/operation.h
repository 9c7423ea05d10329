// What an opcode with its modifiers means: "mad.lo.s32" -> the fields of an Instruction and the types of its
// operands.
#ifndef WEFT_PTX_OPERATION_H
#define WEFT_PTX_OPERATION_H

#include "ptx/syntax.h"

namespace weft::ptx {

// How the operands of an instruction are read.
enum class Shape : std::uint8_t {
  kPlain,            // destination, sources
  kMove,             // as kPlain, also symbols and vectors
  kConvert,          // registers may be wider than the types
  kLookup,           // lop3: as kPlain, the last source is a literal table
  kCarry,            // destination, sources; carry in and out through the thread's condition code
  kConvertTwo,       // two registers into the halves of one
  kConvertPack,      // cvt.pack: two or three registers into the parts of one
  kConvertSmall,     // cvt to and from formats of 8 bits and fewer, and tf32
  kVideo,            // scalar video
  kPolicy,           // createpolicy
  kMapAddress,       // mapa
  kClusterRank,      // getctarank
  kClusterWait,      // barrier.cluster.wait
  kEvent,            // no effect, perhaps one literal
  kHint,             // one source, no effect
  kPrefetch,         // an address, no effect
  kExtremum,         // min, max: destination, two or three sources
  kPairs,            // add, min, max on two 16-bit integers: as SIMD video instructions
  kLookupPredicate,  // lop3.BoolOp: d|p, a, b, c, table, q
  kSelectBySign,     // slct
  kExtend,           // szext
  kCompare,          // p or p|q, a, b [, c]
  kLoad,
  kStore,
  kAtomic,
  kReduce,
  kBranch,
  kIndexedBranch,  // brx
  kCall,
  kTrap,
  kExit,
  kBarrier,
  kWarp,       // d, p or d|p, sources, member mask
  kCopyAsync,  // [shared], [global], bytes [, bytes to read | ignore]
  kCopyWait,
  kFence,
  kTexture,       // tex, tld4: texels, [texture, sampler, coordinates], level or slopes
  kImageQuery,    // txq, suq
  kSurfaceLoad,   // suld
  kSurfaceStore,  // sust
};

struct Operation {
  Instruction instruction;  // operands empty
  Shape shape = Shape::kPlain;
  Type destination = Type::kNone;
  std::array<Type, 4> sources{};
  std::uint8_t source_count = 0;
  std::uint8_t pack_bits = 0;  // cvt.pack: of an element; 2 and 4 have no type
  bool has_policy = false;     // .L2::cache_hint: the last operand is a policy of the cache
};

// Throws InputError for an unknown or illegal opcode, and for one that Weft does not execute; both name the
// place and quote the instruction.
Operation read_operation(const ModuleText& text, const Statement& statement);

}  // namespace weft::ptx

#endif
