// A DRAM standard as data: what a device says of itself, the same in every machine that has it.
//
// A file of configs/dram is one standard, and `dram.standard` names it. It gives every key of `describe`; a
// machine says the rest (channels, devices side by side, scheduler) and may give other values.
#ifndef WEFT_DRAM_STANDARD_H
#define WEFT_DRAM_STANDARD_H

#include <string>

#include "weft/common/config_visitor.h"
#include "weft/dram/dram_config.h"
#include "weft/memory/channel_map_config.h"

namespace weft::dram {

struct Standard {
  std::string name, about;
  memory::ChannelMapConfig map;  // its banks
  SchedulerConfig scheduler;     // its bank groups and timings

  void describe(config::Visitor& v) {
    v.text("name", name, "name of the standard");
    v.text("about", about, "device, speed and document");
    describe_values(v);
  }
  // The keys of the group `dram` that a standard gives.
  void describe_values(config::Visitor& v) {
    map.describe_banks(v);
    scheduler.describe_device(v);
  }
};

}  // namespace weft::dram

#endif
