// Float functions. OpenCL (section 7.4, full profile) lets an implementation err by so many ulps: sqrt and division 3
// and 2.5, but correctly rounded here; exp exp2 exp10 3, log log2 log10 3, log1p expm1 2 and 3, sin cos 4, tan 5,
// atan 5, atan2 6, asin acos 4, sinh cosh 4, tanh 5, pow 16, rsqrt 2, cbrt 2, hypot 4, erf 16, fmod 0. Two
// implementations differ by at most twice as much.
__kernel void math_functions(__global const float* in, __global float* out) {
  const uint i = get_global_id(0), n = get_global_size(0);
  const float x = in[i], y = in[n - 1 - i], positive = fabs(x) + 0.001f, part = x / (fabs(x) + 1.0f);
  out[0 * n + i] = exp(x);
  out[1 * n + i] = exp2(x);
  out[2 * n + i] = log(positive);
  out[3 * n + i] = log2(positive);
  out[4 * n + i] = sin(x);
  out[5 * n + i] = cos(x);
  out[6 * n + i] = tan(x);
  out[7 * n + i] = atan(x);
  out[8 * n + i] = atan2(y, x);
  out[9 * n + i] = asin(part);
  out[10 * n + i] = acos(part);
  out[11 * n + i] = pow(positive, y * 0.25f);
  out[12 * n + i] = rsqrt(positive);
  out[13 * n + i] = cbrt(x);
  out[14 * n + i] = tanh(x);
  out[15 * n + i] = log1p(positive);
  out[16 * n + i] = expm1(x);
  out[17 * n + i] = fmod(x * 10.0f, positive);
  out[18 * n + i] = hypot(x, y);
  out[19 * n + i] = erf(x);
  out[20 * n + i] = sqrt(positive);
  out[21 * n + i] = ldexp(x, (int)(i % 40) - 20) + ceil(x) - floor(y) + trunc(x) + rint(y) + round(x);
}
