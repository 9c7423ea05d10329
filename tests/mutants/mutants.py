"""`./weft campaign mutants`: which tests find a fault that somebody makes in a lane's arithmetic.

A mutant is the source with one operator, number or enumerator replaced, drawn by a seed. Each is built in a copy of
the working tree below the build folder, and the tests of the folders named run on it. What does not compile, and what
compiles to the same code, is drawn anew. The table says for each mutant which folders found it; mutants that no
folder found are printed with their lines.
"""

import argparse
import hashlib
import json
import random
import re
import shutil
import subprocess
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path

SOURCES = ["modules/isa"]
FOLDERS = ["isa", "conformance", "interpreter", "silicon"]
TEST_SECONDS = 90  # after which a test hangs, which also finds the mutant

# A token and what may stand in its place. An operator has blanks around it, as clang-format puts them.
OPERATORS = {
    " + ": [" - "],
    " - ": [" + "],
    " * ": [" + "],
    " / ": [" * "],
    " % ": [" / "],
    " << ": [" >> "],
    " >> ": [" << "],
    " & ": [" | "],
    " | ": [" & "],
    " ^ ": [" | "],
    " && ": [" || "],
    " || ": [" && "],
    " < ": [" <= ", " > "],
    " <= ": [" < "],
    " > ": [" >= ", " < "],
    " >= ": [" > "],
    " == ": [" != "],
    " != ": [" == "],
    "true": ["false"],
    "false": ["true"],
    "std::min": ["std::max"],
    "std::max": ["std::min"],
    "!": [""],
    "~": [""],
}
WORD = re.compile(r"(?<![\w.])(?:true|false|std::min|std::max)(?!\w)")
SYMBOL = re.compile(r" (?:\+|-|\*|/|%|<<|>>|&&|\|\||&|\||\^|<=|>=|==|!=|<|>) ")
UNARY = re.compile(r"(?<=[\s(])[!~](?=[\w(])")
NUMBER = re.compile(r"(?<![\w.'])(?:0x[0-9a-f']+|\d+)(?=u?\b)(?![\w.']*[.'px])")
ENUMERATOR = re.compile(r"\b(Type|Rounding|Compare|Combine|Mode|Width|Atomic|Opcode)::k\w+")


@dataclass(frozen=True)
class Site:
    file: str
    line: int  # from 1
    begin: int
    end: int
    new: str


@dataclass
class Result:
    site: Site
    old_line: str
    new_line: str
    found_by: dict[str, list[str]] = field(default_factory=dict)  # folder: its tests that failed


def code_of(line: str) -> str:
    """The line with comments and strings blanked, of the same length."""
    blank = re.sub(r'"(?:[^"\\]|\\.)*"', lambda m: " " * len(m.group()), line)
    return re.sub(r"//.*", lambda m: " " * len(m.group()), blank)


def replacements(line: str, enumerators: dict[str, list[str]]):
    code = code_of(line)
    if re.match(r"\s*(#|template|using|namespace|struct|class|static_assert)", code):
        return
    for pattern in (WORD, SYMBOL, UNARY):
        for match in pattern.finditer(code):
            for new in OPERATORS[match.group()]:
                yield match.start(), match.end(), new
    for match in NUMBER.finditer(code):
        base = 16 if match.group().startswith("0x") else 10
        value = int(match.group().replace("'", ""), base) + 1
        yield match.start(), match.end(), hex(value) if base == 16 else str(value)
    for match in ENUMERATOR.finditer(code):
        others = [e for e in enumerators[match.group(1)] if e != match.group()]
        for new in others:
            yield match.start(), match.end(), new


def sites_of(root: Path, sources: list[str]) -> list[list[Site]]:
    """Sites by line: each line of code is as likely as any other."""
    lines = []
    for source in sources:
        path = root / source
        files = sorted(p for p in path.rglob("*") if p.suffix in (".cpp", ".h")) if path.is_dir() else [path]
        for file in files:
            text = file.read_text().splitlines()
            enumerators: dict[str, list[str]] = {}
            for match in ENUMERATOR.finditer("\n".join(code_of(line) for line in text)):
                known = enumerators.setdefault(match.group(1), [])
                if match.group() not in known:
                    known.append(match.group())
            for number, line in enumerate(text, 1):
                name = str(file.relative_to(root))
                here = [Site(name, number, *r) for r in replacements(line, enumerators)]
                if here:
                    lines.append(here)
    return lines


