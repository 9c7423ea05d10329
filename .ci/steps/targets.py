"""The libraries and test programs of a build tree, from the file that CMake writes when it configures."""

from dataclasses import dataclass
from pathlib import Path

FILE = "targets.txt"


@dataclass(frozen=True)
class Target:
    name: str
    folder: str  # of its CMakeLists.txt, relative to the root
    kind: str  # "library", or ctest's label of a test program
    links: tuple[str, ...]  # targets of the project that it links directly


class Targets:
    """Lines of `targets.txt`: KIND NAME FOLDER LINK..."""

    def __init__(self, lines: list[str]):
        fields = [line.split() for line in lines if line.strip()]
        names = {field[1] for field in fields}
        self.by_name: dict[str, Target] = {}
        for kind, name, folder, *links in fields:
            known = {link.replace("::", "_") for link in links} & names
            self.by_name[name] = Target(name, folder, kind, tuple(sorted(known)))

    @staticmethod
    def of_build(build: Path) -> "Targets":
        return Targets((build / FILE).read_text().splitlines())

    def closure(self, names) -> set[str]:
        """These targets and all that they link, directly or not."""
        found: set[str] = set()
        waiting = list(names)
        while waiting:
            name = waiting.pop()
            if name not in found:
                found.add(name)
                waiting.extend(self.by_name[name].links)
        return found

    def sanitized_folders(self) -> dict[str, list[str]]:
        """Test folder to its programs that also run under sanitizers."""
        folders: dict[str, list[str]] = {}
        for target in self.by_name.values():
            if target.kind in ("unit", "campaign"):
                folders.setdefault(target.folder, []).append(target.name)
        return {folder: sorted(folders[folder]) for folder in sorted(folders)}

    def owners(self, path: str) -> list[Target]:
        """Targets in the closest folder above a file; of a public header, those of the module with its name."""
        parts = path.split("/")
        if parts[:2] == ["include", "weft"] and len(parts) > 3:
            parts = ["modules", *parts[2:]]
            if not any(target.folder == "/".join(parts[:2]) for target in self.by_name.values()):
                parts = parts[1:]  # include/weft/platform, include/weft/runtime
        for length in range(len(parts) - 1, 0, -1):
            folder = "/".join(parts[:length])
            found = [target for target in self.by_name.values() if target.folder == folder]
            if found:
                return found
        return []
