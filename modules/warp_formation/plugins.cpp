#include "weft/warp_formation/plugins.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/plugin_abi.h"
#include "common/sha256.h"
#include "common/shared_object.h"
#include "weft/common/error.h"
#include "weft/warp_formation/scheme.h"

namespace weft {
namespace {

// Never destroyed: results, which name plugins, are written while a program exits.
std::vector<Plugin>& loaded() {
  static auto* const list = new std::vector<Plugin>;
  return *list;
}

// Takes the parts of one plugin.
class Taker final : public PartTaker {
 public:
  explicit Taker(Plugin& plugin) : plugin_(plugin) {}
  void take(const std::string& kind, std::shared_ptr<const Part> part) override {
    const std::string name = part->name;
    if (kind == warp_formation::Scheme::kKind) {
      warp_formation::register_scheme(static_cast<const warp_formation::Scheme&>(*part));
      plugin_.schemes.push_back(name);
    } else {
      add_part(kind, std::move(part));
      plugin_.parts.push_back(kind + " " + name);
    }
  }

 private:
  Plugin& plugin_;
};

template <class Function>
Function* symbol(void* library, const char* name, const std::string& file) {
  void* const found = dlsym(library, name);
  if (found == nullptr)
    throw InputError(file, std::string("is not a plugin of Weft: it does not export ") + name + "()");
  return reinterpret_cast<Function*>(found);
}

}  // namespace

void load_plugin(const std::string& file) {
  std::error_code error;
  const std::string path = std::filesystem::canonical(file, error).string();
  if (error) throw InputError(file, "cannot be loaded: " + error.message());
  if (std::any_of(loaded().begin(), loaded().end(),
                  [&](const Plugin& plugin) { return plugin.file == path; }))
    return;
  Plugin plugin{path, sha256(read_shared_object(path)), {}, {}};
  try_shared_object(path);
  // It is never unloaded: what its schemes made may live as long as the program.
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) throw InputError(file, std::string("cannot be loaded: ") + dlerror());
  const std::string abi = symbol<decltype(weft_plugin_abi)>(library, "weft_plugin_abi", file)();
  if (abi != WEFT_PLUGIN_ABI) {
    throw InputError(file,
                     "was made for another Weft or by another compiler: build it again with "
                     "weft_add_plugin() and the headers of this one\n  the plugin:   " +
                         abi + "\n  this program: " + WEFT_PLUGIN_ABI);
  }
  auto* const give = symbol<decltype(weft_give_parts)>(library, "weft_give_parts", file);
  Taker taker(plugin);
  try {
    give(taker);
  } catch (const std::exception& failure) {
    throw InputError(file, failure.what());
  } catch (...) {
    throw InputError(file, "weft_give_parts() throws an object that is not a std::exception");
  }
  if (plugin.schemes.empty() && plugin.parts.empty()) {
    throw InputError(file,
                     "has no part: it uses neither WEFT_REGISTER_SCHEME(...) nor WEFT_REGISTER_PART(...)");
  }
  loaded().push_back(std::move(plugin));
}

void load_plugins_of_environment() {
  const char* const variable = std::getenv("WEFT_PLUGINS");
  if (variable == nullptr) return;
  const std::string files = variable;
  for (std::size_t begin = 0; begin < files.size();) {
    const std::size_t end = std::min(files.find(':', begin), files.size());
    const std::string file = files.substr(begin, end - begin);
    begin = end + 1;
    if (file.empty()) continue;
    try {
      load_plugin(file);
    } catch (const InputError& failure) {
      throw InputError("WEFT_PLUGINS", failure.what());
    }
  }
}

const std::vector<Plugin>& plugins() {
  return loaded();
}

nlohmann::ordered_json plugins_json() {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const Plugin& plugin : plugins()) {
    nlohmann::ordered_json one = {{"file", std::filesystem::path(plugin.file).filename().string()},
                                  {"sha256", plugin.sha256},
                                  {"schemes", plugin.schemes}};
    if (!plugin.parts.empty()) one["parts"] = plugin.parts;
    list.push_back(std::move(one));
  }
  return list;
}

}  // namespace weft
