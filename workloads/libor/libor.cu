// Monte Carlo of forward rates in the LIBOR market model, and a portfolio of swaptions on them: one path per
// thread (Giles, Glasserman 2006). The second kernel also differentiates the portfolio's value by the last
// initial rate, by adjoints: it keeps all rates of all steps in local memory and goes back through them.
#include "weft/workloads/device.h"

constexpr int kMaxRates = 80, kMaxSteps = 40, kOptions = 15;

__constant__ float volatilities[kMaxRates];
__constant__ int maturities[kOptions];  // of the options, in rates after the last step
__constant__ float strikes[kOptions];

struct Model {
  int rates, steps;
  float interval, first_rate;  // years, per year
};

// One step: the rates that are not fixed yet move.
__device__ static inline __attribute__((always_inline)) void move(const Model& model, int step, float shock,
                                                                  const float* from, float* to) {
  const float spread = sqrtf(model.interval) * shock;
  float drift = 0.0f;
#pragma unroll 1
  for (int i = step + 1; i < model.rates; ++i) {
    const float volatility = volatilities[i - step - 1];
    const float scaled = model.interval * volatility;
    drift += __fdividef(scaled * from[i], 1.0f + model.interval * from[i]);
    to[i] = from[i] * __expf(scaled * drift + volatility * (spread - 0.5f * scaled));
  }
}

extern "C" __global__ void value(Model model, const float* shocks, float* values) {
  const int path = blockIdx.x * blockDim.x + threadIdx.x, paths = gridDim.x * blockDim.x;
  float rate[kMaxRates];
  float bond[kMaxRates], annuity[kMaxRates];
  for (int i = 0; i < model.rates; ++i) rate[i] = model.first_rate;
#pragma unroll 1
  for (int step = 0; step < model.steps; ++step) move(model, step, shocks[step * paths + path], rate, rate);

  float b = 1.0f, s = 0.0f;
  for (int i = model.steps; i < model.rates; ++i) {
    b = __fdividef(b, 1.0f + model.interval * rate[i]);
    s += model.interval * b;
    bond[i] = b;
    annuity[i] = s;
  }
  float total = 0.0f;
  for (int i = 0; i < kOptions; ++i) {
    const int last = maturities[i] + model.steps - 1;
    const float swap = bond[last] + strikes[i] * annuity[last] - 1.0f;
    if (swap < 0.0f) total -= 100.0f * swap;
  }
  for (int i = 0; i < model.steps; ++i) total = __fdividef(total, 1.0f + model.interval * rate[i]);
  values[path] = total;
}

extern "C" __global__ void value_and_slope(Model model, const float* shocks, float* values, float* slopes) {
  const int path = blockIdx.x * blockDim.x + threadIdx.x, paths = gridDim.x * blockDim.x;
  float history[(kMaxSteps + 1) * kMaxRates];  // the rates before each step, and after the last
  float bond[kMaxRates], annuity[kMaxRates], by_bond[kMaxRates], by_annuity[kMaxRates], by_rate[kMaxRates];
  for (int i = 0; i < model.rates; ++i) history[i] = model.first_rate;
#pragma unroll 1
  for (int step = 0; step < model.steps; ++step) {
    const float* from = history + step * kMaxRates;
    float* to = history + (step + 1) * kMaxRates;
    for (int i = 0; i <= step; ++i) to[i] = from[i];
    move(model, step, shocks[step * paths + path], from, to);
  }
  const float* rate = history + model.steps * kMaxRates;

  float b = 1.0f, s = 0.0f;
  for (int i = model.steps; i < model.rates; ++i) {
    b = __fdividef(b, 1.0f + model.interval * rate[i]);
    s += model.interval * b;
    bond[i] = b;
    annuity[i] = s;
    by_bond[i] = 0.0f;
    by_annuity[i] = 0.0f;
  }
  float total = 0.0f, discount = 1.0f;
  for (int i = 0; i < model.steps; ++i) discount = __fdividef(discount, 1.0f + model.interval * rate[i]);
  for (int i = 0; i < kOptions; ++i) {
    const int last = maturities[i] + model.steps - 1;
    const float swap = bond[last] + strikes[i] * annuity[last] - 1.0f;
    if (swap < 0.0f) {
      total -= 100.0f * swap;
      by_bond[last] -= 100.0f * discount;
      by_annuity[last] -= 100.0f * strikes[i] * discount;
    }
  }
  total *= discount;
  values[path] = total;

  // Back through the portfolio.
  for (int i = 0; i < model.steps; ++i) {
    by_rate[i] = -__fdividef(total * model.interval, 1.0f + model.interval * rate[i]);
  }
  float to_bond = 0.0f, to_annuity = 0.0f;
  for (int i = model.rates - 1; i >= model.steps; --i) {
    to_annuity += by_annuity[i];
    to_bond += by_bond[i] + model.interval * to_annuity;
    const float growth = 1.0f + model.interval * rate[i];
    by_rate[i] = -__fdividef(to_bond * bond[i] * model.interval, growth);
    to_bond = __fdividef(to_bond, growth);
  }
  // And through the steps.
#pragma unroll 1
  for (int step = model.steps - 1; step >= 0; --step) {
    const float* from = history + step * kMaxRates;
    const float* to = history + (step + 1) * kMaxRates;
    float to_drift = 0.0f;
#pragma unroll 1
    for (int i = model.rates - 1; i > step; --i) {
      const float scaled = model.interval * volatilities[i - step - 1];
      const float growth = 1.0f + model.interval * from[i];
      const float moved = by_rate[i] * to[i];
      to_drift += moved * scaled;
      by_rate[i] = __fdividef(moved, from[i]) + __fdividef(to_drift * scaled, growth * growth);
    }
  }
  slopes[path] = by_rate[model.rates - 1];
}
