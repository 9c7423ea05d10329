#include "study/page/drawing.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "common/share_folder.h"

namespace weft::study {
namespace {

constexpr const char* kPython = "python3";
constexpr const char* kInstall = "run apt-get install python3-matplotlib and repeat the command";

// Its messages are this program's.
int start_drawing(std::vector<std::string> words, pid_t& process) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  const int problem = posix_spawnp(&process, kPython, &files, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  return problem;
}

std::string marks_of(const nlohmann::ordered_json& figure) {
  const bool lines = figure.at("kind") == "lines", stacked = figure.at("kind") == "stacked";
  const char* const what = lines ? "points" : stacked ? "parts of bars" : "bars";
  const auto marked = figure.at("printed").get<unsigned>(), all = figure.at("of").get<unsigned>();
  return fmt::format("{} of {} {} {} a printed value{}.", marked, all, what, marked == 1 ? "has" : "have",
                     marked == 0 ? "" : ": the diamonds");
}

bool is_drawn(const nlohmann::ordered_json& figure, Drawings drawings) {
  if (drawings == Drawings::kNone) return false;
  return drawings == Drawings::kAll || figure.at("kept").get<bool>();
}

std::size_t count_drawn(const nlohmann::ordered_json& figures, Drawings drawings) {
  return static_cast<std::size_t>(
      std::count_if(figures.begin(), figures.end(),
                    [&](const nlohmann::ordered_json& figure) { return is_drawn(figure, drawings); }));
}

}  // namespace

std::string drawing_script() {
  return (share_folder("WEFT_DRAWING", "experiments", WEFT_EXPERIMENT_FOLDER,
                       WEFT_INSTALLED_EXPERIMENT_FOLDER) /
          "draw_figures")
      .string();
}

std::string draw_figures(const nlohmann::ordered_json& figures, Drawings drawings, const std::string& file,
                         const std::string& script) {
  if (count_drawn(figures, drawings) == 0) return "";
  std::vector<std::string> words{kPython, script};
  if (drawings == Drawings::kKept) words.emplace_back("--kept");
  words.push_back(file);
  pid_t process = 0;
  const int problem = start_drawing(std::move(words), process);
  if (problem != 0)
    return fmt::format("no pictures: cannot start {} ({}); {}", kPython, std::strerror(problem), kInstall);
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return "";
  if (WIFEXITED(status) && WEXITSTATUS(status) == kNoMatplotlib)
    return fmt::format("no pictures: {} has no Matplotlib; {}", kPython, kInstall);
  return fmt::format("no pictures: {} {} {}", script,
                     WIFEXITED(status) ? "ended with exit code" : "got signal",
                     WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
}

std::string drawing_message(const nlohmann::ordered_json& figures, Drawings drawings,
                            const std::string& undrawn, const std::string& base) {
  if (!undrawn.empty()) return fmt::format("weft: {}\n", undrawn);
  if (figures.empty()) return "";
  const std::size_t drawn = count_drawn(figures, drawings);
  const std::string of = fmt::format("{} figure{}", figures.size(), figures.size() == 1 ? "" : "s");
  if (drawings == Drawings::kAll) return fmt::format("weft: {} drawn: {}-*.svg, .pdf\n", of, base);
  return fmt::format("weft: {} of {} drawn{}; --figures draws all\n", drawn, of,
                     drawn == 0 ? "" : ": " + base + "-*.svg");
}

void add_figures(const nlohmann::ordered_json& figures, Drawings drawings, const std::string& undrawn,
                 const std::string& command, Page& page) {
  std::vector<Section> sections;
  std::string others;
  for (const auto& figure : figures) {
    const std::string title = figure.at("title"), file = figure.at("file"), about = figure.at("about");
    if (!undrawn.empty() || !is_drawn(figure, drawings)) {
      others += (others.empty() ? "" : ", ") + title;
      continue;
    }
    std::string words = (about.empty() ? "" : about + " ") + marks_of(figure);
    if (drawings == Drawings::kAll) words += fmt::format(" For papers: [PDF]({}.pdf).", file);
    sections.push_back({fmt::format("{} ({})", title, figure.at("place").get<std::string>()),
                        {fmt::format("![{}]({}.svg)", title, file), std::move(words)},
                        {}});
  }
  if (!others.empty()) {
    Section section{"Figures on demand", {}, {}};
    if (!undrawn.empty()) section.paragraphs.push_back("There are " + undrawn + ".");
    section.paragraphs.push_back(fmt::format("Not drawn: {}. `{}` draws them.", others, command));
    sections.push_back(std::move(section));
  }
  page.sections.insert(page.sections.begin(), sections.begin(), sections.end());
}

}  // namespace weft::study
