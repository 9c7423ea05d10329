"""The results of ``weft compare --out``: workloads under several schemes."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas

from weft.errors import MissingResult
from weft.reading import naming, read_json, read_table
from weft.results import OwnFolder, Run


class Comparison:
    """Runs side by side. folder, exit_code, output and messages are as for Run."""

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
        if not (self.folder / "comparison.csv").is_file():
            raise MissingResult(f"{self.folder}: no results of a comparison here (comparison.csv)")
        self.exit_code = exit_code
        self.output = output
        self.messages = messages
        self._own_folder = own_folder

    def __repr__(self) -> str:
        schemes = ", ".join(self.rows["scheme"].unique())
        return f"<weft.Comparison of {schemes} over {self.rows['workload'].nunique()} workloads>"

    @cached_property
    def rows(self) -> pandas.DataFrame:
        """A row per workload and scheme: cycles, ipc, lane_activity, speedup over the first scheme,
        energy, area ... Those of a run that failed have exit_code and result only."""
        needs = ("workload", "scheme", "exit_code", "result")
        return read_table(self.folder / "comparison.csv", needs)

    def table(self, column: str) -> pandas.DataFrame:
        """A column of the rows with workloads down and schemes across, in the order of the runs."""
        if column not in self.rows:
            raise MissingResult(f"unknown column '{column}'; known: {', '.join(self.rows.columns)}")
        with naming(self.folder / "comparison.csv"):
            table = self.rows.pivot(index="workload", columns="scheme", values=column)
        return table.loc[self.rows["workload"].unique(), list(self.rows["scheme"].unique())]

    @property
    def verified(self) -> bool:
        """Whether every run's result is the CPU's."""
        return bool((self.rows["result"] == "verified").all())

    @cached_property
    def means(self) -> pandas.DataFrame:
        """Harmonic and geometric mean of the speed-ups over all workloads, by scheme."""
        with naming(self._json_file):
            return pandas.DataFrame(self._json.get("means", {})).T.rename_axis("scheme")

    @cached_property
    def pareto(self) -> pandas.DataFrame:
        """By scheme: mean speed-up, energy and their product over the first, area, and whether another
        scheme is better in all of them."""
        with naming(self._json_file):
            return pandas.DataFrame(self._json.get("pareto", []))

    @cached_property
    def runs(self) -> Mapping[tuple[str, str], Run]:
        """The runs that left results, by (workload, scheme)."""
        found = {}
        for row in self.rows.itertuples():
            folder = self.folder / "runs" / str(row.workload) / str(row.scheme)
            if (folder / "stats.json").is_file():
                found[row.workload, row.scheme] = Run(
                    folder, exit_code=row.exit_code, own_folder=self._own_folder
                )
        return found

    @cached_property
    def _json(self) -> dict[str, Any]:
        if not self._json_file.is_file():
            raise MissingResult(f"{self._json_file}: not there")
        return read_json(self._json_file)

    @property
    def _json_file(self) -> Path:
        return self.folder / "comparison.json"
