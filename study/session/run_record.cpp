#include "study/session/run_record.h"

#include <elf.h>
#include <link.h>
#include <sys/stat.h>

#include <array>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "platform/energy_machine.h"
#include "weft/warp_formation/plugins.h"

namespace weft::study {

using nlohmann::ordered_json;

namespace {

std::size_t aligned(std::size_t bytes) {
  return (bytes + 3) / 4 * 4;
}

// In a segment of notes; empty: it is not there.
std::string build_id(const char* notes, std::size_t bytes) {
  static constexpr std::size_t kHeader = sizeof(ElfW(Nhdr));
  while (bytes >= kHeader) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes, kHeader);
    const std::size_t name = kHeader, value = name + aligned(note.n_namesz),
                      end = value + aligned(note.n_descsz);
    if (end > bytes) return "";
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(notes + name, "GNU", 4) == 0) {
      std::string text;
      for (std::size_t i = 0; i < note.n_descsz; ++i) {
        std::array<char, 3> digits{};
        std::snprintf(digits.data(), digits.size(), "%02x", static_cast<unsigned char>(notes[value + i]));
        text += digits.data();
      }
      return text;
    }
    notes += end;
    bytes -= end;
  }
  return "";
}

// What a technology says about energy, without what it says about its sources.
std::string figures_of(const energy::Technology& technology) {
  ordered_json list;
  for (const auto& [name, figure] : technology.figures())
    list[name] = {figure.value, figure.low, figure.high};
  return list.dump();
}

// The first object is the program.
int look_at_program(dl_phdr_info* object, std::size_t, void* result) {
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object->dlpi_phdr[i];
    if (part.p_type != PT_NOTE) continue;
    const auto address = static_cast<std::uintptr_t>(object->dlpi_addr + part.p_vaddr);
    const auto* notes = reinterpret_cast<const char*>(address);  // NOLINT(performance-no-int-to-ptr)
    const std::string id = build_id(notes, part.p_memsz);
    if (!id.empty()) *static_cast<std::string*>(result) = id;
  }
  return 1;
}

}  // namespace

std::string build_identity() {
  std::string id;
  dl_iterate_phdr(look_at_program, &id);
  struct stat program = {};
  if (id.empty() && stat("/proc/self/exe", &program) == 0) {
    id = std::to_string(program.st_size) + " bytes of " + std::to_string(program.st_mtim.tv_sec) + "." +
         std::to_string(program.st_mtim.tv_nsec);
  }
  return id;
}

ordered_json run_record(const Outcome& outcome, const GpuConfig& config, const SessionOptions& options,
                        bool finished) {
  ordered_json record;
  record["finished"] = finished;
  record["weft"] = WEFT_VERSION;
  record["build"] = build_identity();
  record["workload"] = outcome.workload;
  record["size"] = outcome.size;
  record["kernel"] = outcome.code.kernel;
  record["ptx_fnv1a"] = fnv1a(outcome.code.ptx);
  record["inputs"] = outcome.inputs;
  for (const Plugin& plugin : plugins()) record["plugins"].push_back(plugin.sha256);
  record["config"] = config.name;
  record["config_fnv1a"] = fnv1a(effective_config(config).dump());
  if (config.sm.observe.events) record["technology_fnv1a"] = fnv1a(figures_of(technology_of(config.energy)));
  record["options"] = {{"mode", mode_of(options)},
                       {"fast_forward", options.fast_forward},
                       {"max_cycles", options.max_cycles},
                       {"stack_bytes", options.limits.stack_bytes},
                       {"printf_bytes", options.limits.printf_bytes},
                       {"heap_bytes", options.limits.heap_bytes},
                       {"monitors", options.monitors},
                       {"sample", options.sample},
                       {"check", options.checks},
                       {"check_reports", options.check_reports}};
  return record;
}

}  // namespace weft::study
