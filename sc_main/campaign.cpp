#include <array>

#include "sc_main/options.h"

namespace weft::cli {
namespace {

struct Campaign {
  const char* name;
  const char* summary;
  ExitCode (*run)();
};

// One line per campaign.
constexpr std::array<Campaign, 0> kCampaigns{};

}  // namespace

ExitCode campaign(const Words& words) {
  namespace po = boost::program_options;
  std::string name;
  po::options_description options("options");
  options.add_options()("name", po::value(&name)->required(), "which campaign; may stand without --name");
  if (!parse(words, "weft campaign NAME", options, "name")) return ExitCode::kDone;
  std::string known;
  for (const Campaign& candidate : kCampaigns) {
    if (name == candidate.name) return candidate.run();
    known += (known.empty() ? "" : ", ") + std::string(candidate.name);
  }
  throw InputError("weft campaign",
                   "unknown name '" + name + "'; known: " + (known.empty() ? "none" : known));
}

}  // namespace weft::cli
