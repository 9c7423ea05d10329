// 64-bit arithmetic: powers modulo a number, greatest common divisors, high products, division of every sign. Exact.
ulong product_modulo(ulong a, ulong b, ulong m) {
  ulong sum = 0;
  while (b != 0) {
    if (b & 1) sum = sum >= m - a ? sum - (m - a) : sum + a;
    a = a >= m - a ? a - (m - a) : a + a;
    b >>= 1;
  }
  return sum;
}
__kernel void integer64(__global const ulong* in, __global ulong* out) {
  const uint i = get_global_id(0);
  const ulong a = in[2 * i], b = in[2 * i + 1] | 1;
  __global ulong* o = out + i * 6;
  const ulong m = b | (1ul << 63);
  ulong power = 1, base = a % m;
  for (ulong exponent = a & 0x3f; exponent != 0; exponent >>= 1) {
    if (exponent & 1) power = product_modulo(power, base, m);
    base = product_modulo(base, base, m);
  }
  o[0] = power;
  ulong x = a, y = b;
  while (y != 0) {
    const ulong rest = x % y;
    x = y;
    y = rest;
  }
  o[1] = x;
  o[2] = mul_hi(a, b);
  o[3] = (ulong)((long)a / (long)b);
  o[4] = (ulong)((long)a % (long)(b >> 40 | 1));
  o[5] = (a << (b & 63)) ^ (ulong)((long)a >> (b >> 58)) ^ popcount(a) ^ rotate(a, b) ^ clz(b);
}
