// The property of every module: reset, from any cycle of any traffic, equals fresh construction.
//
//   Bench fresh("fresh"), used("used");
//   expect_reset_like_new(fresh, used);
//
// A bench is a module and its partners, in a clock domain of 1000 MHz. It has
//   void play(std::uint32_t seed);   random traffic from now on
//   void reset();                    module, partners and statistics
//   std::string record() const;      what has happened since `play`, with its times; and the statistics
// SystemC elaborates once, so one bench serves all cases: it plays something for a while, is reset, and must
// then play a given traffic as the fresh one did.
#ifndef WEFT_TESTS_RESET_RESET_PROPERTY_H
#define WEFT_TESTS_RESET_RESET_PROPERTY_H

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <systemc>

namespace weft::test {

inline void run_cycles(std::uint64_t cycles) {
  sc_core::sc_start(sc_core::sc_time(static_cast<double>(cycles), sc_core::SC_NS));
}

template <class Bench>
void expect_reset_like_new(Bench& fresh, Bench& used, std::uint64_t measured = 1000) {
  constexpr std::uint32_t kSeed = 1;
  sc_core::sc_start(sc_core::sc_time(500, sc_core::SC_PS));  // between two edges from now on
  fresh.play(kSeed);
  run_cycles(measured);
  const std::string expected = fresh.record();
  ASSERT_GT(std::count(expected.begin(), expected.end(), '\n'), 50) << expected;
  const bool held = rc::check("reset equals construction", [&](std::uint32_t seed) {
    used.play(seed);
    run_cycles(*rc::gen::inRange<std::uint64_t>(1, measured));
    used.reset();
    used.play(kSeed);
    run_cycles(measured);
    const std::string found = used.record();
    used.reset();
    if (found != expected) RC_FAIL("found\n" + found + "\nexpected\n" + expected);
  });
  EXPECT_TRUE(held);
  fresh.reset();
}

}  // namespace weft::test

#endif
