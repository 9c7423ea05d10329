#include <iostream>
#include <nlohmann/json.hpp>

#include "common/config_writer.h"
#include "platform/soc/soc_config.h"
#include "sc_main/options.h"
#include "study/judge/library_form.h"
#include "weft/common/error.h"

namespace weft::cli {
namespace {

// A system, and the GPU in it.
void check_soc(const std::string& file, const std::vector<std::string>& overrides, bool effective) {
  const SocConfig config = load_soc_config(file, overrides);
  const GpuConfig gpu = load_gpu_of(config);
  if (effective) {
    std::cout << config::write(config).dump(2) << "\n";
  } else {
    std::cout << file << ": valid; system " << config.name << ", host CPU " << config.cpu.kind << ", GPU "
              << gpu.name << ", " << gpu.sm.count << " SMs\n";
  }
}

}  // namespace

ExitCode check_config(const Words& words) {
  std::string file;
  std::vector<std::string> overrides;
  bool effective = false;
  Options options("options");
  options
      .text("config", file, "NAME",
            "name or JSON file of a GPU or of a system (soc/NAME); --config can be left out", true)
      .list("set", overrides, "PATH=VALUE", "override values")
      .plugins()
      .flag("effective", effective, "print the configuration with every default filled in");
  if (!parse(words, "weft check-config FILE [--set path=value ...] [--effective]", options, "config")) {
    return ExitCode::kDone;
  }
  if (is_soc_config(file)) {
    check_soc(file, overrides, effective);
    return ExitCode::kDone;
  }
  const GpuConfig config = load_config(file, overrides);
  if (effective) {
    std::cout << effective_config(config).dump(2) << "\n";
  } else {
    std::cout << file << ": valid; " << config.name << ", " << config.sm.count << " SMs, scheme "
              << config.warp_formation.scheme << "\n";
  }
  return ExitCode::kDone;
}

ExitCode schema(const Words& words) {
  std::string what = "gpu";
  bool reference = false;
  Options options("options");
  options
      .text("what", what, "NAME",
            "of which kind of file: gpu, soc, experiment, claims, causes, library, groups, area, sweep")
      .flag("reference", reference, "the keys of all files of experiments and sweeps, as Markdown")
      .plugins();
  if (!parse(words, "weft schema [NAME] [--reference] > weft.schema.json", options, "what"))
    return ExitCode::kDone;
  if (reference) {
    std::cout << study::reference_of_study_files();
    return ExitCode::kDone;
  }
  std::string known;
  for (const study::FileForm* file : study::study_files()) {
    if (what == file->name) {
      std::cout << text_of(schema_of(*file));
      return ExitCode::kDone;
    }
    known += ", " + file->name + " (" + file->path + ")";
  }
  if (what != "gpu" && what != "soc") {
    throw InputError("weft schema",
                     "found '" + what + "'; allowed: gpu (--config of weft run), soc (of weft soc)" + known);
  }
  std::cout << (what == "soc" ? soc_config_schema() : config_schema()).dump(2) << "\n";
  return ExitCode::kDone;
}

}  // namespace weft::cli
