// Interchangeable parts that a configuration names: how a cache replaces its lines, in which order a
// scheduler tries its warps. A part is one file:
//
//   class Fifo final : public Replacement { ... };                              // made of (const Setting&)
//   WEFT_REGISTER_PART(part<Fifo>("fifo", "the line that came first"))
//
// or, with keys of its own, which then stand beside the key that names the part:
//
//   struct SrripOptions final : PartOptionsOf<SrripOptions> { void describe(config::Visitor& v) override; };
//   class Srrip final : public Replacement { ... };          // of (const SrripOptions&, const Setting&)
//   WEFT_REGISTER_PART(part<Srrip, SrripOptions>("srrip", "the line that is expected to be used last"))
//
// A kind of part is an abstract class with `Kind` (itself), `kKind` (its name) and `Setting` (what a part is
// made for). The file is a line of the room's CMakeLists.txt, or part of a program or plugin. Nothing runs
// before main() for it: the macro puts a pointer to a function into a section of the object file, and the
// linker makes a table of these.
#ifndef WEFT_COMMON_PARTS_H
#define WEFT_COMMON_PARTS_H

#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "weft/common/config_visitor.h"
#include "weft/common/error.h"

namespace weft {

// The keys of one part. What derives from it is what PartOptionsOf makes of a struct.
class PartOptions {
 public:
  virtual ~PartOptions() = default;
  virtual std::unique_ptr<PartOptions> clone() const = 0;
  virtual void describe(config::Visitor& v) = 0;

 protected:
  PartOptions() = default;
  PartOptions(const PartOptions&) = default;
  PartOptions& operator=(const PartOptions&) = default;
};

template <class Own>
class PartOptionsOf : public PartOptions {
 public:
  std::unique_ptr<PartOptions> clone() const final {
    return std::make_unique<Own>(static_cast<const Own&>(*this));
  }
};

// What a part says of itself, whatever its kind.
struct Part {
  std::string name;     // as the configuration has it: lower case
  std::string meaning;  // in a few words
  Part() = default;
  Part(const Part&) = default;
  Part(Part&&) = default;
  Part& operator=(const Part&) = default;
  Part& operator=(Part&&) = default;
  virtual ~Part() = default;
};

// A part that is made for a Kind::Setting.
template <class Kind>
struct PartOf : Part {
  using Setting = typename Kind::Setting;
  std::shared_ptr<const PartOptions> defaults;  // null: it has no keys
  std::function<std::unique_ptr<Kind>(const PartOptions*, const Setting&)> make;
  // What settings are allowed, in words, if this one is not; else empty.
  std::function<std::string(const Setting&)> refuses;

  PartOf&& with_rule(std::function<std::string(const Setting&)> rule) && {
    return refuses = std::move(rule), std::move(*this);
  }
};

// A class that is made of (const Setting&).
template <class Class>
PartOf<typename Class::Kind> part(std::string name, std::string meaning) {
  using Kind = typename Class::Kind;
  PartOf<Kind> made;
  made.name = std::move(name);
  made.meaning = std::move(meaning);
  made.make = [](const PartOptions*, const typename Kind::Setting& setting) {
    return std::unique_ptr<Kind>(std::make_unique<Class>(setting));
  };
  return made;
}
// ... of (const Own&, const Setting&).
template <class Class, class Own>
PartOf<typename Class::Kind> part(std::string name, std::string meaning) {
  using Kind = typename Class::Kind;
  PartOf<Kind> made;
  made.name = std::move(name);
  made.meaning = std::move(meaning);
  made.defaults = std::make_shared<const Own>();
  made.make = [](const PartOptions* own, const typename Kind::Setting& setting) {
    return std::unique_ptr<Kind>(std::make_unique<Class>(static_cast<const Own&>(*own), setting));
  };
  return made;
}

// Takes parts from whoever brings them.
class PartTaker {
 public:
  virtual ~PartTaker() = default;
  // Throws InputError if the kind has a part of this name, or if it is no name.
  virtual void take(const std::string& kind, std::shared_ptr<const Part> part) = 0;
};

// What WEFT_REGISTER_PART leaves in an object file.
using PartSource = void (*)(PartTaker&);

// The parts of a kind: those that are linked, in the order in which the linker found them, then those that a
// program or a plugin added. They stay where they are.
std::vector<std::shared_ptr<const Part>> parts_of(const std::string& kind);
// Throws as PartTaker::take.
void add_part(const std::string& kind, std::shared_ptr<const Part> part);

template <class Kind>
void give_part(PartTaker& taker, PartOf<Kind> part) {
  taker.take(Kind::kKind, std::make_shared<const PartOf<Kind>>(std::move(part)));
}
// For a program's own part without the macro.
template <class Kind>
void add_part(PartOf<Kind> part) {
  add_part(Kind::kKind, std::make_shared<const PartOf<Kind>>(std::move(part)));
}

// Which part of a kind a configuration wants, and the keys of all parts that were known when it was made;
// copies are deep.
template <class Kind>
class PartChoice {
 public:
  using Setting = typename Kind::Setting;

