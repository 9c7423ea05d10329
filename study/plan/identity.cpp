#include "study/plan/identity.h"

#include <nlohmann/json.hpp>

#include "common/digest.h"

namespace weft::study {

std::string xxh3_128(const std::string& text) {
  Digest digest;
  digest.add(text.data(), text.size());
  return digest.text();
}

void remove_build(nlohmann::ordered_json& record) {
  for (const char* key : {"weft", "build", "config_fnv1a"}) record.erase(key);
}

}  // namespace weft::study
