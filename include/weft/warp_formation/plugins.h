// Schemes and other parts (weft/common/parts.h) from shared objects, beside those that are linked.
//
//   weft::load_plugin("./mine.so");                        // before the configuration that names its scheme
//   weft::load_config("gtx480", {"warp_formation.scheme=mine"});
//
// A plugin is made of one or more parts' files by weft_add_plugin() (CMake), against the headers of the Weft
// that loads it: there is no binary compatibility between versions, and a plugin of another one is
// refused. It stays loaded until the program ends. Not for several threads at a time.
#ifndef WEFT_WARP_FORMATION_PLUGINS_H
#define WEFT_WARP_FORMATION_PLUGINS_H

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace weft {

struct Plugin {
  std::string file;    // whole path
  std::string sha256;  // of its content
  std::vector<std::string> schemes;
  std::vector<std::string> parts;  // others: "replacement mru"
};

// Registers the plugin's parts. Does nothing for a file that is loaded already. Throws InputError if it is
// no plugin, was made for another Weft, has a part whose name is taken, or fails itself.
void load_plugin(const std::string& file);
// Those that the environment variable WEFT_PLUGINS names, with colons between them. load_config() does it
// too.
void load_plugins_of_environment();
// In the order in which they were loaded.
const std::vector<Plugin>& plugins();
// The same for results: file (without its folder), sha256, schemes, and parts if there are others.
nlohmann::ordered_json plugins_json();

}  // namespace weft

#endif
