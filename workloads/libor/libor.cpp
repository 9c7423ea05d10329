#include <algorithm>
#include <array>
#include <cmath>

#include "weft/common/error.h"
#include "workloads/host.h"
#include "workloads/libor/near.h"

namespace weft::workloads::libor {
namespace {

constexpr std::uint32_t kMaxRates = 80, kMaxSteps = 40, kOptions = 15, kBlock = 64;  // as in libor.cu

struct Model {  // as in libor.cu
  std::int32_t rates, steps;
  float interval, first_rate;
};

struct Market {
  std::array<float, kMaxRates> volatilities;
  std::array<std::int32_t, kOptions> maturities;
  std::array<float, kOptions> strikes;
};

// Options that end after a tenth to all of the rates that are left after the last step; strikes around the
// rate.
Market market_of(const Model& model) {
  Market market{};
  constexpr std::int32_t kTenths[] = {1, 2, 5, 7, 10};
  market.volatilities.fill(0.2f);
  for (std::uint32_t i = 0; i < kOptions; ++i) {
    market.maturities[i] = std::max(1, (model.rates - model.steps) * kTenths[i / 3] / 10);
    market.strikes[i] = 0.045f + 0.005f * static_cast<float>(i % 3);
  }
  return market;
}

Near exact(float value) {
  return {value, 0};
}

struct Valued {
  Near value, slope;
};

// One path in double precision, with bounds of the kernels' errors.
class Path {
 public:
  Path(const Model& model, const Market& market) : model_(model), market_(market) {
    history_.assign(model.steps + 1, std::vector<Near>(model.rates, exact(model.first_rate)));
  }

  template <class ShockOf>
  Valued run(ShockOf shock_of) {
    for (std::int32_t step = 0; step < model_.steps; ++step) move(step, shock_of(step));
    const std::vector<Near>& rate = history_.back();
    Near discount = exact(1);
    for (std::int32_t i = 0; i < model_.steps; ++i) discount = discount / growth(rate[i]);
    std::vector<Near> bond(model_.rates), by_bond(model_.rates), by_annuity(model_.rates);
    std::vector<Near> annuity(model_.rates);
    Near b = exact(1), s{};
    for (std::int32_t i = model_.steps; i < model_.rates; ++i) {
      bond[i] = b = b / growth(rate[i]);
      annuity[i] = s = s + interval() * b;
    }
    Near total{};
    const Near hundred = exact(100);
    for (std::uint32_t i = 0; i < kOptions; ++i) {
      const std::int32_t last = market_.maturities[i] + model_.steps - 1;
      const Near strike = exact(market_.strikes[i]), swap = bond[last] + strike * annuity[last] - exact(1);
      if (swap.value - swap.error >= 0) continue;
      const Near to_bond = hundred * discount, to_annuity = hundred * strike * discount;
      if (swap.value + swap.error < 0) {
        total = total - hundred * swap;
        by_bond[last] = by_bond[last] - to_bond;
        by_annuity[last] = by_annuity[last] - to_annuity;
      } else {  // it may be exercised or not
        total.error += 100 * (std::abs(swap.value) + swap.error);
        by_bond[last].error += to_bond.value + to_bond.error;
        by_annuity[last].error += to_annuity.value + to_annuity.error;
      }
    }
    total = total * discount;
    return {total, slope(total, bond, by_bond, by_annuity)};
  }

 private:
  Near interval() const { return exact(model_.interval); }
  Near growth(Near rate) const { return exact(1) + interval() * rate; }
  Near scaled(std::int32_t step, std::int32_t i) const {
    return interval() * exact(market_.volatilities[i - step - 1]);
  }

  void move(std::int32_t step, float shock) {
    const std::vector<Near>& from = history_[step];
    std::vector<Near>& to = history_[step + 1];
    const Near root = rounded(std::sqrt(double{model_.interval}), 0), spread = root * exact(shock);
    Near drift{};
    for (std::int32_t i = 0; i <= step; ++i) to[i] = from[i];
    for (std::int32_t i = step + 1; i < model_.rates; ++i) {
      const Near volatility = exact(market_.volatilities[i - step - 1]), scale = scaled(step, i);
      drift = drift + scale * from[i] / growth(from[i]);
      to[i] = from[i] * exponential(scale * drift + volatility * (spread - exact(0.5f) * scale));
    }
  }

