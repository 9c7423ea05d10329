"""The results of one run, as ``weft run --out`` writes them."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas

from weft.errors import MissingResult
from weft.reading import read_json, read_table, read_text

# What stands in the columns of instructions.csv that may be empty: numbers, or nothing.
_MAY_BE_EMPTY = ("pc", "target_pc", "reconvergence_pc", "ptx_line", "source_line")


def numbers_of(tree: Any, path: str = "") -> Iterator[tuple[str, float]]:
    """The numbers of a tree of statistics by dotted path; places in a list are numbers of the path.
    null becomes NaN, texts are left out."""
    if isinstance(tree, Mapping):
        items: Any = tree.items()
    elif isinstance(tree, list):
        items = enumerate(tree)
    else:
        if tree is None:
            yield path, float("nan")
        elif isinstance(tree, (int, float)):
            yield path, float(tree)
        return
    for key, value in items:
        yield from numbers_of(value, f"{path}.{key}" if path else str(key))


class OwnFolder:
    """A temporary folder, which goes with the last object that has it."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="weft-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


class Run:
    """The results of a run. Files are read when they are first asked for, and stay as they were then.

    folder:     where they lie. A folder that run() made for itself lives as long as this object.
    exit_code:  of the program; None where it is not known, as for results that read() finds.
    output:     what the program printed; messages: what it said on standard error.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        exit_code: int | None = None,
        output: str = "",
        messages: str = "",
        own_folder: OwnFolder | None = None,
    ) -> None:
        self.folder = Path(folder)
        if not (self.folder / "stats.json").is_file():
            raise MissingResult(f"{self.folder}: no results of a run here (stats.json)")
        self.exit_code = exit_code
        self.output = output
        self.messages = messages
        self._own_folder = own_folder

    def __repr__(self) -> str:
        stats = self.stats
        words = [str(stats.get("workload") or self.record.get("kernel") or "a kernel")]
        words += ["on", str(stats.get("config")), "with", str(stats.get("scheme"))]
        if self.cycles is not None:
            words.append(f"in {self.cycles} cycles")
        if self.fault:
            words.append(f"- {self.fault}")
        elif self.verified is not None:
            words.append("- verified" if self.verified else f"- wrong: {self.message}")
        return f"<weft.Run {' '.join(words)}>"

    @cached_property
    def stats(self) -> dict[str, Any]:
        """stats.json: ``stats["ipc"]``, ``stats["bound_by"]["text"]``."""
        return self._json("stats.json")

    @cached_property
    def statistics(self) -> pandas.Series:
        """All counters by dotted path ("sm0.scheduler0.cycles.issued"), as floats. Empty for a run
        without timing. ``weft list statistics`` has units and meanings."""
        named = dict(numbers_of(self.stats.get("statistics", {})))
        return pandas.Series(named, dtype="float64", name="statistics")

    @property
    def verified(self) -> bool | None:
        """Whether the result is the CPU's; None: no reference to compare with, or no result."""
        return self.stats.get("verified")

    @property
    def message(self) -> str:
        """What was compared, or what is wrong."""
        return self.stats.get("message", "")

    @property
    def fault(self) -> str | None:
        """What ended the run early: a fault, a hang, a limit, an interrupt."""
        return self.stats.get("fault")

    @property
    def cycles(self) -> int | None:
        """Core cycles in which a launch ran; None without timing."""
        return self.stats.get("cycles")

    @cached_property
    def config(self) -> dict[str, Any]:
        """The effective configuration."""
        return self._json("config.json")

    @cached_property
    def record(self) -> dict[str, Any]:
        """run.json: what the run was made of."""
        return self._json("run.json")

    @cached_property
    def summary(self) -> str:
        """The page that the program prints."""
        return read_text(self._file("summary.txt"))

    @cached_property
    def launches(self) -> pandas.DataFrame:
        """A row per launch that ran in time."""
        return read_table(self._file("launches.csv", "a run with timing"))

    @cached_property
    def samples(self) -> pandas.DataFrame:
        """A row per interval and SM. Needs sample=N."""
        return read_table(self._file("samples.csv", "sample=N"))

    @cached_property
    def power(self) -> pandas.DataFrame:
        """A row per interval. Needs sample=N and set={"sm.observe.events": True}."""
        return read_table(
            self._file("power.csv", 'sample=N and set={"sm.observe.events": True}'),
        )

    @cached_property
    def instructions(self) -> pandas.DataFrame:
        """A row per instruction of each kernel, and one per kernel, whose pc is missing, for what
        belongs to no instruction. Needs instructions=True."""
        file = self._file("instructions.csv", "instructions=True")
        return read_table(file, integers=_MAY_BE_EMPTY)

    @cached_property
    def kernels(self) -> dict[str, Any]:
        """Sources and occupancy of the kernels. Needs instructions=True."""
        return self._json("kernels.json", "instructions=True")

    def _file(self, name: str, needs: str = "") -> Path:
        file = self.folder / name
        if not file.is_file():
            raise MissingResult(f"{file}: not there" + (f"; it takes {needs}" if needs else ""))
        return file

    def _json(self, name: str, needs: str = "") -> dict[str, Any]:
        return read_json(self._file(name, needs))
