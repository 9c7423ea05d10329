"""The commands ``weft run`` and ``weft compare`` as functions, and access to existing results."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import pandas

from weft.comparison import Comparison
from weft.errors import MissingResult, error_of
from weft.program import Call, call, find_program
from weft.results import OwnFolder, Run

AnyPath = str | os.PathLike[str]
Results = TypeVar("Results", Run, Comparison)


def run(
    workload: str | None,
    *,
    config: AnyPath = "gtx480",
    scheme: str | None = None,
    set: Mapping[str, object] | None = None,
    size: str | Mapping[str, int] | None = None,
    out: AnyPath | None = None,
    sample: int | None = None,
    instructions: bool = False,
    functional: bool = False,
    max_cycles: int | None = None,
    options: Sequence[object] = (),
    program: AnyPath | None = None,
) -> Run:
    """Runs a workload on a simulated GPU and returns its results.

    workload:     a name of ``weft list workloads``; None: `options` name a kernel ("--ptx", ...).
    config:       a name of ``weft list configs``, or a JSON file (with a slash, or ending in .json).
    scheme:       a name of ``weft list schemes``; None: the configuration's.
    set:          values over the configuration's, by dotted path: {"sm.count": 4}.
    size:         "small", "default", "large", "large,seed=7", or {"n": 1000, "degree": 4}.
    out:          folder for the results; None: one of its own, which lives as long as they do.
    sample:       core cycles of an interval of `Run.samples`.
    instructions: counts by instruction, for `Run.instructions`.
    functional:   without timing: results only.
    max_cycles:   ends the run with a SimulatedFault after so many core cycles.
    options:      further options as on the command line: ["--check", "memory", "race"].
    program:      see find_program.

    Raises UsageError, WrongResult or SimulatedFault with the program's message. The last two
    have the available `results`.
    """
    words = [] if workload is None else ["--workload", workload]
    values = dict(set or {})
    if scheme is not None:
        values["warp_formation.scheme"] = scheme
    if instructions:
        values["sm.observe.instructions"] = True
    words += _option("--sample", sample) + _option("--max-cycles", max_cycles)
    if functional:
        words.append("--functional")
    words += [str(option) for option in options]
    return _run_command(Run, "run", config, values, size, words, out, program)


def compare(
    workloads: str | Sequence[str] | None = None,
    schemes: str | Sequence[str] | None = None,
    *,
    config: AnyPath = "gtx480",
    set: Mapping[str, object] | None = None,
    size: str | Mapping[str, int] | None = None,
    out: AnyPath | None = None,
    jobs: int | None = None,
    max_cycles: int | None = None,
    options: Sequence[object] = (),
    program: AnyPath | None = None,
) -> Comparison:
    """Runs workloads under several schemes, each in a process of its own.

    workloads: names; None: all.
    schemes:   names, "dwr-16" for dwr with dwr.largest_warp=16, or "NAME+PATH=VALUE" with paths below
               warp_formation or of datapath; None: all, beginning with sbr. Speed-ups are
               over the first.
    jobs:      runs at a time; None: as many as there are cores.

    Other arguments and exceptions are as for run(). With `out`, runs that already have results are
    not repeated, except with options=["--again"].
    """
    words = _option("--workloads", _joined(workloads)) + _option("--schemes", _joined(schemes))
    words += _option("--jobs", jobs) + _option("--max-cycles", max_cycles)
    words += [str(option) for option in options]
    return _run_command(Comparison, "compare", config, set or {}, size, words, out, program)


def read(folder: AnyPath) -> Run | Comparison:
    """The results that ``weft run --out`` or ``weft compare --out`` has left in a folder."""
    folder = Path(folder)
    if (folder / "comparison.csv").is_file():
        return Comparison(folder)
    if (folder / "stats.json").is_file():
        return Run(folder)
    raise MissingResult(
        f"{folder}: no results here; allowed: a folder of weft run --out or weft compare --out"
    )


def measures(*, program: AnyPath | None = None) -> pandas.DataFrame:
    """The derived values (shares and rates), a row each: unit, meaning, formula, and the setting that
    each needs. Their names are those of ``run.stats``, ``run.launches`` and ``comparison.rows``.

    Raises UsageError or ProgramFailed if the program does not have the list.
    """
    ended = call([find_program(program), "list", "measures", "--json"])
    if ended.exit_code != 0:
        raise error_of(ended.exit_code)(
            _message_of(ended, None), ended.exit_code, ended.command, None
        )
    return pandas.DataFrame(json.loads(ended.output)).set_index("name")


def _run_command(
    kind: type[Results],
    name: str,
    config: AnyPath,
    values: Mapping[str, object],
    size: str | Mapping[str, int] | None,
    words: Sequence[str],
    out: AnyPath | None,
    program: AnyPath | None,
) -> Results:
    command = [find_program(program), name, "--config", os.fspath(config)]
    own_folder = OwnFolder() if out is None else None
    folder = Path(out) if own_folder is None else own_folder.path
    if values:
        command += ["--set", *(f"{path}={_text_of(value)}" for path, value in values.items())]
    if isinstance(size, Mapping):
        size = ",".join(f"{key}={value}" for key, value in size.items())
    command += [*_option("--size", size), *words, "--out", str(folder)]

    ended = call(command)
    # After any other exit code, what lies in the folder may be an earlier run's.
    results = None
    if ended.exit_code in (0, 1, 3):
        try:
            results = kind(
                folder,
                exit_code=ended.exit_code,
                output=ended.output,
                messages=ended.messages,
                own_folder=own_folder,
            )
        except MissingResult:
            if ended.exit_code == 0:
                raise
    if ended.exit_code != 0:
        raise error_of(ended.exit_code)(
            _message_of(ended, results), ended.exit_code, ended.command, results
        )
    assert results is not None
    return results


def _message_of(ended: Call, results: Run | Comparison | None) -> str:
    """What the program says of its failure, without its name."""
    lines = [line.removeprefix("weft: ") for line in ended.messages.splitlines() if line.strip()]
    if isinstance(results, Comparison):
        for row in results.rows.itertuples():
            if row.exit_code != 0:
                lines.append(f"{row.workload}, {row.scheme}: {row.result}")
    elif not lines and results is not None:
        lines.append(results.fault or results.message)
    return "\n".join(lines) or f"{ended.command[0]} ended with exit code {ended.exit_code}"


def _option(name: str, value: object) -> list[str]:
    return [] if value is None else [name, str(value)]


def _joined(names: str | Sequence[str] | None) -> str | None:
    return names if names is None or isinstance(names, str) else ",".join(names)


def _text_of(value: object) -> str:
    """A value as --set reads it: text and paths as they are, all else as JSON, numpy's numbers too."""
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    return json.dumps(value, default=lambda scalar: scalar.item())
