"""Which sources clang-tidy checks and which test folders run under sanitizers.

The choice is a function of the commit and its base: changed files, CMake's targets and the committed tables of seconds
decide, and neither the date nor the speed of the machine.
"""

from dataclasses import dataclass
from pathlib import Path

from changes import Changes
from targets import Targets

TIDY_SECONDS = 5 * 60  # on CORES cores
SANITIZER_SECONDS = 5 * 60  # the table counts CPU; the last programs of a folder leave a core idle
CORES = 2  # of the machine that the budgets are meant for


@dataclass(frozen=True)
class Choice:
    picked: list[str]
    left: list[str]  # what `./weft campaign nightly` does
    seconds: float  # of CPU, for those that are picked


class Seconds:
    """A table of CPU seconds: lines "NAME SECONDS", `#` begins a comment. What has no line costs the mean."""

    def __init__(self, text: str):
        rows = [line.split("#")[0].split() for line in text.splitlines()]
        self.of = {row[0]: float(row[1]) for row in rows if row}
        self.mean = sum(self.of.values()) / len(self.of) if self.of else 1.0

    @staticmethod
    def read(file: Path) -> "Seconds":
        return Seconds(file.read_text())

    def __getitem__(self, name: str) -> float:
        return self.of.get(name, self.mean)


def choose(names: list[str], budget: float, cost) -> Choice:
    """In order, what still fits into a budget of CPU seconds. `cost(name, picked)` may depend on what is picked already."""
    picked: list[str] = []
    left: list[str] = []
    spent = 0.0
    for name in names:
        seconds = cost(name, picked)
        if spent + seconds <= budget:
            picked.append(name)
            spent += seconds
        else:
            left.append(name)
    return Choice(picked, left, spent)


def sources_of(paths: list[str], root: Path) -> list[str]:
    """Sources among these paths; instead of a header, the source or the test that has its name."""
    sources: set[str] = set()
    for path in paths:
        if path.endswith(".cpp"):
            sources.add(path)
        elif path.endswith(".h"):
            stem = path.removesuffix(".h")
            test = "tests/" + stem.removeprefix("modules/") + "_test.cpp"
            sources.update(name for name in (stem + ".cpp", test) if (root / name).is_file())
    return sorted(sources)


def tidy_choice(
    sources: list[str], seconds: Seconds, budget: float = TIDY_SECONDS * CORES
) -> Choice:
    """Sources to check; the table has the mean of a source in each folder."""
    return choose(sources, budget, lambda source, _: seconds[source.rsplit("/", 1)[0]])


def changed_test_folders(changes: Changes, targets: Targets) -> tuple[list[str], list[str]]:
    """Test folders of what changed, and those that depend on it directly.

    The folder of a test program that changed is changed; so is the one that has the name of a changed library's folder.
    A folder depends on a library if one of its programs links it, or a library whose tests the folder holds.
    """
    folders = targets.sanitized_folders()
    code = [path for path in changes.all if not path.endswith(".md")]
    owners = {target.name: target for path in code for target in targets.owners(path)}

    def mirror(folder: str) -> str:
        return "tests/" + folder.rsplit("/", 1)[-1]

    changed = {
        target.folder if target.kind != "library" else mirror(target.folder)
        for target in owners.values()
    }
    dependents: set[str] = set()
    for target in targets.by_name.values():
        if any(owners[link].kind == "library" for link in target.links if link in owners):
            dependents.add(mirror(target.folder) if target.kind == "library" else target.folder)
    first = [folder for folder in folders if folder in changed]
    return first, [folder for folder in folders if folder in dependents - changed]


def sanitizer_choice(
    folders: list[str],
    targets: Targets,
    seconds: Seconds,
    budget: float = SANITIZER_SECONDS * CORES,
) -> Choice:
    """Test folders to build and run; a library that a folder before needs is built once."""
    programs = targets.sanitized_folders()

    def cost(folder: str, picked: list[str]) -> float:
        built = targets.closure(program for other in picked for program in programs[other])
        return sum(seconds[name] for name in targets.closure(programs[folder]) - built)

    return choose(folders, budget, cost)
