"""Damaged files of results: every reader raises an exception of weft that names the file, or reads it."""

import itertools
import json
import unittest
from collections.abc import Callable
from pathlib import Path

import weft
from fakes import FolderTest

STATS = {
    "workload": "bfs",
    "config": "c",
    "scheme": "s",
    "cycles": 7,
    "statistics": {"sm0": {"hits": 3}},
}
FILES = {
    "stats.json": json.dumps(STATS),
    "config.json": '{"name": "c"}',
    "run.json": '{"kernel": "k"}',
    "kernels.json": '{"kernels": []}',
    "launches.csv": "launch,kernel,ipc\n0,k,1.5\n1,k,2\n",
    "samples.csv": "cycle,sm,issued\n0,0,1\n500,0,2\n",
    "power.csv": "cycle,watts\n0,1.5\n500,2.5\n",
    "instructions.csv": "kernel,pc,target_pc,reconvergence_pc,ptx_line,source_line\nk,0,5,,12,3\nk,,,,,\n",
    "comparison.csv": "workload,scheme,exit_code,result,speedup\nbfs,sbr,0,verified,1\nbfs,dwf,0,verified,2\n",
    "comparison.json": '{"means": {"sbr": {"harmonic": 1}}, "pareto": [{"scheme": "sbr"}]}',
}
READERS: dict[str, tuple[Callable[[Path], object], ...]] = {
    "stats.json": (
        lambda f: weft.Run(f).stats,
        lambda f: weft.Run(f).statistics,
        lambda f: weft.Run(f).verified,
        lambda f: repr(weft.Run(f)),
    ),
    "config.json": (lambda f: weft.Run(f).config,),
    "run.json": (lambda f: weft.Run(f).record,),
    "kernels.json": (lambda f: weft.Run(f).kernels,),
    "launches.csv": (lambda f: weft.Run(f).launches,),
    "samples.csv": (lambda f: weft.Run(f).samples,),
    "power.csv": (lambda f: weft.Run(f).power,),
    "instructions.csv": (lambda f: weft.Run(f).instructions,),
    "comparison.csv": (
        lambda f: weft.Comparison(f).rows,
        lambda f: weft.Comparison(f).table("speedup"),
        lambda f: weft.Comparison(f).runs,
        lambda f: weft.Comparison(f).verified,
        lambda f: repr(weft.Comparison(f)),
    ),
    "comparison.json": (
        lambda f: weft.Comparison(f).means,
        lambda f: weft.Comparison(f).pareto,
    ),
}


def flipped(data: bytes, place: int) -> bytes:
    return data[:place] + bytes([data[place] ^ 0x88]) + data[place + 1 :]


# What cannot be read, whatever the file.
ALWAYS: dict[str, Callable[[bytes], bytes]] = {
    "nothing": lambda data: b"",
    "its beginning": lambda data: data[: len(data) // 2 - 3],
    "all but the last byte": lambda data: data[:-1],
    "no text": lambda data: flipped(data, len(data) // 3),
    "zeros behind it": lambda data: data + bytes(512),
    "zeros": lambda data: bytes(len(data)),
    "noise": lambda data: bytes(range(256)) * 4,
}
OF_JSON: dict[str, bytes] = {
    "a list": b"[1, 2]",
    "a number": b"7",
    "null": b"null",
    "nesting": b"[" * 100_000,
}
OF_TABLE: dict[str, Callable[[bytes], bytes]] = {
    "a row too short": lambda data: data + b"1\n",
    "a row too long": lambda data: data + b"1,2,3,4,5,6,7,8,9\n",
    "an open quote": lambda data: data + b'"\n',
}


class Damage(FolderTest):
    def setUp(self) -> None:
        super().setUp()
        for name, text in FILES.items():
            (self.folder / name).write_text(text)

    def expect_named(self, name: str, what: str, data: bytes) -> None:
        (self.folder / name).write_bytes(data)
        for number, read in enumerate(READERS[name]):
            with self.subTest(file=name, damage=what, reader=number):
                with self.assertRaises(weft.DamagedResult) as raised:
                    read(self.folder)
                self.assertIn(str(self.folder / name), str(raised.exception))
        (self.folder / name).write_text(FILES[name])

    def test_what_is_whole_is_read(self) -> None:
        for name, readers in READERS.items():
            for read in readers:
                with self.subTest(file=name):
                    read(self.folder)

    def test_the_file_is_named_by_every_reader(self) -> None:
        for name, (what, damage) in itertools.product(FILES, ALWAYS.items()):
            if name.endswith(".json") and what == "all but the last byte":
                continue  # a JSON file needs no line feed; its last brace is another damage
            self.expect_named(name, what, damage(FILES[name].encode()))
        for name in FILES:
            if name.endswith(".json"):
                self.expect_named(name, "no last brace", FILES[name].encode()[:-1])
                for what, data in OF_JSON.items():
                    self.expect_named(name, what, data)
            else:
                for what, change in OF_TABLE.items():
                    self.expect_named(name, what, change(FILES[name].encode()))

    def test_any_changed_byte_is_read_or_named(self) -> None:
        for name, readers in READERS.items():
            whole = FILES[name].encode()
            for place in range(0, len(whole), 13):
                for bit in (0x04, 0x80):
                    data = whole[:place] + bytes([whole[place] ^ bit]) + whole[place + 1 :]
                    (self.folder / name).write_bytes(data)
                    for read in readers:
                        with self.subTest(file=name, place=place, bit=bit):
                            try:
                                read(self.folder)
                            except weft.DamagedResult as error:
                                self.assertIn(str(self.folder / name), str(error))
                            except weft.WeftError:
                                pass  # a column of another name
            (self.folder / name).write_bytes(whole)

    def test_columns_that_are_needed(self) -> None:
        for name, column in (
            ("comparison.csv", "workload"),
            ("comparison.csv", "scheme"),
            ("comparison.csv", "result"),
            ("instructions.csv", "pc"),
        ):
            (self.folder / name).write_text(FILES[name].replace(column, "other", 1))
            with self.assertRaisesRegex(
                weft.DamagedResult, f"{name}: the column '{column}' is missing"
            ):
                READERS[name][0](self.folder)

    def test_a_folder_or_a_pipe_is_no_table(self) -> None:
        file = self.folder / "launches.csv"
        file.unlink()
        file.mkdir()
        with self.assertRaises(weft.MissingResult):
            weft.Run(self.folder).launches


if __name__ == "__main__":
    unittest.main()
