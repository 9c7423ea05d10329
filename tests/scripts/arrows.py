"""Who includes and links whom: arrows between the rooms of the source tree, which may not point upwards or in a circle.

  arrows.py TREE [--targets FILE]          checks; FILE: targets.txt of a build tree, for links
  arrows.py TREE [--targets FILE] --draw   prints the drawing:  ... --draw | dot -Tsvg > arrows.svg

Layers are in layers.txt; arrows upwards that are there today in arrows_upwards.txt, both beside this file.
"""

import argparse
import os
import re
import subprocess
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
SOURCE = re.compile(r"\.(h|hpp|c|cc|cpp|cu|S)(\.in)?$")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">\n]+)[">]', re.MULTILINE)
# Where the compiler looks for headers, beside the folder of the file that includes.
SEARCH = (
    "include",
    "modules",
    "",
    "modules/soc",
    "platform/driver",
    "platform/firmware",
    "runtime/cuda/include",
)


@dataclass
class Layers:
    names: list[str] = field(default_factory=list)  # from bottom to top
    rooms: dict[str, int] = field(default_factory=dict)  # folder to its layer
    outside: list[str] = field(default_factory=list)
    generated: dict[str, str] = field(default_factory=dict)  # header to the room that writes it

    @staticmethod
    def of_text(text: str) -> "Layers":
        layers = Layers()
        for number, line in enumerate(text.splitlines(), 1):
            name, colon, words = line.split("#")[0].partition(":")
            if not name.strip():
                continue
            if not colon or not words.split():
                raise SystemExit(f"layers.txt:{number}: '{line}' is not NAME: FOLDER ...")
            if name == "outside":
                layers.outside += words.split()
            elif name == "generated":
                header, folder = words.split()
                layers.generated[header] = folder
            else:
                for folder in words.split():
                    if folder in layers.rooms:
                        raise SystemExit(f"layers.txt:{number}: {folder} has a layer already")
                    layers.rooms[folder] = len(layers.names)
                layers.names.append(name)
        return layers

    def layer(self, room: str) -> str:
        return self.names[self.rooms[room]]

    def folder_of(self, path: str) -> str:
        """Where a file counts: a public header in the room whose interface it is."""
        parts = path.split("/")
        if parts[:2] != ["include", "weft"] or len(parts) < 4:
            return "/".join(parts[:-1])
        module = "/".join(["modules", *parts[2:-1]])
        return module if self._longest(module) else "/".join(parts[2:-1])

    def _longest(self, folder: str) -> str:
        while folder and folder not in self.rooms:
            folder = folder.rpartition("/")[0]
        return folder

    def is_outside(self, path: str) -> bool:
        return any(path.startswith(folder + "/") for folder in self.outside)

    def room(self, path: str) -> str:
        """The room of a file; "" if no layer has it."""
        return self._longest(self.folder_of(path))


@dataclass(frozen=True)
class Arrow:
    start: str  # rooms
    end: str
    place: str  # "modules/sm/sm.cpp:12"
    what: str  # 'includes "sm/config.h"', "links weft_sm"
    key: str  # its line in arrows_upwards.txt


