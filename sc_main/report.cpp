// `weft report`: one page of the results of some runs.
#include <iostream>
#include <nlohmann/json.hpp>

#include "common/output_files.h"
#include "sc_main/options.h"
#include "study/page/report_html.h"
#include "study/page/report_model.h"
#include "study/run/result_run.h"
#include "weft/common/error.h"

namespace weft::cli {

ExitCode report(const Words& words) {
  std::vector<std::string> folders;
  std::string out = "report.html";
  bool json = false, without_charts = false;
  Options options("options");
  options
      .list("dir", folders, "DIR",
            "folders of results (--out of weft run, compare, cuda); all runs are compared with the first")
      .text("out", out, "FILE", "HTML file of the page (report.html)")
      .flag("without-charts", without_charts,
            "leave out the chart libraries (0.9 MB): the page has tables only")
      .flag("json", json, "write the content of the page as JSON instead");
  if (!parse(words, "weft report DIR... [--out FILE.html]", options, "dir...")) return ExitCode::kDone;
  if (folders.empty())
    throw InputError("weft report",
                     "found no folder; allowed: folders of results of weft run, compare or cuda");
  std::vector<ResultRun> runs;
  for (const std::string& folder : folders) {
    for (ResultRun& run : runs_of(folder)) runs.push_back(std::move(run));
  }
  const nlohmann::ordered_json model = report_model(runs);
  if (json) {
    replace_file(out, model.dump(1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
    std::cout << "wrote " << out << "\n";
    return ExitCode::kDone;
  }
  const std::string charts = without_charts ? "" : chart_libraries();
  if (charts.empty() && !without_charts) {
    std::cerr << "weft: the page has tables and no charts: weft was built without the chart libraries "
                 "(install npm, build the target report_charts)\n";
  }
  const std::string page = report_html(model, charts);
  replace_file(out, page);
  std::cout << "wrote " << out << ": " << runs.size() << (runs.size() == 1 ? " run, " : " runs, ")
            << page.size() / 1024 << " KiB\n";
  return ExitCode::kDone;
}

}  // namespace weft::cli
