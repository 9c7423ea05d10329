"""Whether an SM stays a place where one idea is one class.

  stages.py TREE      checks the headers below TREE/modules/sm

- A class has at most 40 methods, private ones and those of nested classes included.
- A stage (modules/sm/stages) does not name another stage's class.
- There is no `friend`.
"""

import re
import sys
from pathlib import Path

MOST = 40

SCOPE = re.compile(r"\b(class|struct|union|enum|namespace)\b(?:\s*\[\[.*?\]\])*\s*(?:class\s+)?(\w+)?")
NO_METHOD = re.compile(r"^\s*(using|static_assert|typedef|friend|template\s+\w+\s+\w+::)\b")


def without_comments(text: str) -> str:
    text = re.sub(r"//[^\n]*", "", text)
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    text = re.sub(r'"(?:\\.|[^"\\])*"', '""', text)
    text = re.sub(r"\[\[[^\]]*\]\]", "", text)
    return re.sub(r"^[ \t]*#[^\n]*(?:\\\n[^\n]*)*", "", text, flags=re.MULTILINE)


def is_method(statement: str) -> bool:
    """Of what stands in a class body up to a semicolon or a brace."""
    statement = re.sub(r"\b(public|private|protected)\s*:", "", statement)
    statement = re.sub(r"^\s*template\s*<[^>]*>", "", statement)
    while True:  # arguments of templates, from the innermost
        shorter = re.sub(r"<[^<>()]*(?:\([^()]*\))?[^<>()]*>", "", statement)
        if shorter == statement:
            break
        statement = shorter
    if NO_METHOD.match(statement) or "(" not in statement:
        return False
    name = re.search(r"(?:operator\s*\S+|~?\w+)\s*\(", statement)
    before = statement[: name.start()] if name else "="
    return "=" not in before or "operator" in statement


def count_methods(text: str) -> dict[str, int]:
    """Of every class that is in no other class: its methods, and those of the classes in it."""
    text = without_comments(text)
    counts: dict[str, int] = {}
    scopes: list[tuple[str, str]] = []  # kind and name
    start = i = 0
    while i < len(text):
        character = text[i]
        if character not in "{};":
            i += 1
            continue
        statement = text[start:i].strip()
        in_class = bool(scopes) and scopes[-1][0] in ("class", "struct", "union")
        outermost = next((name for kind, name in scopes if kind != "namespace"), "")
        if in_class and is_method(statement) and not SCOPE.match(statement):
            counts[outermost] = counts.get(outermost, 0) + 1
        if character == "{":
            scope = SCOPE.search(re.sub(r"template\s*<[^>]*>", "", statement))
            if scope and "(" not in statement and "=" not in statement:
                kind, name = scope.groups()
                scopes.append((kind, name or ""))
                if kind in ("class", "struct", "union"):
                    counts.setdefault(next(n for k, n in scopes if k != "namespace"), 0)
            else:  # a body: nothing in it counts
                depth = 1
                while depth:
                    i += 1
                    depth += {"{": 1, "}": -1}.get(text[i], 0)
        elif character == "}" and scopes:
            scopes.pop()
        i += 1
        start = i
    return counts


def problems(tree: Path) -> list[str]:
    found = []
    folder = tree / "modules" / "sm"
    stages: dict[str, Path] = {}
    for header in sorted(folder.rglob("*.h")):
        text = header.read_text()
        for name, methods in count_methods(text).items():
            if methods > MOST:
                found.append(f"{header.relative_to(tree)}: {name} has {methods} methods; allowed: at most {MOST}")
        for stage in re.findall(r"^class (\w+Stage)\b[^;]*\{", without_comments(text), flags=re.MULTILINE):
            stages[stage] = header
    for source in sorted(folder.rglob("*")):
        if source.suffix not in (".h", ".cpp"):
            continue
        text = without_comments(source.read_text())
        if re.search(r"\bfriend\b", text):
            found.append(f"{source.relative_to(tree)}: names a friend; allowed: none")
        own = [name for name, header in stages.items() if source.name.startswith(header.stem)]
        if source.parent.name != "stages" or not own:
            continue
        for name in stages:
            if name not in own and re.search(rf"\b{name}\b", text):
                found.append(f"{source.relative_to(tree)}: a stage that names {name}; stages know stage.h only")
    if not stages:
        found.append("modules/sm/stages: found no stage")
    return found


def self_test() -> None:
    text = """
    class A : public B {
     public:
      explicit A(int x) : x_(x) { if (x) { f(); } }
      void f(std::function<void(int)> g) const;   // one (comment)
      bool operator==(const A& other) const { return true; }
      template <class T> T get() { return T(); }
     private:
      struct In { int n = 0; int twice() const { return 2 * n; } };
      enum class Kind { kOne };
      std::function<void(int)> called;
      std::array<int, 3> values{};
      int x_ = max(1, 2);
      static_assert(sizeof(int) == 4);
    };
    struct C { int y; };
    """
    counted = count_methods(text)
    assert counted == {"A": 5, "C": 0}, counted


def main() -> None:
    self_test()
    found = problems(Path(sys.argv[1]))
    print("\n".join(found) or "the classes of an SM: 0 problems")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
