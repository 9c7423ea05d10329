"""Python as the host CPU, against the program itself."""

import os
import runpy
import struct
import unittest
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

import weft
from weft import host

EXAMPLE = Path(__file__).resolve().parents[2] / "python/scale_on_gpu.py"
PTX = runpy.run_path(str(EXAMPLE))["PTX"]
NUMBERS = list(range(-300, 300))


def packed(numbers: list[int]) -> bytes:
    return struct.pack(f"<{len(numbers)}i", *numbers)


class Kernels(unittest.TestCase):
    def scaled(self) -> tuple[int, list[int]]:
        with host.start(config="gtx480", options=["--gpu-set", "sm.count=2"]) as cpu:
            gpu = cpu.open_gpu()
            queue = gpu.open_queue(number=1)
            data = gpu.share(packed(NUMBERS))
            arguments = struct.pack("<QII", data.address, 3, len(NUMBERS))
            queue.dispatch(gpu.kernel(PTX, "scale"), (640, 1), 64, arguments).wait()
            self.assertGreater(gpu.interrupts, 0)
            return cpu.picoseconds, list(struct.unpack(f"<{len(NUMBERS)}i", data.view))

    def test_a_kernel_computes_and_the_same_script_takes_the_same_time(self) -> None:
        time, numbers = self.scaled()
        self.assertEqual(numbers, [3 * number for number in NUMBERS])
        self.assertEqual(self.scaled(), (time, numbers))

    def test_more_packets_than_the_ring_holds_and_one_queue_that_waits_for_another(self) -> None:
        with host.start() as cpu:
            gpu = cpu.open_gpu()
            first, second = gpu.open_queue(0, packets=4), gpu.open_queue(1, packets=4)
            source, target = gpu.share(packed(NUMBERS)), gpu.share(4 * len(NUMBERS))
            middle = gpu.allocate(4 * len(NUMBERS))
            done = host.Signal(gpu, len(NUMBERS))
            second.wait_for(done)
            last = second.copy(middle, target.address, 4 * len(NUMBERS))
            for i in range(len(NUMBERS)):
                first.copy(source.address + 4 * i, middle + 4 * i, 4, done)
            last.wait()
            self.assertEqual(done.value, 0)
            self.assertEqual(bytes(target.view), packed(NUMBERS))

    def test_the_example_runs(self) -> None:
        text = StringIO()
        with redirect_stdout(text):
            runpy.run_path(str(EXAMPLE), run_name="__main__")
        self.assertRegex(
            text.getvalue(), r"kernel: [1-9]\d+ ns .*\n1000 numbers, 0 wrong, [1-9]\d* interrupts"
        )


class Accesses(unittest.TestCase):
    def test_registers_and_memory_are_on_the_bus(self) -> None:
        with host.start(options=["--gpu-set", "sm.count=3"]) as cpu:
            gpu = cpu.open_gpu()
            self.assertEqual(gpu.registers["SMS"], 3)
            gpu.registers.set_long("QUEUE[2].RING_BASE", 0x1_2345_6780)
            self.assertEqual(gpu.registers.long("QUEUE[2].RING_BASE"), 0x1_2345_6780)
            with self.assertRaisesRegex(KeyError, "'RING'; known: ID, VERSION"):
                gpu.registers["RING"]
            cpu.write(cpu.memory_address + 64, bytes(range(200)) * 50)
            self.assertEqual(bytes(cpu.memory[64:10064]), bytes(range(200)) * 50)
            self.assertEqual(cpu.read(cpu.memory_address + 64, 10000), bytes(range(200)) * 50)
            before = cpu.picoseconds
            self.assertFalse(cpu.advance(500))
            self.assertEqual(cpu.picoseconds, before + 500_000)
            with self.assertRaises(ValueError):
                cpu.advance(-1)

    def test_a_refused_access_says_where(self) -> None:
        with self.assertRaisesRegex(host.HostError, "access at 0x5000 refused: nothing is there"):
            with host.start() as cpu:
                cpu.read(0x5000, 4)


class Failures(unittest.TestCase):
    def test_a_refused_kernel_is_an_error_with_the_message_of_the_program(self) -> None:
        with self.assertRaisesRegex(host.HostError, r"(?s)reports MODULE: .*(no_such|unknown|PTX)"):
            with host.start() as cpu:
                gpu = cpu.open_gpu()
                gpu.open_queue().dispatch(gpu.kernel(PTX, "no_such"), 32, 32).wait()

    def test_a_fault_says_where_and_the_queue_goes_on(self) -> None:
        with host.start() as cpu:
            gpu = cpu.open_gpu()
            queue, kernel, data = (
                gpu.open_queue(),
                gpu.kernel(PTX, "scale"),
                gpu.share(packed(NUMBERS)),
            )
            with self.assertRaisesRegex(
                host.HostError,
                r"reports FAULT: .*queue 0, address 0x[0-9a-f]*40, PC 11, THREAD_X 0, .*BLOCK_X \d",
            ):
                queue.dispatch(kernel, 640, 64, struct.pack("<QII", 0x40, 3, len(NUMBERS))).wait()
            self.assertEqual(bytes(data.view), packed(NUMBERS))
            queue.resume()
            arguments = struct.pack("<QII", data.address, 3, len(NUMBERS))
            queue.dispatch(kernel, 640, 64, arguments).wait()
            self.assertEqual(bytes(data.view), packed([3 * number for number in NUMBERS]))

    def test_a_signal_that_nobody_decrements_is_a_time_out(self) -> None:
        with self.assertRaisesRegex(TimeoutError, "still 1 after 2000 ns"):
            with host.start() as cpu:
                host.Signal(cpu.open_gpu()).wait(2000)

    def test_a_program_that_does_not_start_fails_with_its_message(self) -> None:
        with self.assertRaisesRegex(weft.UsageError, "no_such_gpu"):
            with host.start(config="no_such_gpu"):
                self.fail("it started")

    def test_the_exit_code_of_the_script_is_that_of_the_simulation(self) -> None:
        with self.assertRaises(weft.WrongResult):
            with host.start() as cpu:
                cpu.end(1)

    def test_nobody_listens(self) -> None:
        with self.assertRaises(OSError):
            host.connect(os.devnull + "/socket")


if __name__ == "__main__":
    unittest.main()
