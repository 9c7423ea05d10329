#include "runtime/cuda/core/settings.h"

#include <unistd.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "common/number.h"
#include "weft/common/error.h"

namespace weft::cuda {

using nlohmann::json;

namespace {

constexpr const char *kSimulatorName = "simulator", *kDriverName = "driver";

const char* name_of(Settings::Kind kind) {
  return kind == Settings::Kind::kDriver ? kDriverName : kSimulatorName;
}

Settings::Kind kind_of(const std::string& name) {
  if (name == kDriverName) return Settings::Kind::kDriver;
  if (name == kSimulatorName) return Settings::Kind::kSimulator;
  throw InputError(std::string(kSettingsVariable) + ": backend",
                   "found '" + name + "'; allowed: " + kSimulatorName + ", " + kDriverName);
}

}  // namespace

std::string to_text(const Settings& settings) {
  json object{{"backend", name_of(settings.backend)},
              {"device", settings.device},
              {"config", settings.config},
              {"set", settings.overrides},
              {"out", settings.out},
              {"summary", settings.summary},
              {"functional", settings.functional},
              {"instant_copies", settings.instant_copies},
              {"first_launch", settings.first_launch},
              {"last_launch", settings.last_launch},
              {"profiler_region", settings.profiler_region},
              {"max_cycles", settings.max_cycles},
              {"max_instructions", settings.max_instructions},
              {"sample", settings.sample},
              {"characteristics", settings.characteristics},
              {"check", settings.checks},
              {"check_reports", settings.check_reports},
              {"host_wait_ms", settings.host_wait_ms},
              {"gdb", settings.gdb},
              {"gdb_symbols", settings.gdb_symbols},
              {"process", settings.process}};
  if (settings.capability != 0) object["capability"] = settings.capability;
  return object.dump(-1, ' ', true, json::error_handler_t::replace);
}

namespace {

// A conversion alone would take -1 for 2^64 - 1, and 7.9 for 7.
std::uint64_t number(const std::string& key, const json& value, const Bounds& bounds) {
  return read_unsigned(std::string(kSettingsVariable) + ": " + key, value.dump(), bounds);
}

}  // namespace

Settings parse_settings(const std::string& text) {
  Settings settings;
  bool names_config = false;
  try {
    const json object = json::parse(text);
    for (const auto& [key, value] : object.items()) {
      if (key == "backend") {
        settings.backend = kind_of(value.get<std::string>());
      } else if (key == "device") {
        settings.device = value.get<std::string>();
      } else if (key == "config") {
        settings.config = value.get<std::string>();
        names_config = true;
      } else if (key == "set") {
        settings.overrides = value.get<std::vector<std::string>>();
      } else if (key == "out") {
        settings.out = value.get<std::string>();
      } else if (key == "summary") {
        settings.summary = value.get<bool>();
      } else if (key == "functional") {
        settings.functional = value.get<bool>();
      } else if (key == "instant_copies") {
        settings.instant_copies = value.get<bool>();
      } else if (key == "first_launch") {
        settings.first_launch = number(key, value, {1});
      } else if (key == "last_launch") {
        settings.last_launch = number(key, value, {});
      } else if (key == "profiler_region") {
        settings.profiler_region = value.get<bool>();
      } else if (key == "max_cycles") {
        settings.max_cycles = number(key, value, {});
      } else if (key == "max_instructions") {
        settings.max_instructions = number(key, value, {});
      } else if (key == "sample") {
        settings.sample = number(key, value, {});
      } else if (key == "characteristics") {
        settings.characteristics = value.get<bool>();
      } else if (key == "capability") {
        settings.capability = static_cast<unsigned>(number(key, value, {10, 999}));
      } else if (key == "check") {
        settings.checks = value.get<std::vector<std::string>>();
      } else if (key == "check_reports") {
        settings.check_reports = number(key, value, {1});
      } else if (key == "host_wait_ms") {
        settings.host_wait_ms = number(key, value, {0, kMostHostWait});
      } else if (key == "gdb") {
        settings.gdb = value.get<std::int64_t>();
        if (settings.gdb != -1) number(key, value, {0, 65535});
      } else if (key == "gdb_symbols") {
        settings.gdb_symbols = value.get<std::string>();
      } else if (key == "process") {
        settings.process = value.get<std::int64_t>();
      } else {
        throw InputError(
            kSettingsVariable,
            "unknown key '" + key +
                "'; known: config, set, out, summary, functional, instant_copies, "
                "first_launch, "
                "last_launch, profiler_region, max_cycles, max_instructions, sample, "
                "characteristics, capability, check, check_reports, host_wait_ms, gdb, gdb_symbols, "
                "process, backend, device");
      }
    }
  } catch (const json::exception& error) {
    throw InputError(kSettingsVariable, std::string("is not a JSON object of settings: ") + error.what());
  }
  if (settings.backend == Settings::Kind::kDriver && !names_config) settings.config = kDeviceConfig;
  return settings;
}

Settings settings_of_environment() {
  const char* text = std::getenv(kSettingsVariable);
  if (text != nullptr && *text != '\0') return parse_settings(text);
  Settings settings;
  if (access(kDevicePath, F_OK) == 0) {
    settings.backend = Settings::Kind::kDriver;
    settings.config = kDeviceConfig;
  }
  return settings;
}

}  // namespace weft::cuda
