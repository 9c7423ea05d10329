// `dram.standard` in the text of a configuration: replaced by the values of the standard that it names.
#ifndef WEFT_PLATFORM_DRAM_STANDARD_H
#define WEFT_PLATFORM_DRAM_STANDARD_H

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "common/config_document.h"

namespace weft {

// In a file, values beside `standard` go before the standard's. `where` is the file, for messages. Throws
// InputError for an unknown standard, and for one that lacks a key or has another one.
void apply_dram_standard(nlohmann::json& document, const std::string& where);

// After a setting was applied: if the setting named a standard, the standard's values replace those of the
// file and of earlier settings.
void apply_dram_standard(nlohmann::json& document, config::Override& setting);

}  // namespace weft

#endif
