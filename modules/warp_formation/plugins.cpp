#include "weft/warp_formation/plugins.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/sha256.h"
#include "common/shared_object.h"
#include "warp_formation/plugin_abi.h"
#include "weft/common/error.h"

namespace weft {
namespace {

// Never destroyed: results, which name plugins, are written while a program exits.
std::vector<Plugin>& loaded() {
  static auto* const list = new std::vector<Plugin>;
  return *list;
}

// Takes the schemes of one plugin.
class Taker final : public warp_formation::Registrar {
 public:
  void add(warp_formation::Scheme scheme) override {
    std::string name = scheme.name;
    warp_formation::register_scheme(std::move(scheme));
    names_.push_back(std::move(name));
  }
  const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
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
  Plugin plugin{path, sha256(read_shared_object(path)), {}};
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
  auto* const give = symbol<decltype(weft_register_schemes)>(library, "weft_register_schemes", file);
  Taker taker;
  try {
    give(taker);
  } catch (const std::exception& failure) {
    throw InputError(file, failure.what());
  } catch (...) {
    throw InputError(file, "weft_register_schemes() throws an object that is not a std::exception");
  }
  if (taker.names().empty())
    throw InputError(file, "has no scheme: it does not use WEFT_REGISTER_SCHEME(...)");
  plugin.schemes = taker.names();
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
    list.push_back({{"file", std::filesystem::path(plugin.file).filename().string()},
                    {"sha256", plugin.sha256},
                    {"schemes", plugin.schemes}});
  }
  return list;
}

}  // namespace weft
