"""Python as the host CPU of an SoC with the GPU: registers, memory, queues and the interrupt.

    from weft import host

    with host.start(config="gtx480") as cpu:
        gpu = cpu.open_gpu()
        queue = gpu.open_queue()
        kernel = gpu.kernel(ptx, "scale")
        data = gpu.share(4 * 1000)
        struct.pack_into("<1000i", data.view, 0, *range(1000))
        arguments = struct.pack("<QII", data.address, 7, 1000)
        queue.dispatch(kernel, grid=1024, block=128, arguments=arguments).wait()
        print(cpu.picoseconds, struct.unpack_from("<1000i", data.view))

The simulation is ``weft soc --config external``. It stands still while Python works. Simulated
time passes only within an access or ``advance``, so the same script always takes the same time.
``connect`` joins a simulation that runs already.

Addresses are those of the bus. Sizes are in bytes, grids and blocks in threads.
"""

from __future__ import annotations

import array
import mmap
import os
import shutil
import socket
import struct
import subprocess
import tempfile
import time
import xml.etree.ElementTree as xml
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from weft.errors import WeftError, error_of
from weft.program import find_program

# modules/soc/external_protocol.h
_MAGIC, _VERSION = 0x31585457, 1
_HELLO, _READ, _WRITE, _ADVANCE, _REPLY = 1, 2, 3, 4, 1 << 31
_MOST_DATA = 4096
_MOST_NANOSECONDS = 1_000_000_000_000
_STATUS = {
    1: "the message is malformed",
    2: "nothing is there",
    3: "not allowed there",
    4: "not with this length",
    5: "an error of the bus",
}

# platform/firmware/soc_map.h
_GPU_BASE = 0x10_0000_0000
_INTERRUPTS, _ENABLE, _CLAIM, _GPU_SOURCE = 0x1000_1000, 4, 8, 0
_EXIT = 0x1000_3000

# weft_registers.h
_ID = 0x54464557
_RESET, _IN_RESET, _ON = 1, 4, 1
_COMPLETION, _ERROR, _FAULT = 1, 2, 4
_KERNEL_OBJECT = 0x314F4B57
_PACKET_BYTES = 64
_NO_PC = 0xFFFFFFFF
_VENDOR, _INVALID, _DISPATCH, _BARRIER_AND = 0, 1, 2, 3


class HostError(WeftError):
    """An access that the bus refused, or an error that the GPU reports. The message says which."""


class _Ended(HostError):
    """The other side has gone."""


