// `base`: a configuration file that takes its values from another one and changes some of them.
#ifndef WEFT_PLATFORM_CONFIG_BASE_H
#define WEFT_PLATFORM_CONFIG_BASE_H

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/config_document.h"

namespace weft {

// A configuration with the values of its bases, without keys that stand for others (`base`, `dram.standard`,
// old names).
struct LayeredConfig {
  nlohmann::json document;
  std::string file;                      // the first base, or the file itself: what no layer set is from here
  std::vector<config::Override> layers;  // the files on top of it
};

// Reads the file and its bases. InputError for a base that is no name or path, is not there, or leads back.
LayeredConfig read_layers(const std::string& path);
// The same for a document that is there already. `where` is where it is from.
LayeredConfig layers_of(const nlohmann::json& document, const std::string& where);

// InputError if `setting`, which was applied to `document`, set `base`.
void refuse_base(const nlohmann::json& document, const config::Override& setting);

}  // namespace weft

#endif