  Near slope(Near total, const std::vector<Near>& bond, const std::vector<Near>& by_bond,
             const std::vector<Near>& by_annuity) const {
    const std::vector<Near>& rate = history_.back();
    std::vector<Near> by_rate(model_.rates);
    for (std::int32_t i = 0; i < model_.steps; ++i)
      by_rate[i] = Near{} - total * interval() / growth(rate[i]);
    Near to_bond{}, to_annuity{};
    for (std::int32_t i = model_.rates - 1; i >= model_.steps; --i) {
      to_annuity = to_annuity + by_annuity[i];
      to_bond = to_bond + (by_bond[i] + interval() * to_annuity);
      by_rate[i] = Near{} - to_bond * bond[i] * interval() / growth(rate[i]);
      to_bond = to_bond / growth(rate[i]);
    }
    for (std::int32_t step = model_.steps - 1; step >= 0; --step) {
      const std::vector<Near>&from = history_[step], &to = history_[step + 1];
      Near to_drift{};
      for (std::int32_t i = model_.rates - 1; i > step; --i) {
        const Near scale = scaled(step, i), moved = by_rate[i] * to[i], grown = growth(from[i]);
        to_drift = to_drift + moved * scale;
        by_rate[i] = moved / from[i] + to_drift * scale / (grown * grown);
      }
    }
    return by_rate.back();
  }

  const Model& model_;
  const Market& market_;
  std::vector<std::vector<Near>> history_;  // the rates before each step, and after the last
};

Result compare_near(const std::string& what, const std::vector<float>& got, const std::vector<Near>& want) {
  return compare(
      what, got.size(), [&](std::size_t i) { return std::abs(got[i] - want[i].value) <= want[i].error; },
      [&](std::size_t i) {
        return "got " + std::to_string(got[i]) + ", want " + std::to_string(want[i].value) + " within " +
               std::to_string(want[i].error);
      });
}

class Libor : public Workload {
 public:
  std::string name() const override { return "libor"; }
  std::string summary() const override {
    return "Monte Carlo of interest rates and its adjoint: local memory, exponentials, long loops";
  }
  std::vector<Option> options() const override {
    return {{"paths", kBlock, 1u << 16, kBlock, "of the rates"},
            {"rates", 2, kMaxRates, 1, "forward rates; more than steps"},
            {"steps", 1, kMaxSteps, 1, "of time"},
            {"seed", 0, UINT32_MAX, 1, "of the paths"}};
  }
  std::map<std::string, Size> sizes() const override {
    const auto size = [](std::uint64_t paths, std::uint64_t rates, std::uint64_t steps) {
      return Size{{"paths", paths}, {"rates", rates}, {"steps", steps}, {"seed", 12345}};
    };
    return {{"small", size(128, 20, 10)},
            {"default", size(4096, 40, 20)},
            {"large", size(16'384, 80, 40)},
            {"stsimt", size(4096, 80, 40)}};
  }
  Code code() const override { return built_code(name()); }

  Result run(runtime::Device& device, const Size& values, const Code& code) override {
    takes_no_kernel(code);
    const auto paths = static_cast<std::uint32_t>(values.at("paths"));
    const Model model{static_cast<std::int32_t>(values.at("rates")),
                      static_cast<std::int32_t>(values.at("steps")), 0.25f, 0.05f};
    if (model.rates <= model.steps) {
      throw InputError("libor", "rates: found " + std::to_string(model.rates) +
                                    "; allowed: more than steps, " + std::to_string(model.steps));
    }
    const Market market = market_of(model);
    Random random(device, static_cast<std::uint32_t>(values.at("seed")));
    // Like normal numbers: the sum of twelve uniform ones, less 6.
    std::vector<float> shocks(std::size_t{paths} * model.steps, -6.0f);
    for (float& shock : shocks) {
      for (int i = 0; i < 12; ++i) shock += static_cast<float>(random.next() % 65'536) / 65'536.0f;
    }
    auto& module = device.load_module(code.ptx, code.file);
    const auto set = [&](const char* variable, const auto& array) {
      device.copy_to(device.symbol(module, variable), array.data(), sizeof array);
    };
    set("volatilities", market.volatilities), set("maturities", market.maturities),
        set("strikes", market.strikes);
    const DeviceArray<float> device_shocks(device, shocks);
    const DeviceArray<float> first(device, paths), second(device, paths), slopes(device, paths);
    for (const auto* to : {&first, &second, &slopes}) device.fill(to->address(), 0, paths * sizeof(float));
    const auto arguments = [&](const DeviceArray<float>& to) {
      return runtime::Arguments().add(model).add(device_shocks.address()).add(to.address());
    };
    const dispatch::Dim3 grid{paths / kBlock, 1, 1}, block{kBlock, 1, 1};
    device.launch(module, "value_and_slope", grid, block, arguments(first).add(slopes.address()));
    device.launch(module, "value", grid, block, arguments(second));
    device.synchronise();

    std::vector<Near> want_values, want_slopes;
    Path path(model, market);
    for (std::uint32_t i = 0; i < paths; ++i) {
      const auto [value, slope] =
          path.run([&](std::int32_t step) { return shocks[std::size_t(step) * paths + i]; });
      want_values.push_back(value), want_slopes.push_back(slope);
    }
    Result result = compare_near("values", first.read(), want_values);
    if (result.verified) result = compare_near("slopes", slopes.read(), want_slopes);
    return result.verified ? compare_near("values without slopes", second.read(), want_values) : result;
  }
};

}  // namespace

std::unique_ptr<Workload> make() {
  return std::make_unique<Libor>();
}

}  // namespace weft::workloads::libor
