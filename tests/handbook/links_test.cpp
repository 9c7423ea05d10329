// Links between pages lead somewhere: in the Markdown of the repository, and in the HTML that docs/render
// makes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "end_to_end/process.h"

namespace weft::links_test {
namespace {

namespace fs = std::filesystem;

struct Document {
  std::vector<std::string> links;
  std::set<std::string> anchors;
};

std::string content(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void add_matches(const std::string& text, const std::regex& pattern, std::vector<std::string>& found) {
  for (std::sregex_iterator at(text.begin(), text.end(), pattern), end; at != end; ++at)
    found.push_back((*at)[1]);
}

// The name that GitHub gives a heading, where it has only ASCII letters.
std::string anchor_of(const std::string& heading) {
  std::string anchor;
  for (const char c : std::regex_replace(heading, std::regex(R"(\]\([^)]*\))"), "")) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == ' ' || c == '-') {
      anchor += '-';
    } else if (byte < 0x80 && (std::isalnum(byte) != 0 || c == '_')) {
      anchor += static_cast<char>(std::tolower(byte));
    }
  }
  return anchor;
}

Document read_markdown(const fs::path& file) {
  Document document;
  std::map<std::string, int> seen;
  std::istringstream text(content(file));
  bool code = false;
  for (std::string line; std::getline(text, line);) {
    if (line.rfind("```", 0) == 0) code = !code;
    if (code) continue;
    if (std::smatch heading; std::regex_match(line, heading, std::regex("#{1,6} +(.*?) *"))) {
      const std::string anchor = anchor_of(heading[1]);
      const int times = seen[anchor]++;
      document.anchors.insert(times == 0 ? anchor : anchor + "-" + std::to_string(times));
    }
    add_matches(std::regex_replace(line, std::regex("`[^`]*`"), ""), std::regex(R"(\]\(([^)\s]+)\))"),
                document.links);
  }
  return document;
}

Document read_html(const fs::path& file) {
  Document document;
  const std::string text = content(file);
  add_matches(text, std::regex("(?:href|src)=\"([^\"]*)\""), document.links);
  std::vector<std::string> ids;
  add_matches(text, std::regex(" id=\"([^\"]*)\""), ids);
  document.anchors = {ids.begin(), ids.end()};
  return document;
}

// All files below the folder that end so; without those that are built.
std::vector<fs::path> files_below(const fs::path& folder, const std::string& extension) {
  std::vector<fs::path> files;
  for (auto at = fs::recursive_directory_iterator(folder); at != fs::recursive_directory_iterator(); ++at) {
    const std::string name = at->path().filename().string();
    if (at->is_directory() && (name[0] == '.' || name == "build" || name == "out" || name == "runs")) {
      at.disable_recursion_pending();
    } else if (at->path().extension() == extension) {
      files.push_back(at->path());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Of links within `root`; those with a scheme, such as https, lead elsewhere. Returns how many.
std::size_t expect_links(const fs::path& root, const std::string& extension,
                         Document (*read)(const fs::path&)) {
  std::map<fs::path, Document> documents;
  for (const fs::path& file : files_below(root, extension)) documents[file.lexically_normal()] = read(file);
  std::size_t count = 0;
  for (const auto& [file, document] : documents) {
    for (const std::string& link : document.links) {
      if (std::regex_search(link, std::regex("^[a-z]+:"))) continue;
      ++count;
      const std::size_t hash = link.find('#');
      const std::string path = link.substr(0, hash);
      const fs::path target = path.empty() ? file : (file.parent_path() / path).lexically_normal();
      EXPECT_TRUE(fs::exists(target)) << file << " leads to " << link << ", which is not there";
      if (hash == std::string::npos) continue;
      const auto there = documents.find(target);
      EXPECT_TRUE(there != documents.end() && there->second.anchors.count(link.substr(hash + 1)) != 0)
          << file << " leads to " << link << ", which has no such heading";
    }
  }
  return count;
}

TEST(Links, OfEveryMarkdownFileLeadSomewhere) {
  EXPECT_GT(expect_links(fs::path(WEFT_SOURCE).lexically_normal(), ".md", read_markdown), 100u);
}

// Pages of results have pictures, which may be gone.
TEST(Links, OfPagesOfResultsAreLookedAt) {
  const fs::path folder = fs::path(WEFT_SOURCE) / "experiments/results";
  std::size_t pages = 0;
  for (const fs::path& file : files_below(WEFT_SOURCE, ".md")) pages += file.parent_path() == folder ? 1 : 0;
  EXPECT_GT(pages, 10u);
  EXPECT_THAT(read_markdown(folder / "harp-schemes.md").links,
              ::testing::Contains("figures/harp-schemes-performance.svg"));
}

TEST(Links, OfTheRenderedHandbookLeadSomewhere) {
  const test::Folder folder;
  const end_to_end::Exit exit = end_to_end::run(WEFT_SOURCE "/docs/render", {folder.path("html")});
  ASSERT_EQ(exit.code, 0) << exit.err;
  EXPECT_EQ(exit.out, folder.path("html/docs/index.html") + "\n");
  EXPECT_GT(expect_links(folder.path("html"), ".html", read_html), 100u);
  for (const fs::path& page : files_below(WEFT_SOURCE "/docs", ".md")) {
    if (page.filename() == "README.md") continue;
    const fs::path html = folder.path("html/docs") / page.stem().concat(".html");
    EXPECT_TRUE(fs::exists(html)) << "no page of the handbook leads to " << page.filename();
  }
  const std::string sample = content(folder.path("html/docs/lost-cycle.html"));
  EXPECT_NE(sample.find("<table>"), std::string::npos);
  EXPECT_NE(sample.find("<h2 id=\"in-the-timeline\">In the timeline</h2>"), std::string::npos);
}

}  // namespace
}  // namespace weft::links_test
