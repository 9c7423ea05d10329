// A configuration with every kind of key, two levels deep, for the tests of reader, writer and schema.
#ifndef WEFT_COMMON_EXAMPLE_CONFIG_H
#define WEFT_COMMON_EXAMPLE_CONFIG_H

#include <cstdint>
#include <string>

#include "weft/common/config_visitor.h"

namespace weft::test {

enum class Replacement : std::uint8_t { kLru, kFifo, kRandom };

struct ExampleCache {
  std::uint64_t sets = 64;
  std::uint64_t ways = 4;
  Replacement replacement = Replacement::kLru;
  bool enabled = true;

  void describe(config::Visitor& v) {
    v.boolean("enabled", enabled, "whether there is such a cache");
    v.integer("sets", sets, {1, 65536}, "sets", "number of sets; a power of two");
    v.integer("ways", ways, {1, 1024}, "ways", "associativity");
    config::choice(
        v, "replacement", replacement,
        {{"lru", Replacement::kLru}, {"fifo", Replacement::kFifo}, {"random", Replacement::kRandom}},
        "victim choice");
  }
};

struct ExampleConfig {
  std::string name = "example";
  double core_mhz = 1300;
  double unbounded = 0;
  std::uint64_t seed = 1;
  ExampleCache data;
  ExampleCache instruction;

  void describe(config::Visitor& v) {
    v.text("name", name, "name of the machine");
    v.real("core_mhz", core_mhz, {1, 10000}, "MHz", "core clock");
    v.real("unbounded", unbounded, {}, "", "any number");
    v.integer("seed", seed, {}, "", "any integer");
    v.begin("sm", "streaming multiprocessor");
    config::group(v, "l1d", data, "data cache");
    v.end();
    // Another part describes the same object: keys of both are known.
    v.begin("sm", "streaming multiprocessor");
    config::group(v, "l1i", instruction, "instruction cache");
    v.end();
  }
};

}  // namespace weft::test

#endif
