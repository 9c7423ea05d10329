// Doubles: a polynomial by Horner's rule with fma, division, square root, rounding, conversion. IEEE 754 defines every
// result: exact.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF
__constant double coefficients[6] = {1.0, -0.5, 0.33333333333333331, -0.25, 0.2, -0.16666666666666666};
__kernel void polynomial(__global const double* in, __global double* out, __global long* rounded, double shift) {
  const uint i = get_global_id(0);
  const double x = in[i] + shift;
  double value = 0.0;
  for (int k = 5; k >= 0; --k) value = fma(value, x, coefficients[k]);
  out[4 * i] = value;
  out[4 * i + 1] = value / (x * x + 1.5);
  out[4 * i + 2] = sqrt(fabs(x)) - floor(x) * ceil(x);
  out[4 * i + 3] = (double)(float)x + trunc(x) + rint(x * 8.0) + fmin(x, 0.25) + fmax(x, -0.25);
  rounded[i] = convert_long_rtz(x * 1048576.0) + (long)(int)x;
}
