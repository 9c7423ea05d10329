"""Multiplies numbers on the simulated GPU, with Python as the host CPU."""

import struct

from weft import host

PTX = """
.version 7.0
.target sm_70
.address_size 64
.visible .entry scale(.param .u64 data, .param .u32 factor, .param .u32 n)
{
  .reg .pred %p<2>;
  .reg .b32 %r<8>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [data];
  ld.param.u32 %r1, [factor];
  ld.param.u32 %r2, [n];
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %ntid.x;
  mov.u32 %r5, %tid.x;
  mad.lo.s32 %r6, %r3, %r4, %r5;
  setp.ge.u32 %p1, %r6, %r2;
  @%p1 ret;
  mul.wide.u32 %rd2, %r6, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.u32 %r7, [%rd3];
  mul.lo.s32 %r7, %r7, %r1;
  st.global.u32 [%rd3], %r7;
  ret;
}
"""
NUMBERS = 1000


def main() -> None:
    with host.start(config="gtx480") as cpu:
        gpu = cpu.open_gpu()
        queue = gpu.open_queue()
        kernel = gpu.kernel(PTX, "scale")

        shared = gpu.share(struct.pack(f"<{NUMBERS}i", *range(NUMBERS)))
        on_device = gpu.allocate(4 * NUMBERS)
        queue.copy(shared.address, on_device, 4 * NUMBERS)
        began = cpu.picoseconds
        queue.dispatch(kernel, 1024, 128, struct.pack("<QII", on_device, 7, NUMBERS)).wait()
        print(
            f"kernel: {(cpu.picoseconds - began) / 1000:.0f} ns from the doorbell to the interrupt"
        )
        queue.copy(on_device, shared.address, 4 * NUMBERS).wait()

        numbers = struct.unpack(f"<{NUMBERS}i", shared.view)
        wrong = sum(number != 7 * i for i, number in enumerate(numbers))
        print(f"{NUMBERS} numbers, {wrong} wrong, {gpu.interrupts} interrupts")


if __name__ == "__main__":
    main()
