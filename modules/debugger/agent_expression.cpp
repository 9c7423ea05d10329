#include "debugger/agent_expression.h"

#include <cstddef>
#include <vector>

namespace weft::debugger {
namespace {

// Opcodes by their numbers in the manual.
enum Opcode : std::uint8_t {
  kAdd = 0x02,
  kSub = 0x03,
  kMul = 0x04,
  kDivSigned = 0x05,
  kDivUnsigned = 0x06,
  kRemSigned = 0x07,
  kRemUnsigned = 0x08,
  kLsh = 0x09,
  kRshSigned = 0x0a,
  kRshUnsigned = 0x0b,
  kLogNot = 0x0e,
  kBitAnd = 0x0f,
  kBitOr = 0x10,
  kBitXor = 0x11,
  kBitNot = 0x12,
  kEqual = 0x13,
  kLessSigned = 0x14,
  kLessUnsigned = 0x15,
  kExt = 0x16,
  kRef8 = 0x17,
  kRef16 = 0x18,
  kRef32 = 0x19,
  kRef64 = 0x1a,
  kIfGoto = 0x20,
  kGoto = 0x21,
  kConst8 = 0x22,
  kConst16 = 0x23,
  kConst32 = 0x24,
  kConst64 = 0x25,
  kReg = 0x26,
  kEnd = 0x27,
  kDup = 0x28,
  kPop = 0x29,
  kZeroExt = 0x2a,
  kSwap = 0x2b,
  kPick = 0x32,
  kRot = 0x33,
};

constexpr std::size_t kMostSteps = 10'000, kMostDepth = 1000;

class Machine {
 public:
  Machine(const std::string& code, const ThreadView& thread) : code_(code), thread_(thread) {}

  std::optional<std::uint64_t> run() {
    for (std::size_t steps = 0; steps < kMostSteps && good_; ++steps) {
      const auto op = static_cast<std::uint8_t>(constant(1));
      if (op == kEnd) {
        const std::uint64_t result = pop();
        return good_ ? std::optional(result) : std::nullopt;
      }
      step(op);
    }
    return std::nullopt;
  }

 private:
  using Signed = std::int64_t;

  std::uint64_t constant(unsigned bytes) {
    std::uint64_t value = 0;
    if (code_.size() - at_ < bytes) return fail();
    for (; bytes != 0; --bytes) value = value << 8 | static_cast<std::uint8_t>(code_[at_++]);
    return value;
  }
  std::uint64_t fail() {
    good_ = false;
    return 0;
  }
  std::uint64_t pop() {
    if (stack_.empty()) return fail();
    const std::uint64_t value = stack_.back();
    stack_.pop_back();
    return value;
  }
  void push(std::uint64_t value) {
    if (stack_.size() == kMostDepth) fail();
    stack_.push_back(value);
  }
  void push(const std::optional<std::uint64_t>& value) {
    if (!value.has_value()) fail();
    push(value.value_or(0));
  }
  void jump(std::uint64_t to) { to < code_.size() ? static_cast<void>(at_ = to) : static_cast<void>(fail()); }

  void step(std::uint8_t op) {
    switch (op) {
      case kRef8:
      case kRef16:
      case kRef32:
      case kRef64:
        return push(thread_.memory(pop(), 1u << (op - kRef8)));
      case kConst8:
      case kConst16:
      case kConst32:
      case kConst64:
        return push(constant(1u << (op - kConst8)));
      case kReg:
        return push(thread_.register_value(constant(2)));
      case kGoto:
        return jump(constant(2));
      case kIfGoto: {
        const std::uint64_t to = constant(2);
        if (pop() != 0) jump(to);
        return;
      }
      case kDup:
        return pick(0);
      case kPick:
        return pick(constant(1));
      case kPop:
        pop();
        return;
      default:
        return compute(op);
    }
  }

  void pick(std::uint64_t depth) {
    if (depth >= stack_.size()) {
      fail();
      return;
    }
    push(stack_[stack_.size() - 1 - depth]);
  }

  void compute(std::uint8_t op) {
    if (op == kExt || op == kZeroExt) return extend(op == kExt, constant(1));
    const std::uint64_t b = pop();
    if (op == kLogNot) return push(std::uint64_t{b == 0});
    if (op == kBitNot) return push(~b);
    const std::uint64_t a = pop();
    if (op == kSwap) {
      push(b);
      return push(a);
    }
    if (op == kRot) {  // a b c => c a b
      const std::uint64_t below = pop();
      push(b);
      push(below);
      return push(a);
    }
    push(of_two(op, a, b));
  }

  void extend(bool is_signed, std::uint64_t bits) {
    const std::uint64_t value = pop();
    if (bits == 0 || bits >= 64) return push(value);
    const std::uint64_t low = value & ((std::uint64_t{1} << bits) - 1);
    const std::uint64_t sign = std::uint64_t{1} << (bits - 1);
    push(is_signed ? (low ^ sign) - sign : low);
  }

  std::uint64_t of_two(std::uint8_t op, std::uint64_t a, std::uint64_t b) {
    switch (op) {
      case kAdd:
        return a + b;
      case kSub:
        return a - b;
      case kMul:
        return a * b;
      case kDivUnsigned:
        return b == 0 ? fail() : a / b;
      case kRemUnsigned:
        return b == 0 ? fail() : a % b;
      case kDivSigned:
      case kRemSigned:
        return signed_quotient(op == kDivSigned, static_cast<Signed>(a), static_cast<Signed>(b));
      case kLsh:
        return b < 64 ? a << b : 0;
      case kRshUnsigned:
        return b < 64 ? a >> b : 0;
      case kRshSigned:
        return static_cast<std::uint64_t>(static_cast<Signed>(a) >> (b < 64 ? b : 63));
      case kBitAnd:
        return a & b;
      case kBitOr:
        return a | b;
      case kBitXor:
        return a ^ b;
      case kEqual:
        return a == b;
      case kLessSigned:
        return static_cast<Signed>(a) < static_cast<Signed>(b);
      case kLessUnsigned:
        return a < b;
      default:
        return fail();
    }
  }

  std::uint64_t signed_quotient(bool quotient, Signed a, Signed b) {
    if (b == 0) return fail();
    if (b == -1) return quotient ? std::uint64_t{0} - static_cast<std::uint64_t>(a) : 0;
    return static_cast<std::uint64_t>(quotient ? a / b : a % b);
  }

  const std::string& code_;
  const ThreadView& thread_;
  std::size_t at_ = 0;
  std::vector<std::uint64_t> stack_;
  bool good_ = true;
};

}  // namespace

std::optional<std::uint64_t> AgentExpression::value(const ThreadView& thread) const {
  return Machine(code_, thread).run();
}

}  // namespace weft::debugger
