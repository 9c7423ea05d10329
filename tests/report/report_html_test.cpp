#include "study/page/report_html.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "study/page/report_model.h"

namespace weft::study::report_html_test {
namespace {

using nlohmann::ordered_json;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(ReportHtml, TakesTextAsText) {
  const std::string evil = "</script><script>alert(1)</script>{{charts}}<!--";
  const ordered_json model{{"runs", {{{"name", evil}}}}};
  const std::string html = report_html(model, "var chart = '</script>';");
  EXPECT_THAT(html, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(html, HasSubstr("var chart = '<\\/script>';"));
  EXPECT_THAT(html, HasSubstr("<title>Weft report: &lt;/script&gt;"));
  // It is still there as data.
  const std::string begin = "id=\"data\">";
  const std::size_t from = html.find(begin) + begin.size();
  EXPECT_EQ(ordered_json::parse(html.substr(from, html.find("</script>", from) - from)), model);
}

TEST(ReportHtml, IsOneScriptWithoutImports) {
  const std::string html = report_html({{"runs", ordered_json::array()}}, "");
  EXPECT_THAT(html, Not(HasSubstr("\nimport ")));
  EXPECT_THAT(html, Not(HasSubstr("\nexport ")));
  EXPECT_THAT(html, HasSubstr("function table("));
  EXPECT_THAT(html, Not(HasSubstr("{{")));
}

TEST(ConfigDifferences, AreOnlyWhatDiffers) {
  std::vector<ResultRun> runs(2);
  runs[0].config = {{"sm", {{"count", 16}, {"l1d", {{"ways", 4}}}}}, {"name", "a"}};
  runs[1].config = {{"sm", {{"count", 16}, {"l1d", {{"ways", 8}}}}}, {"name", "a"}, {"more", true}};
  EXPECT_EQ(config_differences(runs), ordered_json::parse(R"([{"key": "more", "values": [null, true]},
                                                             {"key": "sm/l1d/ways", "values": [4, 8]}])"));
}

}  // namespace
}  // namespace weft::study::report_html_test
