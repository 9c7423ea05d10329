// The two functions of a plugin. Compiled into each by weft_add_plugin().
#include "part_table.h"
#include "plugin_abi.h"

const char* weft_plugin_abi() {
  return WEFT_PLUGIN_ABI;
}

void weft_give_parts(weft::PartTaker& taker) {
  weft::give_linked_parts(taker);
}
