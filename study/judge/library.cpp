#include "study/judge/library.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "common/config_document.h"
#include "common/share_folder.h"
#include "study/judge/library_form.h"
#include "study/plan/place.h"
#include "weft/common/error.h"

namespace weft::study {
namespace {

namespace fs = std::filesystem;

constexpr const char* kExperimentFile = "experiment.json";

struct Paper {
  std::string name, folder, title;
};

std::vector<Paper> read_papers(const Place& place, const std::string& library) {
  std::vector<Paper> papers;
  for (const Place& item : place.items()) {
    item.keys(library_form()["paper"]);
    Paper paper{item.at("name").text(), item.at("folder").text(), item.at("title").text()};
    for (const Paper& other : papers) {
      if (paper.name == other.name) item.at("name").refuse("a name that no other paper has");
      if (paper.folder == other.folder) item.at("folder").refuse("a folder that no other paper has");
    }
    std::error_code none;
    if (fs::path(paper.folder).filename() != paper.folder ||
        !fs::is_directory(fs::path(library) / paper.folder, none))
      item.at("folder").refuse("the name of a folder beside this file");
    papers.push_back(std::move(paper));
  }
  return papers;
}

std::vector<fs::path> folders_in(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    std::error_code none;
    if (entry.is_directory(none)) folders.push_back(entry.path());
  }
  if (error) throw InputError(folder.string(), "the experiments cannot be listed: " + error.message());
  std::sort(folders.begin(), folders.end());
  return folders;
}

// The files of experiments in a folder, sorted.
std::vector<fs::path> experiments_in(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const fs::path& one : folders_in(folder)) {
    std::error_code none;
    if (fs::exists(one / kExperimentFile, none)) files.push_back(one / kExperimentFile);
  }
  return files;
}

void add_experiments(const Paper& paper, Library& library) {
  for (const fs::path& path : experiments_in(fs::path(library.folder) / paper.folder)) {
    ExperimentFile file{path.parent_path().filename().string(), paper.name, path.string()};
    if (file.name == kAreaPage)
      throw InputError(file.path, std::string("the name '") + kAreaPage + "' is that of the page of areas");
    for (const ExperimentFile& other : library.experiments) {
      if (other.name == file.name)
        throw InputError(file.path, "duplicate name '" + file.name + "': " + other.path + " has it, too");
    }
    library.experiments.push_back(std::move(file));
  }
}

// An experiment in a folder of no paper would not be found.
void refuse_other_folders(const std::vector<Paper>& papers, const std::string& library) {
  std::vector<std::string> known;
  for (const Paper& paper : papers) known.push_back(paper.folder);
  for (const fs::path& folder : folders_in(library)) {
    const std::string name = folder.filename().string();
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const auto files = experiments_in(folder);
    if (files.empty()) continue;
    throw InputError(files.front().string(),
                     "'" + name + "' is no folder of a paper; library.json has: " + joined(known));
  }
}

}  // namespace

std::vector<std::string> Library::names() const {
  std::vector<std::string> names;
  for (const ExperimentFile& file : experiments) names.push_back(file.name);
  return names;
}

bool Library::has(const std::string& name) const {
  return std::any_of(experiments.begin(), experiments.end(),
                     [&](const ExperimentFile& file) { return file.name == name; });
}

Experiment Library::read(const std::string& name) const {
  return read_experiment(*std::find_if(experiments.begin(), experiments.end(),
                                       [&](const ExperimentFile& file) { return file.name == name; }),
                         claims);
}

std::string experiment_folder() {
  return share_folder("WEFT_EXPERIMENTS", "experiments", WEFT_EXPERIMENT_FOLDER,
                      WEFT_INSTALLED_EXPERIMENT_FOLDER)
      .string();
}

Library read_library(const std::string& folder) {
  const std::string file = folder + "/library.json";
  const nlohmann::json document = config::read_file(file);
  const Place place(document, file);
  place.keys(library_form()["library"]);
  Library library;
  library.folder = folder;
  library.claims.rules = read_rules(place.at("rules"));
  const std::vector<Paper> papers = read_papers(place.at("papers"), folder);
  for (const Paper& paper : papers) {
    const fs::path own = fs::path(folder) / paper.folder;
    library.claims.papers[paper.name] = paper.title;
    read_claims((own / "claims.json").string(), paper.name, library.claims);
    library.causes.merge(read_causes((own / "causes.json").string(), paper.name, library.claims));
    add_experiments(paper, library);
  }
  refuse_other_folders(papers, folder);
  auto named = library.names();
  named.emplace_back(kAreaPage);
  library.groups = read_groups(folder + "/groups.json", named);
  return library;
}

}  // namespace weft::study