class Tree:
    def __init__(self, root: Path, layers: Layers, targets: Path | None = None):
        self.root = root
        self.layers = layers
        self.problems: list[str] = []
        self.arrows: list[Arrow] = []
        self.has_links = targets is not None
        self.files = self._files()
        self._read_includes()
        if targets:
            self._read_links(targets.read_text().splitlines())

    def _files(self) -> dict[str, str]:
        """Source files to their rooms. Those that git ignores do not count."""
        listed = subprocess.run(
            ["git", "-C", self.root, "ls-files", "--cached", "--others", "--exclude-standard"],
            capture_output=True,
            text=True,
        )
        if listed.returncode == 0 and (self.root / ".git").exists():
            paths = listed.stdout.splitlines()
        else:
            paths = [
                os.path.relpath(os.path.join(folder, name), self.root)
                for folder, _, names in os.walk(self.root)
                for name in names
            ]
        files, missing = {}, set()
        for path in sorted(set(paths)):
            outside = self.layers.is_outside(path) or path.startswith(".")
            if not SOURCE.search(path) or outside or not (self.root / path).is_file():
                continue
            files[path] = self.layers.room(path)
            folder = self.layers.folder_of(path)
            if not files[path] and folder not in missing:
                missing.add(folder)
                self.problems.append(
                    f"{path}: the folder {folder or '.'} has no layer; add it to one line of "
                    f"tests/scripts/layers.txt, above all that it includes, or a line 'NAME: "
                    f"{folder or '.'}'"
                )
        return files

    def _find(self, path: str, name: str) -> str:
        """The file or the generated header that an include means; "" for those of other projects."""
        for folder in (os.path.dirname(path), *SEARCH):
            found = os.path.normpath(os.path.join(folder, name))
            if found in self.files:
                return found
        return name if name in self.layers.generated else ""

    def _read_includes(self) -> None:
        for path, room in self.files.items():
            text = (self.root / path).read_text(errors="replace")
            for match in INCLUDE.finditer(text):
                quote, name = match.groups()
                line = text.count("\n", 0, match.start()) + 1
                found = self._find(path, name)
                if not found:
                    if quote == '"' and not self._elsewhere(path, name):
                        self.problems.append(
                            f'{path}:{line}: "{name}" is not in the tree; a header that the build '
                            f"writes needs a line 'generated: {name} FOLDER' in tests/scripts/layers.txt"
                        )
                    continue
                end = self.files.get(found) or self.layers.generated.get(found)
                if room and end and room != end:
                    what = f'includes "{name}"'
                    self.arrows.append(Arrow(room, end, f"{path}:{line}", what, f"{path} {found}"))

    def _elsewhere(self, path: str, name: str) -> bool:
        beside = os.path.normpath(os.path.join(os.path.dirname(path), name))
        return (self.root / beside).is_file()

    def _read_links(self, lines: list[str]) -> None:
        """Lines "KIND NAME FOLDER LINK...", as the root's CMakeLists.txt writes them."""
        fields = [line.split() for line in lines if line.strip()]
        names = {words[1] for words in fields}
        rooms = {}
        for _, name, folder, *_ in (words for words in fields if len(words) > 2):
            if folder not in names and not self.layers.is_outside(folder + "/"):
                rooms[name] = self.layers.room(folder + "/CMakeLists.txt")
        for _, name, folder, *links in (words for words in fields if words[1] in rooms):
            for link in sorted({link.replace("::", "_") for link in links}):
                start, end = rooms[name], rooms.get(link, "")
                if start and end and start != end:
                    file = f"{folder}/CMakeLists.txt"
                    place = f"{file}:{self._line_of(file, link)}"
                    arrow = Arrow(
                        start, end, place, f"{name} links {link}", f"{file} {name} {link}"
                    )
                    self.arrows.append(arrow)

    def _line_of(self, file: str, target: str) -> int:
        """The first line that names a target, as weft_sm or weft::sm."""
        name = re.compile(r"\b" + re.escape(target).replace("weft_", "weft(_|::)") + r"\b")
        path = self.root / file
        lines = path.read_text().splitlines() if path.is_file() else []
        return next((number for number, line in enumerate(lines, 1) if name.search(line)), 1)

    def is_upward(self, arrow: Arrow) -> bool:
        return self.layers.rooms[arrow.start] < self.layers.rooms[arrow.end]

    def check(self, allowed: list[str]) -> list[str]:
        """What is wrong, a message each. `allowed`: keys of arrows upwards that may be there."""
        problems = list(self.problems)
        upward = [arrow for arrow in self.arrows if self.is_upward(arrow)]
        for arrow in upward:
            if arrow.key in allowed:
                continue
            low, high = self.layers.layer(arrow.start), self.layers.layer(arrow.end)
            below = self.layers.names[: self.layers.rooms[arrow.start] + 1]
            problems.append(
                f"{arrow.place}: {arrow.what} points upwards: {arrow.start} (layer '{low}') may "
                f"not need {arrow.end} (layer '{high}'); allowed are the layers {', '.join(below)}"
            )
        there = {arrow.key for arrow in upward}
        for key in allowed:
            unread = not self.has_links and len(key.split()) == 3
            if key not in there and not unread:
                problems.append(f"arrows_upwards.txt: '{key}' is no longer there; remove the line")
        return problems + self._circle()

    def _circle(self) -> list[str]:
        """One circle of arrows that do not point upwards, if there is one."""
        example: dict[str, dict[str, Arrow]] = defaultdict(dict)
        for arrow in self.arrows:
            if not self.is_upward(arrow):
                example[arrow.start].setdefault(arrow.end, arrow)
        done: set[str] = set()

        def walk(room: str, way: list[str]) -> list[str]:
            if room in way:
                return [*way[way.index(room) :], room]
            if room in done:
                return []
            for end in sorted(example[room]):
                if found := walk(end, [*way, room]):
                    return found
            done.add(room)
            return []

        for room in sorted(example):
            if circle := walk(room, []):
                steps = [example[a][b] for a, b in zip(circle, circle[1:])]
                parts = "".join(f"\n  {a.place}: {a.start} {a.what} of {a.end}" for a in steps)
                layer = self.layers.layer(circle[0])
                return [
                    f"a circle in the layer '{layer}': {' -> '.join(circle)}{parts}\n  allowed is "
                    "what leaves no circle: move what both need to a lower layer, or one room up"
                ]
        return []

    def draw(self) -> str:
        """For Graphviz. Arrows that follow from others are left out; those upwards are red."""
        ends: dict[str, set[str]] = defaultdict(set)
        for arrow in self.arrows:
            if not self.is_upward(arrow):
                ends[arrow.start].add(arrow.end)

        def reach(room: str, seen: set[str]) -> set[str]:
            for end in ends[room] - seen:
                seen.add(end)
                reach(end, seen)
            return seen

        lines = ["digraph weft {", "  rankdir=BT; node [shape=box];"]
        present = set(self.files.values()) - {""}
        for number, name in enumerate(self.layers.names):
            rooms = [
                r for r, layer in self.layers.rooms.items() if layer == number and r in present
            ]
            nodes = " ".join(f'"{room}";' for room in rooms)
            if rooms:
                lines.append(f'  subgraph "cluster_{number}" {{ label="{name}"; {nodes} }}')
        # Graphviz draws upwards from what is needed to what needs it.
        for start in sorted(ends):
            for end in sorted(ends[start]):
                others = set().union(*(reach(other, set()) for other in ends[start] - {end}))
                if end not in others:
                    lines.append(f'  "{end}" -> "{start}" [dir=back];')
        for start, end in sorted({(a.start, a.end) for a in self.arrows if self.is_upward(a)}):
            lines.append(f'  "{start}" -> "{end}" [color=red];')
        return "\n".join([*lines, "}"])


def lines_of(text: str) -> list[str]:
    """Keys: lines with single blanks, without comments."""
    lines = (" ".join(line.split("#")[0].split()) for line in text.splitlines())
    return [line for line in lines if line]


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("tree", type=Path)
    parser.add_argument("--targets", type=Path)
    parser.add_argument("--draw", action="store_true")
    options = parser.parse_args()
    tree = Tree(options.tree, Layers.of_text((HERE / "layers.txt").read_text()), options.targets)
    if options.draw:
        print(tree.draw())
        return 0
    problems = tree.check(lines_of((HERE / "arrows_upwards.txt").read_text()))
    for problem in problems:
        print(problem)
    rooms = len(set(tree.files.values()))
    print(
        f"{len(tree.files)} files, {rooms} rooms, {len(tree.arrows)} arrows: {len(problems)} problems"
    )
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
