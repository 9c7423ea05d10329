// The table of keys: its schemas against an independent validator, with the files of the project, and its
// page.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <string>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validation_results.hpp>
#include <valijson/validator.hpp>

#include "folder.h"
#include "papers.h"
#include "study/judge/experiment_form.h"
#include "study/judge/library_form.h"
#include "study/plan/form.h"
#include "study/plan/place.h"
#include "study/plan/plan_file.h"
#include "study/plan/plan_form.h"

namespace weft::study::forms_test {
namespace {

using nlohmann::json;
using reproduce_test::kFolder;
using reproduce_test::library;
using reproduce_test::message_of;

std::string text_of_file(const std::string& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), {}};
}

class SchemaOf {
 public:
  explicit SchemaOf(const FileForm& file) : document_(json::parse(schema_of(file).dump())) {
    valijson::SchemaParser(valijson::SchemaParser::kDraft7)
        .populateSchema(valijson::adapters::NlohmannJsonAdapter(document_), schema_);
  }
  // Empty: nothing.
  std::string refuses(const json& value) const {
    valijson::Validator validator(valijson::Validator::kStrongTypes);
    valijson::ValidationResults results;
    if (validator.validate(schema_, valijson::adapters::NlohmannJsonAdapter(value), &results)) return "";
    valijson::ValidationResults::Error error;
    std::string text = "refused";
    while (results.popError(error)) {
      for (const std::string& step : error.context) text += " " + step;
      text += ": " + error.description + "\n";
    }
    return text;
  }
  std::string refuses_file(const std::string& file) const { return refuses(json::parse(text_of_file(file))); }

 private:
  json document_;
  valijson::Schema schema_;
};

TEST(Schemas, AcceptTheFilesOfTheProject) {
  const SchemaOf experiment(experiment_form()), claims(claims_form()), causes(causes_form());
  for (const ExperimentFile& file : library().experiments)
    EXPECT_EQ(experiment.refuses_file(file.path), "") << file.path;
  for (const char* paper : {"crown", "dwr", "harp", "stsimt"}) {
    EXPECT_EQ(claims.refuses_file(kFolder + "/" + paper + "/claims.json"), "") << paper;
    EXPECT_EQ(causes.refuses_file(kFolder + "/" + paper + "/causes.json"), "") << paper;
  }
  EXPECT_EQ(SchemaOf(library_form()).refuses_file(kFolder + "/library.json"), "");
  EXPECT_EQ(SchemaOf(groups_form()).refuses_file(kFolder + "/groups.json"), "");
  EXPECT_EQ(SchemaOf(area_form()).refuses_file(kFolder + "/area.json"), "");
}

