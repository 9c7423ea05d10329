// Vector types: swizzles, vload and vstore, saturating conversion, select, relational functions, shuffles by hand.
// Floats only meet + - *, not contracted: exact.
#pragma OPENCL FP_CONTRACT OFF
__kernel void vectors(__global const uchar* bytes, __global const float4* points, __global uchar* pixels,
                      __global float4* moved, __global int4* masks) {
  const uint i = get_global_id(0);
  const uchar16 v = vload16(i, bytes);
  const uchar16 mixed = (uchar16)(v.s02468ace, v.sfdb97531);
  vstore16(add_sat(v, mixed) ^ (v >> (uchar16)(2)), i, pixels);

  const float4 p = points[i], q = p.wzyx;
  const float4 weight = (float4)(0.5f, 0.25f, 2.0f, -1.0f);
  float4 r = p * weight + q.yxwz;
  r.xy += r.zw;
  r.z = p.x * q.x + p.y * q.y;
  moved[i] = select(r, p, isgreater(p, q));

  const int4 large = convert_int4(v.s0123) * 1000 - 100000;
  const short4 narrow = convert_short4_sat(large);
  const int4 order = large < convert_int4(v.s4567) * 500;
  masks[i] = (convert_int4(narrow) & order) + (int4)(any(order), all(order), v.sa, as_int(r.x));
}
