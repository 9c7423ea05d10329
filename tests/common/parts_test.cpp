// Parts by name: registered in this file, chosen and configured as a module would.
#include "weft/common/parts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/config_reader.h"
#include "common/config_writer.h"

namespace weft {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Property;
using ::testing::Throws;

class Greeting {
 public:
  using Kind = Greeting;
  static constexpr const char* kKind = "greeting";
  struct Setting {
    unsigned times = 1;
  };
  virtual ~Greeting() = default;
  virtual std::string text() const = 0;
};

class Hello final : public Greeting {
 public:
  explicit Hello(const Setting& setting) : times_(setting.times) {}
  std::string text() const override { return std::to_string(times_) + " times hello"; }
  static std::string refuses(const Setting& setting) {
    return setting.times < 10 ? "" : "fewer than 10 times";
  }

 private:
  unsigned times_;
};

struct ByeOptions final : PartOptionsOf<ByeOptions> {
  std::uint64_t days = 3;
  void describe(config::Visitor& v) override { v.integer("bye_days", days, {1, 9}, "days", "until we meet"); }
};
class Bye final : public Greeting {
 public:
  Bye(const ByeOptions& options, const Setting&) : days_(options.days) {}
  std::string text() const override { return "bye for " + std::to_string(days_) + " days"; }

 private:
  std::uint64_t days_;
};

WEFT_REGISTER_PART(part<Hello>("hello", "on coming").with_rule(Hello::refuses))
WEFT_REGISTER_PART(part<Bye, ByeOptions>("bye", "on leaving"))

struct Config {
  PartChoice<Greeting> greeting{"hello"};
  void describe(config::Visitor& v) { greeting.describe(v, "greeting", "what is said"); }
};

TEST(Parts, AreChosenByNameWithTheirKeys) {
  Config config;
  EXPECT_EQ(config.greeting.make({2})->text(), "2 times hello");
  config::load(config, nlohmann::json::parse(R"({"greeting": "bye", "bye_days": 5})"), "f.json");
  EXPECT_EQ(config.greeting.make({})->text(), "bye for 5 days");
  EXPECT_EQ(config::write(config).dump(), R"({"greeting":"bye","bye_days":5})");
  EXPECT_THAT([&] { config::load(config, nlohmann::json::parse(R"({"greeting": "by"})"), "f.json"); },
              Throws<InputError>(Property(&InputError::what, AllOf(HasSubstr("f.json: /greeting"),
                                                                   HasSubstr("allowed: hello, bye")))));
}

TEST(Parts, CopiesHaveTheirOwnKeys) {
  Config config;
  config.greeting.own<ByeOptions>().days = 7;
  Config copy = config;
  copy.greeting.own<ByeOptions>().days = 1;
  EXPECT_EQ(config.greeting.own<ByeOptions>().days, 7u);
  config = copy;
  EXPECT_EQ(config.greeting.own<ByeOptions>().days, 1u);
}

TEST(Parts, SayWhichSettingsTheyAllow) {
  const Config config;
  EXPECT_EQ(config.greeting.refuses({9}), "");
  EXPECT_EQ(config.greeting.refuses({10}), "fewer than 10 times");
}

// One that is added later is known to choices that are made later.
TEST(Parts, ComeLaterToo) {
  Config before;
  add_part(part<Hello>("late", "after all"));
  EXPECT_THAT(before.greeting.names(), ElementsAre("hello", "bye"));
  before.greeting.name = "late";
  EXPECT_THAT([&] { before.greeting.make({}); },
              Throws<InputError>(
                  Property(&InputError::what, HasSubstr("unknown greeting \"late\"; known: hello, bye"))));
  Config after;
  after.greeting.name = "late";
  EXPECT_EQ(after.greeting.make({})->text(), "1 times hello");
}

TEST(Parts, HaveNamesOfTheirOwn) {
  const auto refuses = [](const char* name, const char* text) {
    EXPECT_THAT([&] { add_part(part<Hello>(name, "")); },
                Throws<InputError>(Property(&InputError::what, HasSubstr(text))));
  };
  refuses("hello", "greeting hello: duplicate name");
  refuses("Hello", "allowed: letters a to z, digits and _");
  refuses("", "is not a name of a greeting");
}

}  // namespace
}  // namespace weft
