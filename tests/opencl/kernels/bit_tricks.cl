// OpenCL's integer functions and bit arithmetic by hand, on 32-bit and narrower types. Exact.
__kernel void bit_tricks(__global const uint* in, __global uint* out) {
  const uint i = get_global_id(0), n = get_global_size(0);
  const uint a = in[i], b = in[n - 1 - i];
  const int sa = (int)a, sb = (int)b;
  uint reversed = a;
  reversed = ((reversed >> 1) & 0x55555555u) | ((reversed & 0x55555555u) << 1);
  reversed = ((reversed >> 2) & 0x33333333u) | ((reversed & 0x33333333u) << 2);
  reversed = ((reversed >> 4) & 0x0f0f0f0fu) | ((reversed & 0x0f0f0f0fu) << 4);
  reversed = ((reversed >> 8) & 0x00ff00ffu) | ((reversed & 0x00ff00ffu) << 8);
  reversed = (reversed >> 16) | (reversed << 16);
  __global uint* o = out + i * 20;
  o[0] = popcount(a);
  o[1] = clz(b);
  o[2] = rotate(a, b);
  o[3] = reversed;
  o[4] = mul_hi(a, b);
  o[5] = (uint)mul_hi(sa, sb);
  o[6] = hadd(a, b);
  o[7] = (uint)rhadd(sa, sb);
  o[8] = add_sat(a, b);
  o[9] = (uint)add_sat(sa, sb);
  o[10] = sub_sat(a, b);
  o[11] = (uint)sub_sat(sa, sb);
  o[12] = abs_diff(sa, sb);
  o[13] = upsample((ushort)a, (ushort)b);
  o[14] = mad24(a & 0xffffffu, b & 0xffffffu, a);
  o[15] = (uint)(int)((char)a * (short)b + (uchar)(a >> 8));
  o[16] = (uint)clamp(sa, -1000000, 1000000);
  o[17] = bitselect(a, b, 0x00ffff00u);
  o[18] = (a & -a) * 0x077cb531u >> 27;
  o[19] = (uint)(max(sa, sb) ^ min(sa, sb)) + (uint)(sa >> (b & 31)) + (a << (b & 31));
}
