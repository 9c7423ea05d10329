#include "study/page/report_html.h"

#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string_view>
#include <system_error>

#include "common/input_file.h"
#include "common/markup.h"
#include "common/share_folder.h"
#include "weft/common/error.h"

namespace weft::study {
namespace {

namespace fs = std::filesystem;

fs::path page_folder() {
  return share_folder("WEFT_REPORT_PAGE", "report_page", WEFT_REPORT_PAGE_FOLDER,
                      WEFT_INSTALLED_REPORT_PAGE_FOLDER);
}

std::string page_source(const std::string& name) {
  const fs::path path = page_folder() / name;
  std::error_code none;
  if (!fs::is_regular_file(path, none)) {
    throw InputError(path.string(),
                     "file not found, but the page needs it; WEFT_REPORT_PAGE must name the folder "
                     "report_page of Weft's sources or installation");
  }
  return read_input(path.string());
}

// Modules, each after those that it imports; main.js comes last.
constexpr std::array<const char*, 8> kModules = {"format.js", "table.js", "charts.js",   "cycles.js",
                                                 "memory.js", "code.js",  "overview.js", "main.js"};

// One script of the modules: their top-level names are different, so that leaving out `import` lines and the
// word `export` is all that it takes.
std::string script_of_modules() {
  std::string script;
  for (const char* name : kModules) {
    std::istringstream in(page_source(name));
    for (std::string line; std::getline(in, line);) {
      constexpr std::string_view kImport = "import ", kExport = "export ";
      if (line.compare(0, kImport.size(), kImport) == 0) continue;
      script += line.compare(0, kExport.size(), kExport) == 0 ? line.substr(kExport.size()) : line;
      script += '\n';
    }
  }
  return script;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

// Within a script element nothing may end it or look like a comment's begin.
std::string as_data(const nlohmann::ordered_json& json) {
  std::string text = json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  replace_all(text, "<", "\\u003c");
  return text;
}

std::string as_script(std::string text) {
  replace_all(text, "</script", "<\\/script");
  replace_all(text, "<!--", "<\\!--");
  return text;
}

std::string title_of(const nlohmann::ordered_json& model) {
  std::string names;
  for (const auto& run : model.at("runs")) names += (names.empty() ? "" : ", ") + run.value("name", "");
  return "Weft report: " + names;
}

}  // namespace

std::string chart_libraries() {
  for (const fs::path& path : {page_folder() / "charts.min.js", fs::path(WEFT_CHART_LIBRARIES)}) {
    std::error_code none;
    if (fs::is_regular_file(path, none)) return read_input(path.string());
  }
  return "";
}

std::string report_html(const nlohmann::ordered_json& model, const std::string& charts) {
  const std::string page = page_source("page.html");
  std::string html;
  // Each place of the template once, from the beginning on, so that nothing is looked for in what was put in.
  std::size_t at = 0;
  for (std::size_t open = page.find("{{"); open != std::string::npos; open = page.find("{{", at)) {
    const std::size_t close = page.find("}}", open);
    if (close == std::string::npos) break;
    html.append(page, at, open - at);
    const std::string name = page.substr(open + 2, close - open - 2);
    if (name == "title") html += as_markup(title_of(model));
    if (name == "style") html += page_source("page.css");
    if (name == "data") html += as_data(model);
    if (name == "charts") html += as_script(charts);
    if (name == "script") html += as_script(script_of_modules());
    at = close + 2;
  }
  return html.append(page, at, std::string::npos);
}

}  // namespace weft::study