  explicit PartChoice(std::string chosen) : name(std::move(chosen)) {
    for (const auto& part : parts_of(Kind::kKind)) add(std::static_pointer_cast<const PartOf<Kind>>(part));
  }
  PartChoice(const PartChoice& other) : name(other.name) {
    for (const auto& entry : other.entries_) entries_.push_back({entry.part, copy_of(entry.options.get())});
  }
  PartChoice(PartChoice&& other) noexcept = default;
  PartChoice& operator=(const PartChoice& other) { return *this = PartChoice(other); }
  PartChoice& operator=(PartChoice&& other) noexcept = default;
  ~PartChoice() = default;

  std::string name;

  // The key `key` and those of the parts. `meaning`: of what it decides; the words of the parts follow.
  void describe(config::Visitor& v, const char* key, const std::string& meaning) {
    std::string words = meaning;
    const char* separator = ": ";
    for (const auto& entry : entries_)
      words += std::exchange(separator, "; ") + (entry.part->name + ": ") + entry.part->meaning;
    v.word(key, name, names(), words.c_str());
    for (auto& entry : entries_) {
      if (entry.options != nullptr) entry.options->describe(v);
    }
  }

  // Those that can be chosen.
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const auto& entry : entries_) names.push_back(entry.part->name);
    return names;
  }
  // The keys of this type.
  template <class Own>
  Own& own() {
    for (auto& entry : entries_) {
      if (auto* const found = dynamic_cast<Own*>(entry.options.get())) return *found;
    }
    throw std::logic_error(std::string("no ") + Kind::kKind + " is registered with these keys");
  }
  template <class Own>
  const Own& own() const {
    return const_cast<PartChoice&>(*this).template own<Own>();
  }

  // Which settings the chosen part allows, in words, if not this one; else empty.
  std::string refuses(const Setting& setting) const {
    const auto& part = *chosen().part;
    return part.refuses == nullptr ? "" : part.refuses(setting);
  }
  // Throws InputError if there is no part of this name.
  std::unique_ptr<Kind> make(const Setting& setting) const {
    const Entry& entry = chosen();
    return entry.part->make(entry.options.get(), setting);
  }

 private:
  struct Entry {
    std::shared_ptr<const PartOf<Kind>> part;
    std::unique_ptr<PartOptions> options;  // null: it has none
  };

  static std::unique_ptr<PartOptions> copy_of(const PartOptions* options) {
    return options == nullptr ? nullptr : options->clone();
  }
  void add(std::shared_ptr<const PartOf<Kind>> part) {
    auto options = copy_of(part->defaults.get());
    entries_.push_back({std::move(part), std::move(options)});
  }
  const Entry& chosen() const {
    std::string known;
    for (const auto& entry : entries_) {
      if (entry.part->name == name) return entry;
      known += (known.empty() ? "" : ", ") + entry.part->name;
    }
    throw InputError("", std::string("unknown ") + Kind::kKind + " \"" + name + "\"; known: " + known);
  }

  std::vector<Entry> entries_;
};

// Parts of one object file stay in the order of the source.
#if __has_attribute(no_reorder)
#define WEFT_PART_ENTRY_ __attribute__((used, section("weft_parts"), no_reorder))
#else
#define WEFT_PART_ENTRY_ __attribute__((used, section("weft_parts")))
#endif
#define WEFT_CONCATENATE_(a, b) a##b
#define WEFT_REGISTER_WITH_NUMBER_(number, give, ...)                                                  \
  namespace {                                                                                          \
  void WEFT_CONCATENATE_(give_part_, number)(::weft::PartTaker & taker) {                              \
    give(taker, __VA_ARGS__);                                                                          \
  }                                                                                                    \
  WEFT_PART_ENTRY_ const ::weft::PartSource WEFT_CONCATENATE_(part_source_,                            \
                                                              number) = &WEFT_CONCATENATE_(give_part_, \
                                                                                           number);    \
  }
#define WEFT_REGISTER_EXPAND_(number, give, ...) WEFT_REGISTER_WITH_NUMBER_(number, give, __VA_ARGS__)
// __COUNTER__, and no name of the part's: several files may be compiled as one.
#define WEFT_REGISTER_WITH_(give, ...) WEFT_REGISTER_EXPAND_(__COUNTER__, give, __VA_ARGS__)
#define WEFT_REGISTER_PART(...) WEFT_REGISTER_WITH_(::weft::give_part, __VA_ARGS__)

}  // namespace weft

#endif