class Tree:
    """A copy of the working tree with a build of its own, in which a site is changed and put back."""

    def __init__(self, source: Path, folder: Path, tests: list[str], jobs: int):
        self.source, self.root, self.tests, self.jobs = source, folder / "tree", tests, jobs
        self.build = self.root / "build/release"
        listed = subprocess.run(
            ["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=source, check=True, capture_output=True
        )
        for name in filter(None, listed.stdout.decode().split("\0")):
            here, there = source / name, self.root / name
            if here.is_file() and not (there.is_file() and there.read_bytes() == here.read_bytes()):
                there.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(here, there)
        self.forget_all_but(set(listed.stdout.decode().split("\0")))
        self.targets = [f"{test}_test" for test in tests]
        self.run("cmake", "--preset", "release", "-DCMAKE_EXPORT_COMPILE_COMMANDS=OFF", check=True)
        self.run("ninja", "-C", str(self.build), f"-j{jobs}", *self.targets, check=True)
        for test in tests:
            if failed := self.failures(test, all_of_them=True):
                raise SystemExit(f"weft campaign mutants: fails without a change: {', '.join(failed)}")

    def forget_all_but(self, known: set[str]) -> None:
        """Removes files of an earlier copy that the working tree no longer has."""
        for path in self.root.rglob("*"):
            name = str(path.relative_to(self.root))
            if path.is_file() and not name.startswith("build/") and name not in known:
                path.unlink()

    def run(self, *command: str, check: bool = False) -> subprocess.CompletedProcess:
        done = subprocess.run(command, cwd=self.root, capture_output=True, text=True)
        if check and done.returncode != 0:
            raise SystemExit(f"weft campaign mutants: {' '.join(command)}:\n{done.stdout}{done.stderr}")
        return done

    def make(self) -> bool:
        return self.run("ninja", "-C", str(self.build), f"-j{self.jobs}", *self.targets).returncode == 0

    def code(self) -> str:
        """A hash of what the tests execute. Two builds of the same code give the same programs."""
        digest = hashlib.sha256()
        for test in self.tests:
            program = self.build / "tests" / test / f"{test}_test"
            stripped = program.with_suffix(".stripped")
            self.run("strip", "-o", str(stripped), str(program), check=True)
            digest.update(stripped.read_bytes())
        return digest.hexdigest()

    def failures(self, test: str, all_of_them: bool) -> list[str]:
        stop = [] if all_of_them else ["--stop-on-failure"]
        done = self.run(
            "ctest", "--test-dir", str(self.build / "tests" / test), "-j", str(self.jobs), *stop,
            "--timeout", str(TEST_SECONDS), "-E", "_NOT_BUILT",
        )  # fmt: skip
        return re.findall(r"Test +#\d+: (\S+) \.*\**(?:Failed|Timeout|Exception|Subprocess)", done.stdout)


def mutate(tree: Tree, site: Site) -> Result:
    file = tree.root / site.file
    lines = file.read_text().splitlines(keepends=True)
    old = lines[site.line - 1]
    lines[site.line - 1] = old[: site.begin] + site.new + old[site.end :]
    file.write_text("".join(lines))
    return Result(site, old.strip(), lines[site.line - 1].strip())


def main() -> int:
    parser = argparse.ArgumentParser(prog="weft campaign mutants", description=__doc__)
    parser.add_argument("--source", required=True, type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--folder", required=True, type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--count", type=int, default=50, help="mutants to try (50)")
    parser.add_argument("--seed", type=int, default=1, help="of the draw (1)")
    parser.add_argument("--sources", nargs="+", default=SOURCES, help="files and folders that are changed")
    parser.add_argument("--tests", nargs="+", default=FOLDERS, help="folders of tests/ that look for the change")
    parser.add_argument("--all-of", nargs="*", default=[], help="folders that do not stop at their first failure")
    parser.add_argument("--out", type=Path, help="a file for the results as JSON")
    parser.add_argument("--jobs", type=int, default=2, help="processes at a time (2)")
    options = parser.parse_args()

    tree = Tree(options.source, options.folder, options.tests, options.jobs)
    wanted, dice = tree.code(), random.Random(options.seed)
    lines, results = sites_of(tree.root, options.sources), []
    while len(results) < options.count:
        if not lines:
            print("no line is left to change")
            break
        here = dice.choice(lines)
        site = here.pop(dice.randrange(len(here)))
        if not here:
            lines.remove(here)
        original = (tree.root / site.file).read_text()
        result = mutate(tree, site)
        try:
            if not tree.make() or tree.code() == wanted:
                continue
            for test in options.tests:
                result.found_by[test] = tree.failures(test, test in options.all_of)
        finally:
            (tree.root / site.file).write_text(original)
        results.append(result)
        found = ", ".join(test for test, failed in result.found_by.items() if failed)
        print(f"{len(results):3} {site.file}:{site.line}: {found or 'NOT FOUND'}", flush=True)
        if not found:
            print(f"      - {result.old_line}\n      + {result.new_line}", flush=True)
        if options.out:
            options.out.write_text(json.dumps([asdict(each) for each in results], indent=1) + "\n")
    for test in options.tests:
        print(f"{test}: {sum(1 for each in results if each.found_by[test])} of {len(results)}")
    missed = sum(1 for each in results if not any(each.found_by.values()))
    print(f"all together: {len(results) - missed} of {len(results)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
