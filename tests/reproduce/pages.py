"""Checks that the committed pages of experiments say what their data say.

    pages.py SOURCE WEFT

Each experiments/results/data/NAME.json gives the page experiments/results/NAME.md, and the verdicts of its claims in
verdicts.md. Areas need no data. A page without data is a row of experiments/results/without_data.txt, which may only
shrink. `weft reproduce NAME --from-results --out DIR` makes a page again.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

SLICE = "-slice"


def claims_in(text):
    """The row of each claim, by ID."""
    return {row.split("|")[1].strip(): row for row in text.splitlines() if re.match(r"\| `[\w.]+` \|", row)}


def main():
    source, weft = pathlib.Path(sys.argv[1]), sys.argv[2]
    results = source / "experiments" / "results"
    wrong = []
    data = sorted(path.stem for path in (results / "data").glob("*.json"))
    if not data:
        wrong.append(f"{results}/data: found no data")
    without = set((results / "without_data.txt").read_text().split())
    pages = {path.stem for path in results.glob("*.md")} - {"verdicts", "area"}
    for name in sorted(pages - set(data) - without):
        wrong.append(f"{name}.md: found no data/{name}.json; allowed: data, or a row of without_data.txt")
    for name in sorted(without - pages | without & set(data)):
        wrong.append(f"without_data.txt: found '{name}', which has data or no page; remove the row")
    committed = claims_in((results / "verdicts.md").read_text())
    with tempfile.TemporaryDirectory() as out:
        for name in data + ["area"]:
            command = [weft, "reproduce", name.removesuffix(SLICE), "--out", out]
            if name != "area":
                command.append(f"--from-results={results}")
            if name.endswith(SLICE):
                command += ["--size", "small"]
            ended = subprocess.run(command, capture_output=True, text=True, check=False)
            if ended.returncode != 0:
                wrong.append(f"{' '.join(command)}: exit code {ended.returncode}\n{ended.stderr}")
                continue
            made = (pathlib.Path(out) / f"{name}.md").read_text()
            page = results / f"{name}.md"
            if not page.exists() or page.read_text() != made:
                wrong.append(f"{page}: found another text than {' '.join(command)} gives")
        made = claims_in((pathlib.Path(out) / "verdicts.md").read_text())
        judged = {name: row for name, row in made.items() if ".md)" in row}
        for name, row in judged.items():
            if committed.get(name) != row:
                wrong.append(f"verdicts.md: found\n  {committed.get(name)}\nbut the data give\n  {row}")
    for text in wrong:
        print(text)
    print(f"{len(data)} pages of data and area.md, {len(judged)} verdicts, {len(without)} pages without data")
    return 1 if wrong else 0


sys.exit(main())