class Cpu:
    """The host CPU of a simulation: makes accesses and lets simulated time pass.

    picoseconds: simulated time at the last reply.
    interrupt:   level of the interrupt line then.
    memory:      the memory that the simulation shares, which can be changed; empty: there is none.
    memory_address: its address on the bus.
    ended:       the simulation was told to end.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.picoseconds, self.interrupt, self.ended = 0, False, False
        self._socket = socket.socket(socket.AF_UNIX)
        try:
            self._socket.connect(os.fspath(path))
            self._hello()
        except BaseException:
            self._socket.close()
            raise

    def _hello(self) -> None:
        self._send(_HELLO, struct.pack("<II", _MAGIC, _VERSION))
        head, ancillary, _, _ = self._socket.recvmsg(
            8, socket.CMSG_SPACE(array.array("i").itemsize)
        )
        body = self._body(_HELLO, head)
        self.memory_address, size = struct.unpack("<QQ", body)
        self.memory: memoryview = memoryview(bytearray())
        for _, _, data in ancillary:
            (descriptor,) = array.array("i", data[: array.array("i").itemsize])
            if size != 0:
                self.memory = memoryview(mmap.mmap(descriptor, size))
            os.close(descriptor)

    def read(self, address: int, count: int) -> bytes:
        """``count`` bytes from the bus. HostError where the bus refuses."""
        pieces = []
        for at in range(0, count, _MOST_DATA):
            size = min(_MOST_DATA, count - at)
            pieces.append(self._call(_READ, struct.pack("<QI", address + at, size), address + at))
        return b"".join(pieces)

    def write(self, address: int, data: bytes | bytearray | memoryview) -> None:
        """Writes bytes to the bus. HostError where the bus refuses."""
        for at in range(0, len(data), _MOST_DATA):
            piece = bytes(data[at : at + _MOST_DATA])
            self._call(_WRITE, struct.pack("<Q", address + at) + piece, address + at)

    def advance(self, nanoseconds: int, until_interrupt: bool = False) -> bool:
        """Lets simulated time pass: all of it, or until the interrupt line is high. Returns its
        level."""
        if not 0 <= nanoseconds <= _MOST_NANOSECONDS:
            raise ValueError(f"nanoseconds: found {nanoseconds}; allowed: 0 to {_MOST_NANOSECONDS}")
        self._call(_ADVANCE, struct.pack("<QI", nanoseconds, int(until_interrupt)), None)
        return self.interrupt

    def open_gpu(self, base: int = _GPU_BASE, svd: str | os.PathLike[str] | None = None) -> Gpu:
        """The GPU whose host socket is at ``base``, reset, with the shared memory as its window 0.
        ``svd``: the description of its registers, by default the one beside the program."""
        return Gpu(self, base, svd)

    def end(self, code: int = 0) -> None:
        """Ends the simulation with this exit code."""
        self.ended = True
        try:
            self.write(_EXIT, struct.pack("<I", code))
        except _Ended:
            pass  # it may be gone before it answers

    def close(self) -> None:
        """Leaves the simulation."""
        self._socket.close()

    def take_interrupt(self) -> bool:
        """Takes an interrupt of the GPU at the SoC's interrupt controller. False: there is none."""
        (source,) = struct.unpack("<I", self.read(_INTERRUPTS + _CLAIM, 4))
        if source == 0:
            return False
        self.write(_INTERRUPTS + _CLAIM, struct.pack("<I", source))
        return source == _GPU_SOURCE + 1

    def _call(self, kind: int, body: bytes, address: int | None) -> bytes:
        self._send(kind, body)
        return self._body(kind, self._receive(8), address)

    def _send(self, kind: int, body: bytes) -> None:
        try:
            self._socket.sendall(struct.pack("<II", kind, len(body)) + body)
        except (BrokenPipeError, ConnectionResetError):
            raise _Ended("the simulation has ended") from None

    def _body(self, kind: int, head: bytes, address: int | None = None) -> bytes:
        reply, size = struct.unpack("<II", head) if len(head) == 8 else (0, 0)
        if reply != kind | _REPLY or size < 16:
            raise HostError(
                "the other side of the socket does not speak the protocol of external CPUs"
            )
        body = self._receive(size)
        status, interrupt, self.picoseconds = struct.unpack_from("<IIQ", body)
        self.interrupt = interrupt != 0
        if status != 0:
            place = "" if address is None else f" at {address:#x}"
            raise HostError(f"access{place} refused: {_STATUS.get(status, f'status {status}')}")
        return body[16:]

    def _receive(self, size: int) -> bytes:
        try:
            data = self._socket.recv(size, socket.MSG_WAITALL)
        except ConnectionResetError:
            data = b""
        if len(data) != size:
            raise _Ended("the simulation has ended")
        return data


class Registers:
    """The GPU's registers by the names of weft_registers.h, read and written on the bus.

    registers["STATUS"], registers["QUEUE[0].DOORBELL"] = 1, registers.long("MEMORY_BYTES")
    """

    def __init__(self, cpu: Cpu, base: int, svd: str | os.PathLike[str]) -> None:
        self._cpu, self._base = cpu, base
        self._offsets: dict[str, int] = {}
        self._meanings: dict[str, dict[int, str]] = {}
        registers = xml.parse(svd).find(".//registers")
        if registers is None:
            raise WeftError(f"{os.fspath(svd)}: has no registers")
        for register in registers.iterfind("register"):
            name = _text(register, "name")
            self._offsets[name] = _number(register, "addressOffset")
            self._meanings[name] = {
                _number(value, "value"): f"{_text(value, 'name')}: {_text(value, 'description')}"
                for value in register.iterfind(".//enumeratedValue")
            }
        for cluster in registers.iterfind("cluster"):
            for i in range(_number(cluster, "dim")):
                block = _number(cluster, "addressOffset") + i * _number(cluster, "dimIncrement")
                prefix = _text(cluster, "name").replace("%s", str(i))
                for register in cluster.iterfind("register"):
                    name = f"{prefix}.{_text(register, 'name')}"
                    self._offsets[name] = block + _number(register, "addressOffset")

    def __iter__(self) -> Iterator[str]:
        return iter(self._offsets)

    def __getitem__(self, name: str) -> int:
        (value,) = struct.unpack("<I", self._cpu.read(self._address(name), 4))
        return value

    def __setitem__(self, name: str, value: int) -> None:
        self._cpu.write(self._address(name), struct.pack("<I", value))

    def long(self, name: str) -> int:
        """The number in the registers NAME_LO and NAME_HI."""
        return self[f"{name}_LO"] | self[f"{name}_HI"] << 32

    def set_long(self, name: str, value: int) -> None:
        """Writes NAME_LO and NAME_HI."""
        self[f"{name}_LO"] = value & 0xFFFFFFFF
        self[f"{name}_HI"] = value >> 32

    def meaning(self, name: str) -> str:
        """What the register's value stands for: "MODULE: the PTX or its kernel is refused"."""
        value = self[name]
        return self._meanings.get(name, {}).get(value, f"{value:#x}")

    def _address(self, name: str) -> int:
        if name not in self._offsets:
            raise KeyError(f"no register is named '{name}'; known: {', '.join(self._offsets)}")
        return self._base + self._offsets[name]


