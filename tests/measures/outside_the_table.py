#!/usr/bin/env python3
"""Fails if a derived value is made outside of its table.

    outside_the_table.py SOURCE-TREE WEFT

The names are those of `weft list measures`. A line that gives a value to such a name defines it a second time: a key
of JSON, a member or variable, a function, a statistic, a property in JavaScript, an argument in Python. To read one,
loop over the rows, or over names: `json[name] = totals[name]`.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

FOLDERS = (
    "include",
    "modules",
    "platform",
    "runtime",
    "sc_main",
    "study",
    "vcd",
    "workloads",
    "python",
)
SUFFIXES = {".h", ".cpp", ".js", ".mjs", ".py"}

# File and name that may stay: what else bears such a name, and why.
ALLOWED = {
    ("modules/measures/table.cpp", ""): "the table",
    ("modules/sm/observers/lane_oracle.h", "lane_activity"): "a statistic of the oracle of one SM",
}


def pattern_of(name: str) -> re.Pattern[str]:
    n = re.escape(name)
    return re.compile(
        "|".join(
            [
                rf'"{n}"\s*\]\s*=(?!=)',  # json["ipc"] = ...
                rf'\{{\s*"{n}"\s*,\s*[^"\s]',  # {{"ipc", value}
                rf'"{n}"\s*:',  # {"ipc": value}
                rf'(?:ratio|derived|counter|Definition)\(\s*"{n}"',  # a statistic, a row elsewhere
                rf"\b{n}\s*(?:[-+*/]?=)(?![=>])",  # ipc = ..., totals.ipc = ..., ipc=... of a call in Python
                rf"\b(?:double|float|auto)&?\s+(?:\w+::)*{n}\b",  # double ipc() ..., double ipc;
                rf"[{{,]\s*{n}\s*:\s",  # { ipc: value } in JavaScript
                rf"\b(?:function|const|let|def)\s+{n}\b",
            ]
        )
    )


def code_of(line: str, suffix: str) -> str:
    """The line without its comment."""
    return re.sub(r"(^|\s)#.*" if suffix == ".py" else r"(^|\s)//.*", "", line)


def findings(text: str, suffix: str, names: dict[str, re.Pattern[str]]) -> list[tuple[int, str]]:
    found = []
    for number, line in enumerate(text.splitlines(), 1):
        code = code_of(line, suffix)
        found += [(number, n) for n, one in names.items() if n in code and one.search(code)]
    return found


def check_itself(names: dict[str, re.Pattern[str]]) -> list[str]:
    """What the patterns must and must not find."""
    wrong = []
    for suffix, line, expected in [
        (".cpp", 'json["idle_share"] = idle / held;', True),
        (".cpp", 'return {{"idle_share", idle / held}};', True),
        (".cpp", "totals.idle_share = values.idle() / held;", True),
        (".cpp", "double SmValues::idle_share() const {", True),
        (".h", "  double idle_share = 0;", True),
        (".cpp", 'group.ratio("idle_share", units::kRatio, "", {});', True),
        (".js", "rows.push({ run, idle_share: row.idle / row.held });", True),
        (".py", 'frame["idle_share"] = frame.idle / frame.held', True),
        (".py", "frame.assign(idle_share=frame.idle / frame.held)", True),
        (".cpp", 'share(run.of("idle_share"))', False),
        (
            ".cpp",
            'for (const char* const name : {"idle_share", "ipc"}) json[name] = totals[name];',
            False,
        ),
        (".cpp", '// json["idle_share"] = what was here', False),
        (".cpp", 'if (row["idle_share"] == 0) return;', False),
        (".js", "text: (row) => percent(row.idle_share)", False),
    ]:
        if bool(findings(line, suffix, names)) != expected:
            wrong.append(f"{'not found' if expected else 'found'}: {line}")
    return wrong


def main() -> int:
    root, weft = Path(sys.argv[1]), sys.argv[2]
    listed = subprocess.run(
        [weft, "list", "measures", "--json"], check=True, stdout=subprocess.PIPE
    )
    names = {row["name"]: pattern_of(row["name"]) for row in json.loads(listed.stdout)}
    wrong = check_itself(names)
    used = set()
    for folder in FOLDERS:
        for file in sorted((root / folder).rglob("*")):
            if file.suffix not in SUFFIXES or not file.is_file() or "node_modules" in file.parts:
                continue
            path = file.relative_to(root).as_posix()
            if (path, "") in ALLOWED:
                used.add((path, ""))
                continue
            for number, name in findings(file.read_text(errors="replace"), file.suffix, names):
                if (path, name) in ALLOWED:
                    used.add((path, name))
                else:
                    wrong.append(
                        f"{path}:{number}: gives a value to {name}; allowed: modules/measures/table.cpp"
                    )
    wrong += [
        f"{path}: not needed any more in ALLOWED: {name}"
        for path, name in ALLOWED
        if (path, name) not in used
    ]
    print("\n".join(wrong) or f"{len(names)} derived values are defined in the table only")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
