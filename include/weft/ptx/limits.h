// What Weft refuses although PTX would allow it, so that a small text cannot ask for unbounded memory or
// stack.
#ifndef WEFT_PTX_LIMITS_H
#define WEFT_PTX_LIMITS_H

#include <cstdint>

namespace weft::ptx {

inline constexpr std::uint64_t kMaxTextBytes = 1ull << 30;         // one module's text
inline constexpr unsigned kMaxNesting = 256;                       // scopes, lists and parentheses together
inline constexpr std::uint64_t kMaxDeclaredRegisters = 1'000'000;  // .reg of one function
inline constexpr std::uint64_t kMaxSharedBytes = 1ull << 20;       // static .shared of one variable or kernel
inline constexpr std::uint64_t kMaxLocalBytes = 512ull << 10;      // .local of one variable or kernel
inline constexpr std::uint64_t kMaxConstBytes = 16ull << 20;       // one .const variable
inline constexpr std::uint64_t kMaxGlobalBytes = 64ull << 30;      // one .global variable
inline constexpr std::uint64_t kMaxInitialBytes = 256ull << 20;    // one variable with an initialiser
inline constexpr std::uint64_t kMaxParameterBytes = 32764;         // one kernel's parameters (PTX ISA 8.1)
inline constexpr std::uint64_t kMaxAlignment = 1ull << 16;
inline constexpr std::uint32_t kMaxLivePredicates = 1024;    // live at one point of a kernel
inline constexpr std::uint32_t kMaxRows = 32768;             // 32-bit register rows of a thread
inline constexpr std::uint32_t kMaxConstants = 65536;        // distinct literals of one kernel
inline constexpr std::uint64_t kMaxLiveSteps = 1ull << 30;   // of the search for live registers (liveness.h)
inline constexpr std::uint64_t kMaxSavedValues = 4'000'000;  // by all calls of one function together
inline constexpr std::uint64_t kMaxBranchTargets = 500'000;  // of all brx.idx of one function together

}  // namespace weft::ptx

#endif
