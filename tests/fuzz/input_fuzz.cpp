// libFuzzer on what users type besides PTX: configurations (texts that begin with '{'; after a 0 byte may
// follow the text of one --set) and values of --arg (all other texts).
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/config_document.h"
#include "common/config_reader.h"
#include "fuzz/require.h"
#include "platform/dram_standard.h"
#include "platform/renamed_keys.h"
#include "study/session/raw_argument.h"
#include "weft/common/error.h"
#include "weft/platform/gpu_config.h"

namespace weft {
namespace {

constexpr const char* kFile = "fuzz.json";

// Files belong to the machine.
bool names_a_file(const nlohmann::json& document) {
  if (!document.is_object()) return false;
  const auto dram = document.find("dram");
  if (dram == document.end() || !dram->is_object()) return false;
  const auto standard = dram->find("standard");
  return standard != dram->end() && standard->is_string() &&
         standard->get<std::string>().find_first_of("/.") != std::string::npos;
}

// What is accepted must survive being written and read again, since the effective configuration lies beside
// every result.
void check_configuration(const std::string& text) {
  const std::size_t zero = text.find('\0');
  nlohmann::json document = config::read(text.substr(0, zero), kFile);
  rename_old_keys(document, kFile);
  if (names_a_file(document)) return;
  apply_dram_standard(document, kFile);
  std::vector<config::Override> overrides;
  if (zero != std::string::npos) {
    overrides.push_back(config::apply_override(document, with_new_key(text.substr(zero + 1), "--set")));
    if (names_a_file(document)) return;
    apply_dram_standard(document, overrides.back());
  }
  GpuConfig read;
  config::load(read, document, kFile, overrides);
  read.check(kFile);

  const nlohmann::ordered_json effective = effective_config(read);
  GpuConfig again;
  config::load(again, config::read(effective.dump(), kFile), kFile);
  again.check(kFile);
  fuzz::require(effective_config(again) == effective, "a configuration that changes when it is read again");
}

// Files belong to the machine, and buffers of gigabytes to the user.
bool is_left_out(const std::string& text) {
  constexpr std::size_t kMostDigits = 6;
  const bool is_large =
      text.compare(0, 4, "ptr:") == 0 && text.find('=') > 4 + kMostDigits && text.size() > 4 + kMostDigits;
  return is_large || text.find("file:") != std::string::npos;
}

void check_argument(const std::string& text) {
  if (is_left_out(text)) return;
  const study::RawArgument argument = study::parse_argument("--arg", text);
  fuzz::require(argument.buffer ? argument.buffer->bytes != 0 : !argument.value.empty(),
                "an argument of no bytes");
}

}  // namespace
}  // namespace weft

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace weft;
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    if (!text.empty() && text.front() == '{') {
      check_configuration(text);
    } else {
      check_argument(text);
    }
  } catch (const InputError& error) {
    fuzz::require(*error.what() != '\0', "an error without a message");
  }
  return 0;
}

// libsystemc wants it; libFuzzer has the main function.
extern "C" int sc_main(int /*argc*/, char* /*argv*/[]) {
  return 0;
}
