#include "platform/config_base.h"

#include <algorithm>
#include <filesystem>

#include "platform/config_files.h"
#include "platform/dram_standard.h"
#include "platform/renamed_keys.h"
#include "weft/common/error.h"

namespace weft {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

constexpr const char* kBaseKey = "base";

// The path of the base that `file` names as `base`; a path there begins at the folder of `file`.
std::string path_of_base(const json& base, const std::string& file) {
  const std::string place = file + ": /base";
  if (!base.is_string()) {
    throw InputError(place, "is " + config::found(base) +
                                "; allowed: the name of a configuration, or a path from this file");
  }
  const std::string path = config_path(base.get<std::string>(), "", place);
  const bool by_name = path != base.get<std::string>();
  return by_name ? path : (fs::path(file).parent_path() / path).string();
}

class Layers {
 public:
  LayeredConfig of(json document, const std::string& file) {
    enter(file);
    rename_old_keys(document, file);
    if (!document.is_object() || !document.contains(kBaseKey)) {
      apply_dram_standard(document, file);
      return {std::move(document), file, {}};
    }
    const std::string base = path_of_base(document.at(kBaseKey), file);
    document.erase(kBaseKey);
    LayeredConfig result = of_base(base, file);
    result.layers.push_back(config::apply_layer(result.document, document, file));
    apply_dram_standard(result.document, result.layers.back());
    return result;
  }

 private:
  LayeredConfig of_base(const std::string& base, const std::string& file) {
    if (std::find(files_.begin(), files_.end(), key_of(base)) != files_.end()) {
      throw InputError(file + ": /base", "leads back to " + base +
                                             "; allowed: a configuration that does not build on this one");
    }
    LayeredConfig result = of(config::read_file(base), base);
    if (!result.document.is_object())
      throw InputError(base, "is " + config::found(result.document) + "; allowed: an object");
    result.document.erase("name");  // a changed machine is another one
    return result;
  }

  void enter(const std::string& file) { files_.push_back(key_of(file)); }

  static std::string key_of(const std::string& file) {
    std::error_code ignored;
    return fs::weakly_canonical(file, ignored).string();
  }

  std::vector<std::string> files_;  // on the way from the first one, to see a circle
};

}  // namespace

LayeredConfig read_layers(const std::string& path) {
  return layers_of(config::read_file(path), path);
}

LayeredConfig layers_of(const json& document, const std::string& where) {
  return Layers().of(document, where);
}

void refuse_base(const json& document, const config::Override& setting) {
  if (!document.is_object() || !document.contains(kBaseKey)) return;
  throw InputError(setting.origin(), "sets base, which is a key of files; allowed: --config " +
                                         config::found(document.at(kBaseKey)) + " with other values set");
}

}  // namespace weft
