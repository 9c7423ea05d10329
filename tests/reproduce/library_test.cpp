// The folder of experiments: what lies where, and what is said of a mistake.
#include "study/judge/library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "folder.h"
#include "weft/common/error.h"

namespace weft::study::library_test {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Two papers P and Q without claims, with the rules of the project.
class OwnLibrary {
 public:
  OwnLibrary() {
    std::ifstream in(WEFT_EXPERIMENTS "/library.json");
    library_ = json::parse(in);
    for (const char* name : {"p", "q"}) std::filesystem::create_directory(folder_.path(name));
    papers(
        R"([{"name": "Q", "folder": "q", "title": "second"}, {"name": "P", "folder": "p", "title": "first"}])");
  }
  void papers(const std::string& list) {
    library_["papers"] = json::parse(list);
    folder_.write("library.json", library_.dump());
  }
  void write(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories(std::filesystem::path(folder_.path(file)).parent_path());
    folder_.write(file, text);
  }
  Library read() const { return read_library(folder_.path()); }
  std::string message() const {
    try {
      read();
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  }

 private:
  test::Folder folder_;
  json library_;
};

TEST(Library, FindsExperimentsWhereTheyLie) {
  const OwnLibrary own;
  EXPECT_TRUE(own.read().experiments.empty());
  for (const char* name : {"p/b", "p/a", "q/c"}) own.write(std::string(name) + "/experiment.json", "{}");
  own.write("p/d/README.md", "no experiment");
  own.write("p/experiment.json", "no experiment");
  const Library library = own.read();
  EXPECT_THAT(library.names(), ElementsAre("c", "a", "b"));
  EXPECT_EQ(library.experiments[1].paper, "P");
  EXPECT_THAT(library.experiments[1].path, HasSubstr("/p/a/experiment.json"));
  EXPECT_TRUE(library.has("c"));
  EXPECT_FALSE(library.has("d"));
}

TEST(Library, GivesAnExperimentThePaperOfItsFolder) {
  const Library library = read_library(WEFT_EXPERIMENTS);
  EXPECT_EQ(library.read("crown-trends").paper, "CROWN");
  EXPECT_EQ(library.experiments.front().paper, "DWR");
  EXPECT_EQ(library.claims.list.front().paper, "DWR");
}

TEST(Library, HasAPageForEachExperiment) {
  for (const ExperimentFile& file : read_library(WEFT_EXPERIMENTS).experiments) {
    const std::filesystem::path page = std::filesystem::path(file.path).parent_path() / "README.md";
    std::ifstream in(page);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    EXPECT_THAT(text, HasSubstr("weft reproduce " + file.name)) << page;
  }
}

TEST(Library, NamesBothFilesOfADuplicate) {
  const OwnLibrary own;
  own.write("p/same/experiment.json", "{}");
  own.write("q/same/experiment.json", "{}");
  EXPECT_THAT(own.message(), AllOf(HasSubstr("duplicate name 'same'"), HasSubstr("/p/same/experiment.json"),
                                   HasSubstr("/q/same/experiment.json")));
}

TEST(Library, NamesBothPapersOfADuplicateClaim) {
  const OwnLibrary own;
  const char* const claims =
      R"([{"id": "a", "place": "1", "type": "ratio", "printed": 1.1, "as_printed": "10%", "statement": "s"}])";
  own.write("p/claims.json", claims);
  own.write("q/claims.json", claims);
  EXPECT_THAT(own.message(), AllOf(HasSubstr("/p/claims.json: /0: duplicate ID 'a'"), HasSubstr("of Q")));
}

TEST(Library, MistakesAreNamedWithTheirPlace) {
  OwnLibrary own;
  own.write("mine/x/experiment.json", "{}");
  EXPECT_THAT(own.message(), AllOf(HasSubstr("/mine/x/experiment.json"),
                                   HasSubstr("'mine' is no folder of a paper; library.json has: q, p")));
  own.papers(R"([{"name": "P", "folder": "r", "title": "t"}])");
  EXPECT_THAT(own.message(), AllOf(HasSubstr("library.json: /papers/0/folder: found \"r\""),
                                   HasSubstr("a folder beside this file")));
  own.papers(R"([{"name": "P", "folder": "../p", "title": "t"}])");
  EXPECT_THAT(own.message(), HasSubstr("/papers/0/folder"));
  own.papers(R"([{"name": "P", "folder": "p", "title": "t"}, {"name": "P", "folder": "q", "title": "t"}])");
  EXPECT_THAT(own.message(), AllOf(HasSubstr("/papers/1/name"), HasSubstr("a name that no other paper has")));
  own.papers(R"([{"name": "P", "folder": "p", "title": "t"}, {"name": "Q", "folder": "p", "title": "t"}])");
  EXPECT_THAT(own.message(),
              AllOf(HasSubstr("/papers/1/folder"), HasSubstr("a folder that no other paper has")));
  own.papers(R"([{"name": "P", "folder": "p", "title": "t"}])");
  own.write("p/area/experiment.json", "{}");
  EXPECT_THAT(own.message(), HasSubstr("the name 'area' is that of the page of areas"));
}

}  // namespace
}  // namespace weft::study::library_test
