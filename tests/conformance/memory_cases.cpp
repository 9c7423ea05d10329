// ld and st: PTX ISA 9.0, 9.7.9.8 to 9.7.9.13. The oracle is the order of bytes: elements lie one behind the
// other, little-endian; loads extend to the register by the signedness of the type.
#include "conformance/integers.h"

namespace weft::test::conformance {
namespace {

using u64 = std::uint64_t;
constexpr unsigned kBytes = 16;  // of a thread's element, at most
constexpr Type kLong{'b', 64, 1};

struct Access {
  std::string space;  // "" is generic
  unsigned vector = 1;
  Type type;
};

// Orders, scopes, cache operators: they say nothing about values.
bool is_hint(const std::string& word) {
  static const std::initializer_list<const char*> words = {
      "weak", "volatile", "relaxed", "acquire", "release", "cta", "cluster", "gpu", "sys",
      "ca",   "cg",       "cs",      "lu",      "cv",      "wb",  "wt",      "nc",  "mmio"};
  return std::find(words.begin(), words.end(), word) != words.end() || word.rfind("L1::", 0) == 0 ||
         word.rfind("L2::", 0) == 0;
}

std::optional<Access> read(Words& words) {
  Access a;
  while (!words.done()) {
    if (const auto t = words.type()) {
      a.type = *t;
      return words.done() && t->kind != 'p' && t->parts == 1 ? std::optional<Access>(a) : std::nullopt;
    }
    const std::string word = words.peek();
    words.take(word);
    if (word == "v2" || word == "v4") {
      a.vector = word == "v2" ? 2 : 4;
    } else if (word == "global" || word == "shared" || word == "local" || word == "const" ||
               word == "param") {
      a.space = word;
    } else if (!is_hint(word)) {
      return std::nullopt;
    }
  }
  return std::nullopt;
}

u64 byte_of(const Cells& x, unsigned i) {
  return x[i / 8] >> (8 * (i % 8)) & 0xff;
}

// "{%d, %d1}" of the first `count` names.
std::string list(std::initializer_list<const char*> names, unsigned count) {
  std::string text;
  for (unsigned i = 0; i < count; ++i) text += (i != 0 ? ", " : "") + std::string(names.begin()[i]);
  return count == 1 ? text : "{" + text + "}";
}

// %x0 is the thread's own 16 bytes of a shared or local variable.
std::string own_place(const std::string& space) {
  if (space == "shared") {
    return "mov.u32 %y0, %tid.x;\n  mul.wide.u32 %x1, %y0, 16;\n  mov.u64 %x0, tile;\n  add.u64 %x0, %x0, "
           "%x1;\n";
  }
  return "mov.u64 %x0, box;\n";
}
void declare(Case& c, const std::string& space) {
  c.locals = space == "shared" ? ".shared .align 16 .b8 tile[2048];" : ".local .align 16 .b8 box[16];";
}
std::string each_byte(const std::string& before, const std::string& after) {
  std::string text;
  for (unsigned i = 0; i < kBytes; ++i) {
    const std::string n = std::to_string(i);
    std::string one = "  " + before + n + after + "\n";
    for (std::size_t at; (at = one.find('#')) != std::string::npos;) one.replace(at, 1, n);
    text += one;
  }
  return text;
}

Case load_case(const Access& a) {
  Case c;
  c.family = "Memory";
  c.oracle = "bytes";
  c.sources = {kLong, kLong};
  c.loads = false;
  const bool narrow = a.type.bits == 8;
  c.results.assign(a.vector, narrow ? Type{'b', 32, 1} : Type{'b', a.type.bits, 1});
  c.expected = [=](const Cells& x) {
    Cells d{};
    const unsigned size = a.type.bits / 8;
    for (unsigned k = 0; k < a.vector; ++k) {
      u64 value = 0;
      for (unsigned i = 0; i < size; ++i) value |= byte_of(x, k * size + i) << (8 * i);
      if (narrow && a.type.is_signed()) value = low_bits(32, static_cast<u64>(number(a.type, value)));
      d[k] = value;
    }
    return d;
  };
  return c;
}

std::vector<Case> loads(const Access& a) {
  Case c = load_case(a);
  const std::string to = "$op " + list({"%d", "%d1", "%d2", "%d3"}, a.vector) + ", ";
  if (a.space.empty() || a.space == "global") {
    c.body = to + "[%in];";
  } else if (a.space == "const") {
    c.globals = ".visible .const .align 16 .b8 bank[32768];";
    c.copy_to = "bank";
    c.body =
        "mul.wide.u32 %x1, %index, 16;\n  mov.u64 %x0, bank;\n  add.u64 %x0, %x0, %x1;\n  " + to + "[%x0];";
  } else if (a.space == "param") {
    c.copy_to = "param";
    c.threads = 128;
    c.body =
        "mul.wide.u32 %x1, %index, 16;\n  mov.u64 %x0, block;\n  add.u64 %x0, %x0, %x1;\n  " + to + "[%x0];";
  } else {
    declare(c, a.space);
    c.body = own_place(a.space) +
             each_byte("ld.global.u8 %y1, [%in+#];\n  st." + a.space + ".u8 [%x0+", "], %y1;") + "  " + to +
             "[%x0];";
  }
  std::vector<Case> cases = {c};
  if (!a.space.empty()) return cases;
  for (const std::string space : {"shared", "local"}) {
    Case generic = load_case(a);
    declare(generic, space);
    generic.body = own_place(space) +
                   each_byte("ld.global.u8 %y1, [%in+#];\n  st." + space + ".u8 [%x0+", "], %y1;") +
                   "  cvta." + space + ".u64 %x1, %x0;\n  " + to + "[%x1];";
    cases.push_back(generic);
  }
  return cases;
}

Case store_case(const Access& a) {
  Case c;
  c.family = "Memory";
  c.oracle = "bytes";
  c.sources.assign(a.vector, a.type);
  c.stores = false;
  c.results = {kLong, kLong};
  c.expected = [=](const Cells& x) {
    Cells d{};
    const unsigned size = a.type.bits / 8;
    for (unsigned i = 0; i < size * a.vector; ++i) {
      d[i / 8] |= (x[i / size] >> (8 * (i % size)) & 0xff) << (8 * (i % 8));
    }
    return d;
  };
  return c;
}

std::vector<Case> stores(const Access& a) {
  const std::string from = ", " + list({"%a", "%b", "%c", "%e"}, a.vector) + ";";
  std::vector<Case> cases;
  if (a.space.empty() || a.space == "global") {
    cases.push_back(store_case(a));
    cases.back().body = "$op [%out]" + from;
    if (!a.space.empty()) return cases;
  }
  for (const std::string space : {"shared", "local"}) {
    if (!a.space.empty() && a.space != space) continue;
    Case c = store_case(a);
    declare(c, space);
    const bool generic = a.space.empty();
    c.body = own_place(space) + "  mov.b64 %x2, 0;\n  st." + space + ".u64 [%x0], %x2;\n  st." + space +
             ".u64 [%x0+8], %x2;\n" + (generic ? "  cvta." + space + ".u64 %x1, %x0;\n" : "") + "  $op [" +
             (generic ? "%x1" : "%x0") + "]" + from + "\n" +
             each_byte("ld." + space + ".u8 %y1, [%x0+#];\n  st.global.u8 [%out+", "], %y1;");
    cases.push_back(c);
  }
  return cases;
}

// cvta: an address of the space, through the generic address space and back, reaches the same bytes.
std::vector<Case> convert_address(Words& words) {
  const bool to = words.take("to");
  const std::string space = words.any({"global", "shared", "local", "const"});
  if (space.empty() || !words.take("u64") || !words.done()) return {};
  Case c = plain("Memory", "bytes", kLong, {kLong}, [](const Cells& x) { return Cells{x[0]}; });
  if (space == "const") {
    c.globals = ".visible .const .align 16 .b8 bank[32768];";
    c.copy_to = "bank";
    c.loads = false;
    c.sources = {kLong, kLong};
    c.body = "mul.wide.u32 %x1, %index, 16;\n  mov.u64 %x0, bank;\n  add.u64 %x0, %x0, %x1;\n";
    c.body += to ? "  cvta.const.u64 %x2, %x0;\n  $op %x3, %x2;\n  ld.const.u64 %d, [%x3];"
                 : "  $op %x2, %x0;\n  ld.u64 %d, [%x2];";
    return {c};
  }
  std::string start = "add.u64 %x0, %out, 8;\n";
  if (space != "global") {
    declare(c, space);
    start = own_place(space);
  }
  const std::string ld = "ld." + space + ".u64", st = "st." + space + ".u64";
  c.body = start + (to ? "  cvta." + space + ".u64 %x2, %x0;\n  $op %x3, %x2;\n  " + st + " [%x3], %a;\n  " +
                             ld + " %d, [%x0];"
                       : "  $op %x2, %x0;\n  st.u64 [%x2], %a;\n  " + ld + " %d, [%x0];");
  return {c};
}

}  // namespace

std::vector<Case> memory_cases(Words words) {
  const std::string m = words.mnemonic();
  if (m == "cvta") return convert_address(words);
  if (std::vector<Case> wide = wide_cases(words); !wide.empty()) return wide;
  const auto access = read(words);
  if (!access || access->type.bits / 8 * access->vector > kBytes) return {};
  if (m == "ld" || m == "ldu") return loads(*access);
  if (m == "st" && access->space != "const" && access->space != "param") return stores(*access);
  return {};
}

}  // namespace weft::test::conformance
