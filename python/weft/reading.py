"""Reads the files of results. Whatever is wrong with one, the error is a ``DamagedResult`` that names it."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas

from weft.errors import DamagedResult, WeftError


@contextmanager
def naming(file: Path) -> Iterator[None]:
    """Errors within are errors of this file. Those of JSON, text encodings and pandas are ValueErrors."""
    try:
        yield
    except WeftError:
        raise
    except (OSError, ValueError, TypeError, LookupError, csv.Error) as error:
        raise DamagedResult(f"{file}: cannot be read: {error}") from error
    except (OverflowError, RecursionError) as error:
        raise DamagedResult(f"{file}: cannot be read: {type(error).__name__}: {error}") from error


def read_json(file: Path) -> dict[str, Any]:
    """An object of JSON."""
    with naming(file):
        value = json.loads(file.read_bytes().decode("utf-8"))
    if not isinstance(value, dict):
        raise DamagedResult(f"{file}: not a JSON object")
    return value


def read_text(file: Path) -> str:
    """A text for people. Bytes that are no text are replaced."""
    with naming(file):
        return file.read_text(encoding="utf-8", errors="replace")


def read_table(
    file: Path, needs: Sequence[str] = (), integers: Sequence[str] = ()
) -> pandas.DataFrame:
    """A table. Only an empty place is a missing value: a kernel may be called "null".

    needs:    columns that must be there, with a value in each row.
    integers: columns of whole numbers that may be missing.
    """
    with naming(file):
        data = file.read_bytes()
        _check_rows(file, data)
        table = pandas.read_csv(
            io.BytesIO(data), keep_default_na=False, na_values=[""], index_col=False
        )
        for name in [*needs, *integers]:
            if name not in table:
                raise DamagedResult(f"{file}: the column '{name}' is missing")
        for name in needs:
            if table[name].isna().any():
                raise DamagedResult(f"{file}: a row has no '{name}'")
        return table.astype({name: "Int64" for name in integers})


def _check_rows(file: Path, data: bytes) -> None:
    """pandas fills a row that is cut short with missing values."""
    if not data.endswith(b"\n"):
        raise DamagedResult(f"{file}: its last line is cut short")
    if b"\0" in data:
        raise DamagedResult(f"{file}: has bytes of value 0")
    rows = csv.reader(io.StringIO(data.decode("utf-8"), newline=""), strict=True)
    width = len(next(rows))
    for row in rows:
        if row and len(row) != width:
            raise DamagedResult(
                f"{file}:{rows.line_num}: the row has {len(row)} cells, and the table {width} columns"
            )