@dataclass(frozen=True)
class Shared:
    """Bytes in the memory that CPU and GPU share."""

    address: int
    view: memoryview


class Gpu:
    """A GPU on the bus.

    registers: its registers by name.
    interrupts: how many of its interrupts were handled.
    """

    def __init__(self, cpu: Cpu, base: int, svd: str | os.PathLike[str] | None) -> None:
        self.cpu, self.interrupts = cpu, 0
        self.registers = registers = Registers(cpu, base, svd if svd is not None else find_svd())
        if registers["ID"] != _ID:
            raise HostError(f"no GPU is at {base:#x}: found ID {registers['ID']:#x}")
        registers["CONTROL"] = _RESET
        while registers["STATUS"] & _IN_RESET:
            cpu.advance(10)
        self._device = registers.long("DEVICE_BASE")
        self._device_end = self._device + registers.long("MEMORY_BYTES")
        self._used = 0
        if len(cpu.memory) != 0:
            registers.set_long("WINDOW[0].BASE", cpu.memory_address)
            registers.set_long("WINDOW[0].BYTES", len(cpu.memory))
            registers["WINDOW[0].CONTROL"] = _ON
        cpu.write(_INTERRUPTS + _ENABLE, struct.pack("<I", 1 << _GPU_SOURCE))
        registers["IRQ_ENABLE"] = _COMPLETION | _ERROR | _FAULT

    def allocate(self, count: int, alignment: int = 256) -> int:
        """Address of device memory that nobody else has, and that is never freed. MemoryError if
        there is none."""
        address = -(-self._device // alignment) * alignment
        if address + count > self._device_end:
            raise MemoryError(
                f"{count} bytes of device memory; {self._device_end - address} are left"
            )
        self._device = address + count
        return address

    def share(self, contents: int | bytes, alignment: int = 64) -> Shared:
        """Shared memory of a size, or with these contents. It is never freed. MemoryError if there
        is none."""
        count = contents if isinstance(contents, int) else len(contents)
        at = -(-self._used // alignment) * alignment
        if at + count > len(self.cpu.memory):
            raise MemoryError(
                f"{count} bytes of shared memory; {len(self.cpu.memory) - at} are left"
            )
        self._used = at + count
        shared = Shared(self.cpu.memory_address + at, self.cpu.memory[at : at + count])
        shared.view[:] = bytes(count) if isinstance(contents, int) else contents
        return shared

    def kernel(self, ptx: str, name: str, memory: int = 1 << 16) -> int:
        """Address of a kernel object for the entry ``name``. ``memory``: bytes of device memory for
        variables and code of the module. What is wrong with the PTX shows when it is launched."""
        text, entry = self.share(ptx.encode()), self.share(name.encode())
        place = self.allocate(memory)
        fields = struct.pack(
            "<IIQQQIIQQQ",
            *(_KERNEL_OBJECT, 0, text.address, len(text.view)),
            *(entry.address, len(entry.view), 0, place, memory, 0),
        )
        return self.share(fields).address

    def open_queue(self, number: int = 0, packets: int = 64, scratch: int = 1 << 20) -> Queue:
        """Enables queue ``number`` with a ring of ``packets`` (a power of two). ``scratch``: bytes
        of device memory for parameters and local variables. HostError if the GPU refuses it."""
        return Queue(self, number, packets, scratch)

    def failure(self) -> HostError:
        """The first error that the GPU has reported. Its queue goes on after ``Queue.resume``."""
        registers = self.registers
        meaning, queue = registers.meaning("ERROR_CODE"), registers["ERROR_QUEUE"]
        text = f"{meaning}, queue {queue}, address {registers.long('ERROR_ADDRESS'):#x}"
        if queue < registers["QUEUES"] and registers[f"QUEUE_FAULT[{queue}].PC"] != _NO_PC:
            names = ["PC", *(f"{of}_{axis}" for of in ("THREAD", "BLOCK") for axis in "XYZ")]
            places = [f"{name} {registers[f'QUEUE_FAULT[{queue}].{name}']}" for name in names]
            text = ", ".join([text, *places])
        return HostError(f"the GPU reports {text}")

    def handle_interrupt(self) -> int:
        """Clears the events that the GPU reports, and returns them. HostError for an error."""
        events = self.registers["IRQ_STATUS"]
        self.registers["IRQ_STATUS"] = events
        self.interrupts += 1
        if events & (_ERROR | _FAULT):
            raise self.failure()
        return events


class Signal:
    """A number in shared memory that the GPU decrements when a packet is done. It becomes negative
    if the packet fails."""

    def __init__(self, gpu: Gpu, value: int = 1) -> None:
        self._gpu, self._place = gpu, gpu.share(struct.pack("<q", value))

    @property
    def address(self) -> int:
        return self._place.address

    @property
    def value(self) -> int:
        (value,) = struct.unpack("<q", self._place.view)
        return value

    def wait(self, nanoseconds: int = 10_000_000_000) -> None:
        """Lets simulated time pass until the value is 0, asleep between interrupts. HostError for
        an error of the GPU; TimeoutError if it takes longer."""
        cpu = self._gpu.cpu
        end = cpu.picoseconds + 1000 * nanoseconds
        while self.value > 0:
            left = (end - cpu.picoseconds) // 1000
            if left <= 0:
                raise TimeoutError(f"the signal is still {self.value} after {nanoseconds} ns")
            if (
                cpu.advance(min(left, _MOST_NANOSECONDS), until_interrupt=True)
                and cpu.take_interrupt()
            ):
                self._gpu.handle_interrupt()
        if self.value < 0:
            raise self._gpu.failure()


class Queue:
    """A queue of packets of the GPU."""

    def __init__(self, gpu: Gpu, number: int, packets: int, scratch: int) -> None:
        self.gpu, self.number, self.packets = gpu, number, packets
        self._written = 0
        self._ring = gpu.share(struct.pack("<H62x", _INVALID) * packets)
        registers, name = gpu.registers, f"QUEUE[{number}]"
        registers.set_long(f"{name}.RING_BASE", self._ring.address)
        registers[f"{name}.RING_PACKETS"] = packets
        registers.set_long(f"{name}.SCRATCH_BASE", gpu.allocate(scratch))
        registers.set_long(f"{name}.SCRATCH_BYTES", scratch)
        registers[f"{name}.CONTROL"] = _ON
        if registers[f"{name}.CONTROL"] != _ON:
            raise HostError(f"queue {number} was refused: {registers.meaning('ERROR_CODE')}")

    def dispatch(
        self,
        kernel: int,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        arguments: bytes = b"",
        shared_memory: int = 0,
        signal: Signal | None = None,
    ) -> Signal:
        """Runs a kernel: ``grid`` and ``block`` in threads, in one to three dimensions;
        ``arguments`` as PTX lays them out. Returns the signal, by default a new one, that is
        decremented at its end."""
        threads, blocks = _three(block), _three(grid)
        signal = signal or Signal(self.gpu)
        parameters = self.gpu.share(arguments).address if arguments else 0
        self._put(
            struct.pack(
                "<HHHHHHIIIIIQQQQ",
                *(_DISPATCH, 3, *threads, 0, *blocks, 0, shared_memory),
                *(kernel, parameters, 0, signal.address),
            )
        )
        return signal

    def copy(
        self, source: int, destination: int, count: int, signal: Signal | None = None
    ) -> Signal:
        """Copies bytes between any two places of device and shared memory."""
        signal = signal or Signal(self.gpu)
        self._put(
            struct.pack("<HHIQQQ24xQ", _VENDOR, 1, 0, source, destination, count, signal.address)
        )
        return signal

    def wait_for(self, *signals: Signal) -> None:
        """What follows in the queue waits until all signals (at most five) are 0."""
        if len(signals) > 5:
            raise ValueError(f"found {len(signals)} signals; allowed: at most 5")
        addresses = [s.address for s in signals] + [0] * (5 - len(signals))
        self._put(struct.pack("<HHI5QQQ", _BARRIER_AND, 0, 0, *addresses, 0, 0))

    def resume(self) -> None:
        """Goes on behind a packet that has failed."""
        name, registers = f"QUEUE[{self.number}]", self.gpu.registers
        registers["ERROR_CODE"] = 0
        registers[f"{name}.CONTROL"] = 0
        registers[f"{name}.CONTROL"] = _ON

    # The header is written last: with it the packet becomes valid.
    def _put(self, packet: bytes) -> None:
        name = f"QUEUE[{self.number}]"
        while self._written - self.gpu.registers[f"{name}.READ_INDEX"] >= self.packets:
            self.gpu.cpu.advance(1000)
        at = self._written % self.packets * _PACKET_BYTES
        self._ring.view[at + 2 : at + _PACKET_BYTES] = packet[2:]
        self._ring.view[at : at + 2] = packet[:2]
        self._written += 1
        self.gpu.registers[f"{name}.DOORBELL"] = self._written & 0xFFFFFFFF


def connect(path: str | os.PathLike[str]) -> Cpu:
    """Joins a simulation that listens at this socket. OSError if none does."""
    return Cpu(path)


@contextmanager
def start(
    config: str | os.PathLike[str] | None = None,
    options: Sequence[str] = (),
    program: str | os.PathLike[str] | None = None,
    seconds: float = 30,
) -> Iterator[Cpu]:
    """Starts ``weft soc --config external`` and connects to it. The block's end ends it.

    config:  the GPU's configuration; None: that of the SoC.
    options: more options of ``weft soc``, such as ``["--vcd", "run.vcd", "--out", "out"]``.
    seconds: how long to wait for it to listen.

    If the simulation fails, the block ends with the exception of its exit code
    (``weft.ProgramFailed``).
    """
    folder = tempfile.mkdtemp(prefix="weft-host-")
    path = f"{folder}/socket"
    command = [
        find_program(program),
        "soc",
        "--config",
        "external",
        "--set",
        f"cpu.external.socket={path}",
    ]
    command += [] if config is None else ["--set", f"gpu={os.fspath(config)}"]
    command += options
    environment = {**os.environ, "SYSTEMC_DISABLE_COPYRIGHT_MESSAGE": "1"}
    log = Path(folder, "log")
    process = None
    try:
        with open(log, "wb") as output:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environment
            )
        cpu = _connected(process, path, seconds)
        if cpu is None:
            raise _failed(process.wait(), command, log)
        try:
            yield cpu
            if not cpu.ended:
                cpu.end()
        except _Ended as error:
            code = process.wait()
            raise (_failed(code, command, log) if code != 0 else error) from None
        except HostError as error:
            said = log.read_text(errors="replace").strip()
            raise HostError(f"{error}\n{said}".strip()) from error
        finally:
            cpu.close()
        code = process.wait()
        if code != 0:
            raise _failed(code, command, log)
    finally:
        if process is not None and process.poll() is None:
            process.terminate()
            process.wait()
        shutil.rmtree(folder, ignore_errors=True)


def find_svd(program: str | os.PathLike[str] | None = None) -> str:
    """The description of the registers that belongs to the program: installed, or in its build."""
    found = Path(find_program(program)).resolve()
    places = [found.parents[1] / "share/weft/weft.svd", found.parents[1] / "modules/host/weft.svd"]
    for place in places:
        if place.exists():
            return str(place)
    raise WeftError(f"weft.svd was not found: {' nor '.join(map(str, places))}; name it with svd=")


def _connected(process: subprocess.Popen[bytes], path: str, seconds: float) -> Cpu | None:
    """None: the program has ended."""
    end = time.monotonic() + seconds
    while process.poll() is None:
        try:
            return Cpu(path)
        except (FileNotFoundError, ConnectionRefusedError):  # it does not listen yet
            if time.monotonic() > end:
                raise TimeoutError(f"the simulation does not listen after {seconds} s") from None
        time.sleep(0.01)
    return None


def _failed(code: int, command: Sequence[str], log: Path) -> WeftError:
    message = log.read_text(errors="replace").strip() or f"the program ended with exit code {code}"
    return error_of(code)(message, code, command)


def _three(of: int | Sequence[int]) -> tuple[int, int, int]:
    sizes = (of,) if isinstance(of, int) else tuple(of)
    if not 1 <= len(sizes) <= 3:
        raise ValueError(f"found {len(sizes)} dimensions; allowed: 1 to 3")
    return (*sizes, *(1,) * (3 - len(sizes)))  # type: ignore[return-value]


def _text(of: xml.Element, name: str) -> str:
    return of.findtext(name, "")


def _number(of: xml.Element, name: str) -> int:
    return int(_text(of, name), 0)