// Schema and reader are of one mind about keys, types and shapes.
TEST(Schemas, OfAnExperimentJudgeAsTheReaderDoes) {
  const SchemaOf schema(experiment_form());
  const auto with = [&](const std::string& key, const std::string& value) {
    json file = json::parse(R"({"title": "t", "place": "7", "config": "harp-fermi",
      "programs": [{"abbr": "BFS", "workload": "bfs", "size": "small"},
                   {"abbr": "OWN", "ptx": "x.ptx", "grid": "1", "block": "32", "arguments": ["ptr:256"]}],
      "variants": [{"name": "sbr"}, {"name": "harp", "set": ["warp_formation.scheme=harp"]}],
      "measures": ["speed", {"name": "hits", "heading": "hits", "sum": ["sm.memory.l1d.hits"]}]})");
    if (!key.empty()) file[key] = json::parse(value);
    const test::Folder folder;
    const std::string path = folder.write("experiment.json", file.dump());
    const bool read =
        message_of([&] { read_experiment({"x", "HARP", path}, library().claims); }) == "no error";
    EXPECT_EQ(schema.refuses(file).empty(), read) << key << ": " << value << "\n" << schema.refuses(file);
    return read;
  };
  EXPECT_TRUE(with("", ""));
  EXPECT_TRUE(with("$schema", R"("experiment.schema.json")"));
  EXPECT_TRUE(with("about", R"("x")"));
  EXPECT_FALSE(with("titel", R"("x")"));
  EXPECT_FALSE(with("title", "7"));
  EXPECT_FALSE(with("place", R"("")"));
  EXPECT_FALSE(with("variants", "[]"));
  EXPECT_FALSE(with("variants", R"([{"name": "a", "set": ["warp_size"]}])"));
  EXPECT_FALSE(with("programs", R"([{"abbr": "B", "workload": "bfs", "size": "small", "seconds": -1}])"));
  EXPECT_FALSE(with("programs", R"([{"abbr": "B", "ptx": "x.ptx", "arguments": ["ptr:256"]}])"));
  EXPECT_FALSE(with("measures", R"([{"name": "h", "heading": "h", "sum": ["/cycles"], "digits": 12}])"));
  EXPECT_FALSE(with("numbers",
                    R"([{"what": "w", "value": {"measure": "speed", "variant": "sbr", "mean": "median"}}])"));
  EXPECT_FALSE(with(
      "numbers",
      R"([{"what": "w", "value": {"difference": [{"wins": "sbr", "against": ["harp"], "measure": "speed"}]}}])"));
  EXPECT_TRUE(with(
      "numbers",
      R"([{"what": "w", "value": {"average": [{"wins": "sbr", "against": ["harp"], "measure": "speed"}]}}])"));
  EXPECT_FALSE(with("figures", R"([{"title": "t", "place": "1", "measure": "speed", "scale": "square"}])"));
  EXPECT_TRUE(
      with("figures",
           R"([{"title": "t", "place": "1", "measure": "speed", "over": "sbr", "means": ["harmonic"]}])"));
}

TEST(Schemas, OfASweepJudgeAsTheReaderDoes) {
  const SchemaOf schema(plan_form());
  const auto with = [&](const std::string& key, const std::string& value) {
    json file = json::parse(
        R"({"axes": [{"name": "workload", "values": ["bfs"]}, {"name": "size", "values": ["small"]},
      {"name": "sm.l1d.ways", "values": [2, 4]},
      {"name": "pipeline", "values": {"short": ["sm.pipeline_depth=8"], "as it is": []}}]})");
    if (!key.empty()) file[key] = json::parse(value);
    const test::Folder folder;
    const std::string path = folder.write("sweep.json", file.dump());
    const bool read = message_of([&] { plan_of_file(path); }) == "no error";
    EXPECT_EQ(schema.refuses(file).empty(), read) << key << ": " << value << "\n" << schema.refuses(file);
    return read;
  };
  EXPECT_TRUE(with("", ""));
  EXPECT_TRUE(with("limits", R"({"seconds": 60, "core_cycles": 1e6})"));
  EXPECT_FALSE(with("limits", R"({"seconds": 0})"));
  EXPECT_TRUE(with("screening", R"({"factors": ["sm.l1d.ways"], "foldover": true})"));
  EXPECT_FALSE(with("screening", R"({"factors": ["sm.l1d.ways"], "foldover": 1})"));
  EXPECT_TRUE(with("halving", R"({"rungs": "sm.l1d.ways", "metric": "cycles"})"));
  EXPECT_FALSE(with("halving", R"({"rungs": "sm.l1d.ways", "metric": "cycles", "keep_one_in": 1})"));
  EXPECT_FALSE(with("axis", "[]"));
}

TEST(Forms, HaveNamesOfTheirOwn) {
  std::set<std::string> names;
  for (const FileForm* file : study_files()) {
    EXPECT_TRUE(names.insert(file->name).second || file->forms.front().name == file->name) << file->name;
    for (const Form& form : file->forms) {
      EXPECT_TRUE(form.name == file->name || names.insert(form.name).second) << form.name;
      std::set<std::string> keys;
      for (const Key& key : form.keys)
        EXPECT_TRUE(keys.insert(key.name).second) << form.name << " " << key.name;
    }
  }
  EXPECT_THROW(experiment_form()["none"], std::logic_error);
}

TEST(Forms, ReferencePageIsThatOfTheTable) {
  EXPECT_EQ(text_of_file(kFolder + "/REFERENCE.md"), reference_of_study_files())
      << "weft schema --reference > experiments/REFERENCE.md";
}

}  // namespace
}  // namespace weft::study::forms_test
