// The parts that are known: those that the linker put together (WEFT_REGISTER_PART), then those that a
// program or a plugin adds.
#include "weft/common/parts.h"

#include <algorithm>
#include <map>

#include "common/part_table.h"
#include "weft/common/error.h"

namespace weft {
namespace {

class Known final : public PartTaker {
 public:
  Known() { give_linked_parts(*this); }

  void take(const std::string& kind, std::shared_ptr<const Part> part) override {
    constexpr const char* kAllowed = "abcdefghijklmnopqrstuvwxyz0123456789_";
    if (part->name.empty() || part->name.find_first_not_of(kAllowed) != std::string::npos) {
      throw InputError(kind + " \"" + part->name + "\"",
                       "is not a name of a " + kind + "; allowed: letters a to z, digits and _");
    }
    auto& parts = parts_[kind];
    const auto same = [&](const auto& other) { return other->name == part->name; };
    if (std::any_of(parts.begin(), parts.end(), same))
      throw InputError(kind + " " + part->name, "duplicate name");
    parts.push_back(std::move(part));
  }
  const std::vector<std::shared_ptr<const Part>>& of(const std::string& kind) { return parts_[kind]; }

 private:
  std::map<std::string, std::vector<std::shared_ptr<const Part>>> parts_;
};

// Made at the first use; it grows when parts are added, and is constant otherwise. Never destroyed: results
// are written while a program exits.
Known& known() {
  static auto* const parts = new Known;
  return *parts;
}

}  // namespace

std::vector<std::shared_ptr<const Part>> parts_of(const std::string& kind) {
  return known().of(kind);
}

void add_part(const std::string& kind, std::shared_ptr<const Part> part) {
  known().take(kind, std::move(part));
}

}  // namespace weft
