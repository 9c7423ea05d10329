"""How the program is found and called."""

import os
import signal
import subprocess
import sys
import time
import unittest
from pathlib import Path
from unittest import mock

import weft
from fakes import FolderTest
from weft import program


class FindProgram(FolderTest):
    def test_the_argument_goes_first_then_the_variable_then_path_then_the_checkout(self) -> None:
        given, named = self.program("", "given"), self.program("", "named")
        in_path = self.program("", "bin/weft")
        built = self.program("", "checkout/build/release/sc_main/weft")
        module = self.folder / "checkout/python/weft/program.py"
        with mock.patch.object(program, "__file__", str(module)):
            os.environ["WEFT"] = str(named)
            os.environ["PATH"] += f":{in_path.parent}"
            self.assertEqual(weft.find_program(given), str(given))
            self.assertEqual(weft.find_program(), str(named))
            del os.environ["WEFT"]
            self.assertEqual(weft.find_program(), str(in_path))
            os.environ["PATH"] = "/usr/bin:/bin"
            self.assertEqual(weft.find_program(), str(built))
            built.unlink()
            with self.assertRaisesRegex(weft.WeftError, f"not found: .* nor as {built}"):
                weft.find_program()

    def test_what_is_named_must_be_there(self) -> None:
        self.program("", "bin/weft")
        os.environ["PATH"] += f":{self.folder}/bin"
        plain = self.folder / "plain"
        plain.write_text("")
        with self.assertRaisesRegex(weft.WeftError, f"program: '{plain}' is not a program"):
            weft.find_program(plain)
        os.environ["WEFT"] = "/nowhere/weft"
        with self.assertRaisesRegex(weft.WeftError, "WEFT: '/nowhere/weft' is not a program"):
            weft.find_program()


class Calls(FolderTest):
    def test_a_call_keeps_both_outputs_apart(self) -> None:
        fake = self.program('echo "out $1"; echo "err" >&2; exit 3')
        ended = program.call([str(fake), "a b"])
        self.assertEqual((ended.exit_code, ended.output, ended.messages), (3, "out a b\n", "err\n"))

    def test_an_interrupt_lets_the_program_write_what_it_has(self) -> None:
        ready, written = self.folder / "ready", self.folder / "written"
        # In the background: bash handles a signal in wait at once, else when its child has ended.
        body = f"trap 'echo done > {written}; kill $!; exit 3' INT; sleep 60 & touch {ready}; wait"
        fake = self.program(body)
        script = f"from weft import program; program.call([{str(fake)!r}])"
        with subprocess.Popen(
            [sys.executable, "-c", script], stderr=subprocess.PIPE, text=True
        ) as child:
            end = time.monotonic() + 30
            while not ready.exists() and time.monotonic() < end:
                time.sleep(0.01)
            time.sleep(0.3)  # by now it waits for the program
            child.send_signal(signal.SIGINT)
            _, messages = child.communicate(timeout=30)
        self.assertIn("KeyboardInterrupt", messages)
        self.assertEqual(Path(written).read_text(), "done\n")


if __name__ == "__main__":
    unittest.main()
