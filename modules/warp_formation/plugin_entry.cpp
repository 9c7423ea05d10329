// The two functions of a plugin. Compiled into each by weft_add_plugin().
#include <utility>

#include "plugin_abi.h"
#include "scheme_table.h"

const char* weft_plugin_abi() {
  return WEFT_PLUGIN_ABI;
}

void weft_register_schemes(weft::warp_formation::Registrar& registrar) {
  weft::warp_formation::each_linked_scheme(
      [&](weft::warp_formation::Scheme scheme) { registrar.add(std::move(scheme)); });
}
