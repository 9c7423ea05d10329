// How Weft writes files.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <string>

#include "common/output_files.h"
#include "end_to_end/process.h"
#include "weft/common/error.h"

namespace weft::end_to_end::files_test {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

std::string message(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputError& error) {
    return error.what();
  }
  return "nothing thrown";
}

// Whatever a program that was killed has left: a name is not used twice.
TEST(Files, OfOthersAreNotInTheWay) {
  const Folder folder;
  folder.write("a.part-" + std::to_string(getpid()), "stale");
  replace_file(folder.path("a"), "text");
  EXPECT_EQ(folder.text("a"), "text");
  EXPECT_EQ(Folder::names_of(folder.path()).size(), 2u) << "and nothing is left behind";
}

TEST(Files, KeepTheirMode) {
  const Folder folder;
  const auto path = folder.write("a", "secret");
  chmod(path.c_str(), 0600);
  replace_file(path, "another");
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST(Files, BehindLinksAreWritten) {
  const Folder folder;
  fs::create_directory(folder.path("sub"));
  folder.write("sub/target", "old");
  fs::create_symlink("sub/target", folder.path("link"));
  fs::create_symlink(folder.path("link"), folder.path("link to link"));
  replace_file(folder.path("link to link"), "new");
  EXPECT_TRUE(fs::is_symlink(folder.path("link")));
  EXPECT_TRUE(fs::is_symlink(folder.path("link to link")));
  EXPECT_EQ(folder.text("sub/target"), "new");

  fs::create_symlink("not yet", folder.path("dangling"));
  replace_file(folder.path("dangling"), "now");
  EXPECT_TRUE(fs::is_symlink(folder.path("dangling")));
  EXPECT_EQ(folder.text("not yet"), "now");

  fs::create_symlink("loop", folder.path("loop"));
  EXPECT_THAT(message([&] { replace_file(folder.path("loop"), ""); }), HasSubstr("symbolic links"));

  const auto one = folder.write("one", "old");
  fs::create_hard_link(one, folder.path("other"));
  replace_file(one, "new");
  EXPECT_EQ(folder.text("other"), "new");
}

// In a folder of results it is the older results that keep another name.
TEST(Files, OfASetLeaveOtherNamesAlone) {
  const Folder folder;
  folder.write("stats.json", "old");
  fs::create_hard_link(folder.path("stats.json"), folder.path("snapshot"));
  EXPECT_EQ(save_files(folder.path(), {{"stats.json", "new"}}), "");
  EXPECT_EQ(folder.text("stats.json"), "new");
  EXPECT_EQ(folder.text("snapshot"), "old");
}

TEST(Files, DoNotReplacePipesAndDevices) {
  const Folder folder;
  const auto pipe = folder.path("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  replace_file(pipe, "through");
  char text[20] = {};
  EXPECT_EQ(read(reader, text, sizeof text), 7);
  close(reader);
  EXPECT_EQ(std::string(text), "through");
  EXPECT_TRUE(fs::is_fifo(pipe));

  fs::create_symlink("/dev/null", folder.path("null"));
  replace_file(folder.path("null"), "nothing");
  EXPECT_TRUE(fs::is_symlink(folder.path("null")));
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  fs::create_symlink("/dev/full", folder.path("full"));
  EXPECT_THAT(message([&] { replace_file(folder.path("full"), "much"); }),
              HasSubstr("No space left on device"));
  EXPECT_TRUE(fs::is_symlink(folder.path("full")));
}

// As a shell's redirection left it: behind what it has got so far.
TEST(Files, OfThisProcessAreContinued) {
  const Folder folder;
  const int file = open(folder.path("a").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_EQ(write(file, "before ", 7), 7);
  replace_file("/dev/fd/" + std::to_string(file), "within");
  ASSERT_EQ(write(file, " behind", 7), 7);
  close(file);
  EXPECT_EQ(folder.text("a"), "before within behind");
}

TEST(Files, ThatCannotBeWrittenAreWrittenElsewhere) {
  const Folder folder;
  EXPECT_EQ(save_file(folder.path("a"), "text"), "");
  fs::create_directory(folder.path("b"));
  const std::string said = save_file(folder.path("b"), "text");
  EXPECT_THAT(said, AllOf(StartsWith(folder.path("b") + ": cannot be written: Is a directory; it is in " +
                                     folder.path("b.")),
                          EndsWith(" instead")));
  const auto names = Folder::names_of(folder.path());
  ASSERT_EQ(names.size(), 3u);
  EXPECT_EQ(folder.text(names[2]), "text");

  // A folder that is not there: in the one for temporary files.
  const std::string lost = save_file(folder.path("none/c"), "text");
  const auto place = lost.find(fs::temp_directory_path().string() + "/weft-c.");
  ASSERT_NE(place, std::string::npos) << lost;
  const std::string other = lost.substr(place, lost.find(" instead") - place);
  EXPECT_EQ(fs::file_size(other), 4u);
  fs::remove(other);
}

TEST(Files, OfASetAreAllThereOrNone) {
  const Folder folder;
  fs::create_directory(folder.path("out"));
  folder.write("out/a", "old");
  fs::create_directory(folder.path("out/b"));
  const std::string said = save_files(folder.path("out/"), {{"a", "new"}, {"b", "new"}, {"c", "new"}});
  EXPECT_THAT(said,
              HasSubstr("b: cannot be written: Is a directory; the results are in " + folder.path("out-")));
  EXPECT_EQ(folder.text("out/a"), "old");
  EXPECT_EQ(Folder::names_of(folder.path("out")), (std::vector<std::string>{"a", "b"}));
  const auto names = Folder::names_of(folder.path());
  ASSERT_EQ(names.size(), 2u);
  EXPECT_EQ(Folder::names_of(folder.path(names[1])), (std::vector<std::string>{"a", "b", "c"}));
}

// Wherever a program is killed: where the last file of a set is, all are of one set.
TEST(Files, OfASetAreOfOneSetWhereTheLastOneIs) {
  const Folder folder;
  unsigned whole = 0;
  for (unsigned round = 0; round < 40; ++round) {
    int ends[2];
    ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      for (unsigned i = 0;; ++i) {
        const std::string text = std::to_string(round) + "." + std::to_string(i);
        const std::string said = save_files(folder.path(), {{"a", text}, {"b", text}, {"c", text}});
        if (!said.empty() || write(ends[1], "", 1) != 1) _exit(1);
      }
    }
    char written = 0;
    close(ends[1]);
    ASSERT_EQ(read(ends[0], &written, 1), 1) << "one set is there";
    usleep(round * 397 % 6000);
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    close(ends[0]);
    ASSERT_TRUE(WIFSIGNALED(status));
    if (!folder.has("c")) continue;
    ++whole;
    EXPECT_EQ(folder.text("a"), folder.text("c"));
    EXPECT_EQ(folder.text("b"), folder.text("c"));
  }
  EXPECT_GT(whole, 10u);
  remove_drafts(folder.path());
  EXPECT_LE(Folder::names_of(folder.path()).size(), 3u);
}

}  // namespace
}  // namespace weft::end_to_end::files_test
