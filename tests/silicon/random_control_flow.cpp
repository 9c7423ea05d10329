// Random kernels of control flow only; divergence_kernels.h says what a body may use. They always end: loops
// are bounded by counters.
#include <random>

#include "silicon/divergence_kernels.h"

namespace weft::test::silicon {
namespace {

class ControlFlow {
 public:
  explicit ControlFlow(std::uint64_t seed) : random_(seed) {}

  std::string body() {
    statements(2, 3, 0);
    return text_;
  }

 private:
  unsigned below(unsigned n) { return static_cast<unsigned>(random_() % n); }
  void line(const std::string& text) { text_ += "  " + text + "\n"; }
  void label(const std::string& name) { text_ += name + ":\n"; }
  void point() { text_ += "#" + std::to_string(++points_) + "\n"; }
  void branch(const std::string& target) { line("bra " + target + ";"); }
  std::string fresh() { return "L" + std::to_string(labels_++); }

  // Sets %p1 in some threads; the path decides, too.
  void condition() {
    const std::string word = "%x" + std::to_string(below(4)), shift = std::to_string(below(8));
    line("shr.u32 %a1, " + word + ", " + shift + ";");
    if (below(2) == 0) line("shr.u32 %a2, %v, " + shift + "; xor.b32 %a1, %a1, %a2;");
    line("and.b32 %a1, %a1, 7; setp.lt.u32 %p1, %a1, " + std::to_string(1 + below(6)) + ";");
  }
  std::string counter(unsigned mask) {
    const std::string name = "%c" + std::to_string(counters_++);
    line("and.b32 " + name + ", %x" + std::to_string(below(4)) + ", " + std::to_string(mask) + ";");
    return name;
  }
  void again(const std::string& counter, const std::string& target) {
    line("setp.gt.s32 %p2, " + counter + ", 0; sub.u32 " + counter + ", " + counter + ", 1;");
    line("@%p2 bra " + target + ";");
  }

  void statements(unsigned least, unsigned most, unsigned depth) {
    for (unsigned n = least + below(most - least + 1); n > 0; --n) statement(depth);
  }
  void statement(unsigned depth) {
    point();
    if (depth == 3 || counters_ > 20) return;
    switch (below(10)) {
      case 0:
      case 1:
        return if_else(depth);
      case 2:
        return if_only(depth);
      case 3:
      case 4:
        return loop(depth);
      case 5:
        return table(depth);
      case 6:
        return short_circuit(depth);
      case 7:
        return depth < 2 ? blocks() : if_only(depth);
      case 8:
        return leave();
      default:
        return chain(depth);
    }
  }

  void if_only(unsigned depth) {
    const std::string join = fresh();
    condition();
    line("@%p1 bra " + join + ";");
    statements(1, 2, depth + 1);
    label(join);
  }
  void if_else(unsigned depth) {
    const std::string otherwise = fresh(), join = fresh();
    condition();
    line("@%p1 bra " + otherwise + ";");
    statements(1, 2, depth + 1);
    branch(join);
    label(otherwise);
    statements(1, 2, depth + 1);
    label(join);
  }
  void loop(unsigned depth) {
    const std::string head = fresh(), next = fresh(), end = fresh();
    const std::string count = counter(depth == 0 ? 3 : 1), outer_next = next_, outer_end = end_;
    next_ = next;
    end_ = end;
    label(head);
    statements(1, 2, depth + 1);
    label(next);
    again(count, head);
    if (below(3) == 0) point();  // only where the counter ends the loop, not where it is left
    label(end);
    next_ = outer_next;
    end_ = outer_end;
  }
  // Some threads leave: the turn, the loop, or the kernel.
  void leave() {
    condition();
    const unsigned way = below(6);
    if (way < 2 && !next_.empty()) return line("@%p1 bra " + next_ + ";");
    if (way < 4 && !end_.empty()) return line("@%p1 bra " + end_ + ";");
    line(way == 5 ? "@%p1 exit;" : "@%p1 bra DONE;");
  }
  void table(unsigned depth) {
    const std::string list = fresh(), join = fresh();
    const std::string targets[] = {fresh(), fresh(), fresh(), below(2) == 0 ? join : fresh()};
    line("shr.u32 %a1, %x" + std::to_string(below(4)) + ", 3; and.b32 %a1, %a1, 3;");
    line(list + ": .branchtargets " + targets[0] + ", " + targets[1] + ", " + targets[2] + ", " + targets[3] +
         ";");
    line("brx.idx %a1, " + list + ";");
    for (const std::string& target : targets) {
      if (target == join) continue;
      label(target);
      statements(1, 1, depth + 1);
      if (below(3) != 0) branch(join);  // else it falls through
    }
    label(join);
  }
  void chain(unsigned depth) {
    const std::string join = fresh();
    for (unsigned i = 0; i < 2; ++i) {
      const std::string next = fresh();
      condition();
      line("@%p1 bra " + next + ";");
      statements(1, 1, depth + 1);
      branch(join);
      label(next);
    }
    statements(0, 1, depth + 1);
    label(join);
  }
  void short_circuit(unsigned depth) {
    const std::string otherwise = fresh(), join = fresh();
    for (unsigned n = 2 + below(2); n > 0; --n) {
      condition();
      line("@%p1 bra " + otherwise + ";");
      point();
    }
    statements(0, 1, depth + 1);
    if (below(3) != 0) branch(join);
    label(otherwise);
    statements(1, 1, depth + 1);
    label(join);
  }
  // Blocks that jump to any other; a counter ends what goes round.
  void blocks() {
    const std::string count = counter(3), end = fresh();
    std::vector<std::string> names(3 + below(3));
    for (std::string& name : names) name = fresh();
    for (const std::string& name : names) {
      label(name);
      point();
      line("setp.eq.u32 %p2, " + count + ", 0; sub.u32 " + count + ", " + count + ", 1;");
      line("@%p2 bra " + end + ";");
      condition();
      line("@%p1 bra " + names[below(static_cast<unsigned>(names.size()))] + ";");
    }
    label(end);
  }

  std::mt19937_64 random_;
  std::string text_, next_, end_;  // of the loop around: its next turn, its end
  unsigned labels_ = 0, counters_ = 0, points_ = 0;
};

}  // namespace

std::vector<DivergenceKernel> random_control_flow(unsigned count) {
  std::vector<DivergenceKernel> all;
  for (unsigned i = 0; i < count; ++i)
    all.push_back({"random_" + std::to_string(i), ControlFlow(1000 + i).body()});
  return all;
}

}  // namespace weft::test::silicon
