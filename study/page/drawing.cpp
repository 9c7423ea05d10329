#include "study/page/drawing.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
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

}  // namespace

std::string drawing_script() {
  return (share_folder("WEFT_DRAWING", "experiments", WEFT_EXPERIMENT_FOLDER,
                       WEFT_INSTALLED_EXPERIMENT_FOLDER) /
          "draw_figures")
      .string();
}

std::string draw_figures(const nlohmann::ordered_json& figures, const std::string& file,
                         const std::string& script) {
  if (figures.empty()) return "";
  pid_t process = 0;
  const int problem = start_drawing({kPython, script, file}, process);
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

std::string drawing_message(const nlohmann::ordered_json& figures, const std::string& undrawn,
                            const std::string& base) {
  if (!undrawn.empty()) return fmt::format("weft: {}\n", undrawn);
  if (figures.empty()) return "";
  return fmt::format("weft: {} figure{} drawn: {}-*.svg, .pdf\n", figures.size(),
                     figures.size() == 1 ? "" : "s", base);
}

void add_figures(const nlohmann::ordered_json& figures, const std::string& undrawn, Page& page) {
  std::vector<Section> sections;
  for (const auto& figure : figures) {
    const std::string title = figure.at("title"), file = figure.at("file"), about = figure.at("about");
    Section section;
    section.title = fmt::format("{} ({})", title, figure.at("place").get<std::string>());
    if (undrawn.empty()) section.paragraphs.push_back(fmt::format("![{}]({}.svg)", title, file));
    std::string words = (about.empty() ? "" : about + " ") + marks_of(figure);
    if (undrawn.empty()) words += fmt::format(" For papers: [PDF]({}.pdf).", file);
    section.paragraphs.push_back(words);
    sections.push_back(std::move(section));
  }
  if (!sections.empty() && !undrawn.empty())
    sections.front().paragraphs.insert(sections.front().paragraphs.begin(), "There are " + undrawn + ".");
  page.sections.insert(page.sections.begin(), sections.begin(), sections.end());
}

}  // namespace weft::study
