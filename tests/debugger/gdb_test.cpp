// Debian's gdb-multiarch, driven by scripts, at `weft run --gdb` and `weft cuda --gdb`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "debugger/connection.h"
#include "debugger/session.h"

namespace weft::debugger {
namespace gdb_test {

using end_to_end::Exit;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using Words = std::vector<std::string>;

constexpr char kSteps[] = R"(.version 7.0
.target sm_70
.address_size 64
.file 1 "steps.cu"
.visible .global .align 4 .u32 total;
.visible .entry _Z5stepsPj(.param .u64 out)
{
  .reg .pred %p<2>;
  .reg .b32 %r<8>;
  .reg .b64 %rd<5>;
  .shared .align 4 .b8 tile[256];
  .loc 1 10 0
  mov.u32 %r1, %tid.x;
  and.b32 %r2, %r1, 1;
  .loc 1 11 0
  setp.eq.u32 %p1, %r2, 0;
  @%p1 bra EVEN;
  .loc 1 12 0
  mul.lo.u32 %r3, %r1, 10;
  bra.uni JOIN;
EVEN:
  .loc 1 14 0
  add.u32 %r3, %r1, 100;
JOIN:
  .loc 1 16 0
  mov.u32 %r4, tile;
  shl.b32 %r5, %r1, 2;
  add.u32 %r4, %r4, %r5;
  st.shared.u32 [%r4], %r3;
  .loc 1 17 0
  bar.sync 0;
  .loc 1 18 0
  ld.param.u64 %rd1, [out];
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r3;
  .loc 1 19 0
  mov.u64 %rd4, total;
  atom.global.add.u32 %r6, [%rd4], 1;
  .loc 1 20 0
  ret;
}
)";

struct Steps {
  test::Folder folder;
  Words run = {"run",    "--ptx",     folder.write("steps.ptx", kSteps),
               "--grid", "2,1,1",     "--block",
               "64,1,1", "--arg",     "ptr:256",
               "--set",  "sm.count=2"};
};

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

// A breakpoint on a line stops one thread for which its condition holds, in a warp that has parted there.
TEST(Gdb, StopsAtALineAndSteps) {
  Steps steps;
  Session session(steps.run);
  const std::string said = session.gdb({"break steps.cu:14 if $tid_x == 6 && $ctaid_x == 1", "continue",
                                        "printf \"r1 %d tid %d block %d\\n\", $r1, $tid_x, $ctaid_x", "next",
                                        "printf \"r3 %d\\n\", $r3", "bt", "delete", "continue"});
  EXPECT_THAT(said,
              AllOf(HasSubstr("hit Breakpoint 1, steps () at steps.cu:14"), HasSubstr("r1 6 tid 6 block 1"),
                    HasSubstr("steps () at steps.cu:16"), HasSubstr("r3 106"), HasSubstr("exited normally")))
      << said;
  EXPECT_EQ(count(said, "#1 "), 0u) << said;  // a kernel has no caller
  EXPECT_EQ(session.wait().code, 0) << session.wait().err;
}

TEST(Gdb, ShowsThreadsRegistersAndMemory) {
  Steps steps;
  Session session(steps.run);
  const std::string said =
      session.gdb({"info threads", "break steps.cu:17", "continue", "info registers r1 r3 rd1 pc",
                   "x/2dw 0x1000000", "stepi", "x/i $pc", "print $_exitcode", "detach"});
  // Both blocks are there.
  EXPECT_EQ(count(said, "block (0,0,0) thread"), 64u) << said;
  EXPECT_EQ(count(said, "block (1,0,0) thread"), 64u) << said;
  EXPECT_THAT(said, HasSubstr("block (1,0,0) thread (63,0,0), SM 1 warp 1")) << said;
  // %r3 is still to be read, %r1 too; %rd1 has no value yet.
  EXPECT_THAT(said, HasSubstr("rd1            <unavailable>")) << said;
  EXPECT_THAT(said, HasSubstr("detached")) << said;
  EXPECT_EQ(session.wait().code, 0) << session.wait().err;
}

// A warp that has parted comes to line 16 in two parts if its scheme lets it; each issue stops once.
TEST(Gdb, StopsOnceForEachIssue) {
  Steps steps;
  Session session(steps.run);
  Words commands{"break steps.cu:14"};
  for (int i = 0; i < 5; ++i) commands.emplace_back("continue");
  const std::string said = session.gdb(commands);
  EXPECT_EQ(count(said, "hit Breakpoint 1"), 4u) << said;  // warps
  EXPECT_THAT(said, HasSubstr("exited normally")) << said;
  EXPECT_EQ(session.wait().code, 0);
}

TEST(Gdb, WatchesMemory) {
  Steps steps;
  Session session(steps.run);
  const std::string said =
      session.gdb({"watch *(unsigned*)&total", "continue", "continue", "info watchpoints", "delete",
                   "rwatch *(unsigned*)&total", "continue", "delete", "break steps.cu:20 if $tid_x == 40",
                   "continue", "set $at = $rd3", "detach"});
  EXPECT_THAT(said, HasSubstr("Hardware watchpoint 1: *(unsigned*)&total")) << said;
  EXPECT_THAT(said, HasSubstr("Old value = 0")) << said;
  EXPECT_THAT(said, HasSubstr("New value = 32")) << said;
  EXPECT_THAT(said, HasSubstr("New value = 64")) << said;
  EXPECT_THAT(said, HasSubstr("Hardware read watchpoint 2")) << said;
  EXPECT_THAT(said, HasSubstr("hit Breakpoint 3")) << said;
  EXPECT_EQ(session.wait().code, 0);
}

// What GDB writes is what the kernel then reads.
TEST(Gdb, WritesRegistersAndMemory) {
  Steps steps;
  const std::string dump = steps.folder.path("out");
  Words run = steps.run;
  run.insert(run.end(), {"--dump", "0=" + dump, "--set", "sm.count=1"});
  run[4] = "1,1,1";
  Session session(run);
  const std::string said = session.gdb({"break steps.cu:18 if $tid_x == 5", "continue", "set var $r3 = 12345",
                                        "set var *(unsigned*)&total = 1000", "delete", "break steps.cu:20",
                                        "continue", "print *(unsigned*)&total", "detach"});
  EXPECT_THAT(said, HasSubstr("= 1032")) << said;
  EXPECT_EQ(session.wait().code, 0);
  const std::string out = steps.folder.text("out");
  ASSERT_EQ(out.size(), 256u);
  EXPECT_EQ(static_cast<unsigned char>(out[20]) | static_cast<unsigned char>(out[21]) << 8, 12345);
}

// Simulated time stands while GDB has stopped the threads.
TEST(Gdb, ChangesNoStatistics) {
  Steps steps;
  Words plain = steps.run;
  plain.insert(plain.end(), {"--out", steps.folder.path("plain")});
  ASSERT_EQ(end_to_end::weft(plain).code, 0);
  Words debugged = steps.run;
  debugged.insert(debugged.end(), {"--out", steps.folder.path("debugged")});
  Session session(debugged);
  Words commands{"break steps.cu:12", "break steps.cu:17 if $tid_x == 33", "watch *(unsigned*)&total"};
  for (int i = 0; i < 4; ++i)
    commands.insert(commands.end(), {"continue", "stepi", "next", "info registers r1"});
  commands.insert(commands.end(), {"delete", "continue"});
  const std::string said = session.gdb(commands);
  EXPECT_GE(count(said, "hit Breakpoint"), 3u) << said;
  EXPECT_THAT(said, HasSubstr("exited normally")) << said;
  EXPECT_EQ(session.wait().code, 0);
  const auto statistics = [&](const char* file) {
    auto all = steps.folder.json(file);
    for (const char* of_the_host : {"cpu_seconds", "wall_seconds", "peak_memory_bytes"})
      all.erase(of_the_host);
    return all;
  };
  EXPECT_EQ(statistics("plain/stats.json"), statistics("debugged/stats.json"));
}

// A thread that executes `ret` stands at `thread_ended` when the step is over.
TEST(Gdb, StepsToTheEndOfAThread) {
  Steps steps;
  Session session(steps.run);
  const std::string said = session.gdb(
      {"break steps.cu:20 if $tid_x == 3", "continue", "next", "stepi", "stepi", "delete", "continue"});
  EXPECT_THAT(said, AllOf(HasSubstr("thread_ended ()"), HasSubstr("exited normally"))) << said;
  EXPECT_EQ(session.wait().code, 0);
}

// Device functions have frames: `next` steps over a call, `step` into it, `finish` out of it.
TEST(Gdb, KnowsCallers) {
  test::Folder folder;
  const std::string ptx = folder.write("calls.ptx", R"(.version 7.0
.target sm_70
.address_size 64
.file 1 "calls.cu"
.func (.param .u32 result) inner(.param .u32 x)
{
  .reg .b32 %r<3>;
  .loc 1 3 0
  ld.param.u32 %r1, [x];
  add.u32 %r2, %r1, 7;
  .loc 1 4 0
  st.param.u32 [result], %r2;
  ret;
}
.func (.param .u32 result) outer(.param .u32 x)
{
  .reg .b32 %r<4>;
  .loc 1 8 0
  ld.param.u32 %r1, [x];
  .loc 1 9 0
  { .param .u32 p; .param .u32 q;
  st.param.u32 [p], %r1;
  call (q), inner, (p);
  ld.param.u32 %r2, [q]; }
  .loc 1 10 0
  add.u32 %r3, %r2, %r1;
  st.param.u32 [result], %r3;
  ret;
}
.visible .entry calls(.param .u64 out)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<4>;
  .loc 1 20 0
  mov.u32 %r1, %tid.x;
  .loc 1 21 0
  { .param .u32 p; .param .u32 q;
  st.param.u32 [p], %r1;
  call (q), outer, (p);
  ld.param.u32 %r2, [q]; }
  .loc 1 22 0
  ld.param.u64 %rd1, [out];
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  .loc 1 23 0
  st.global.u32 [%rd3], %r2;
  ret;
}
)");
  const Words run{"run",    "--ptx", ptx,       "--grid",   "2,1,1", "--block",
                  "64,1,1", "--arg", "ptr:256", "--kernel", "calls"};
  {
    Session session(run);
    const std::string said =
        session.gdb({"break calls.cu:3 if $tid_x == 37 && $ctaid_x == 1", "continue", "bt", "up", "delete",
                     "finish", "next", "next", "printf \"tid %d r2 %d\\n\", $tid_x, $r2", "continue"});
    EXPECT_THAT(said, AllOf(HasSubstr("#0  inner () at calls.cu:3\n#1  0x"),
                            HasSubstr(" in outer () at calls.cu:9\n#2  0x"),
                            HasSubstr(" in calls () at calls.cu:21\n"), HasSubstr("tid 37 r2 81"),
                            HasSubstr("exited normally")))
        << said;
    EXPECT_EQ(session.wait().code, 0);
  }
  Session session(run);
  const std::string said =
      session.gdb({"break calls.cu:21 if $tid_x == 37 && $ctaid_x == 1", "continue", "delete", "next",
                   "printf \"tid %d r2 %d\\n\", $tid_x, $r2", "continue"});
  EXPECT_THAT(said,
              AllOf(HasSubstr("22\tin calls.cu"), HasSubstr("tid 37 r2 81"), HasSubstr("exited normally")))
      << said;
}

TEST(Gdb, LinesOfPtxWithoutLoc) {
  test::Folder folder;
  std::string text = kSteps;
  for (auto at = text.find("  .loc"); at != std::string::npos; at = text.find("  .loc"))
    text.replace(at, 6, "  //loc");
  const std::string ptx = folder.write("bare.ptx", text);
  Session session({"run", "--ptx", ptx, "--grid", "1,1,1", "--block", "32,1,1", "--arg", "ptr:128"});
  const std::string said = session.gdb({"break bare.ptx:23", "continue", "list 23,23", "next", "kill"});
  EXPECT_THAT(said, AllOf(HasSubstr("bare.ptx:23"), HasSubstr("26\t"), HasSubstr("add.u32 %r3, %r1, 100;"),
                          HasSubstr("killed")))
      << said;
  EXPECT_EQ(session.wait().code, 3) << session.wait().err;
}

TEST(Gdb, TellsOfFaults) {
  test::Folder folder;
  std::string text = kSteps;
  text.replace(text.find("add.s64 %rd3, %rd1, %rd2"), 24, "mov.u64 %rd3, 64;       ");
  Session session({"run", "--ptx", folder.write("bad.ptx", text), "--grid", "1,1,1", "--block", "32,1,1",
                   "--arg", "ptr:128"});
  const std::string said = session.gdb({"continue", "info registers rd3", "continue"});
  EXPECT_THAT(said, AllOf(HasSubstr("SIGSEGV"), HasSubstr("steps () at steps.cu:18"),
                          HasSubstr("exited with code 03")))
      << said;
  EXPECT_EQ(session.wait().code, 3);
}

// Control-C in a kernel that never ends.
TEST(Gdb, Interrupts) {
  test::Folder folder;
  std::string text = kSteps;
  text.replace(text.find("bra.uni JOIN"), 12, "bra.uni ODD ");
  text.replace(text.find("  mul.lo.u32"), 2, "ODD: ");
  text.replace(text.find("mul.lo.u32 %r3, %r1, 10"), 23, "add.u32 %r1, %r1, 2    ");
  Session session({"run", "--ptx", folder.write("loop.ptx", text), "--grid", "1,1,1", "--block", "32,1,1",
                   "--arg", "ptr:128"});
  session.wait_for_symbols();
  Client client(session.port());
  EXPECT_THAT(client.ask("?"), MatchesRegex("T05.*thread:1;"));
  client.send(packet_of("vCont;c"));
  client.send("\x03");
  EXPECT_THAT(client.receive(), MatchesRegex("T02.*thread:.*;"));
  client.send(packet_of("k"));
  EXPECT_EQ(session.wait().code, 3) << session.wait().err;
}

// Whatever a client says; and one that is gone lets the run go on.
TEST(Gdb, NeedsNoGoodClient) {
  Steps steps;
  Session session(steps.run);
  session.wait_for_symbols();
  {
    Client client(session.port());
    client.send("nonsense $m10#00 $$$ }#");
    client.send(std::string(200'000, 'x'));
    for (const char* packet : {"",
                               "p",
                               "pffff",
                               "P",
                               "P10=",
                               "m",
                               "m1",
                               "m1,",
                               "mffffffffffffffff,10",
                               "m0,fffffff",
                               "M1,1",
                               "M0,1:0",
                               "X0,5:a",
                               "H",
                               "Hg",
                               "Hz1",
                               "Hg123456789",
                               "T",
                               "Z",
                               "Z9,1,1",
                               "z0",
                               "vCont;x",
                               "vContz",
                               "qXfer:threads:read::",
                               "qXfer:features:read:other:0,1",
                               "qXfer:memory-map:read::0,1",
                               "!",
                               "QNonStop:1",
                               "qThreadExtraInfo,zz"}) {
      client.send(packet_of(packet));
    }
    std::string last = client.ask("qC");
    while (last != "QC1") last = client.receive();
    EXPECT_EQ(client.ask("qAttached"), "1");
  }
  EXPECT_EQ(session.wait().code, 0) << session.wait().err;
  EXPECT_THAT(session.wait().err, HasSubstr("gdb is gone; the run goes on without it"));
}

// A kernel of a module that is loaded when GDB has been there for long.
TEST(Gdb, StopsInModulesThatComeLater) {
  Session session({"cuda", "--quiet", "--set", "sm.count=1"}, {"--", TWO_MODULES});
  const std::string said = session.gdb({"break sooner.cu:11", "break later.cu:20", "continue", "print $r2",
                                        "print *(unsigned*)$rd1 + 500", "continue", "next", "print $r2",
                                        "info threads", "stepi", "continue"});
  // The second breakpoint is at the kernel's first instruction.
  EXPECT_THAT(said, AllOf(HasSubstr("Breakpoint 1, sooner () at sooner.cu:11"), HasSubstr("$1 = 11"),
                          HasSubstr("$2 = 501"), HasSubstr("Breakpoint 2, later () at later.cu:20"),
                          HasSubstr("$3 = 111"), HasSubstr("exited with code 07")))
      << said;
  EXPECT_EQ(session.wait().code, 7) << session.wait().err;
  EXPECT_THAT(session.wait().out, HasSubstr("result 111"));
}

TEST(Gdb, NeedsAPort) {
  Steps steps;
  const auto refused = [&](const Words& more) {
    Words words = steps.run;
    words.insert(words.end(), more.begin(), more.end());
    const Exit exit = end_to_end::weft(words);
    EXPECT_EQ(exit.code, 2) << exit.err;
    return exit.err;
  };
  EXPECT_THAT(refused({"--gdb", "65536"}), HasSubstr("0 to 65535"));
  EXPECT_THAT(refused({"--gdb", "port"}), HasSubstr("--gdb"));
  EXPECT_THAT(refused({"--gdb-symbols", "x.elf"}), HasSubstr("needs --gdb"));
  EXPECT_THAT(refused({"--gdb", "0", "--functional"}), HasSubstr("--gdb: is not allowed with --functional"));
  EXPECT_THAT(refused({"--gdb", "0", "--check", "scalar"}), HasSubstr("--check scalar"));
  EXPECT_THAT(refused({"--gdb", "0", "--gdb-symbols", "/nowhere/x.elf"}), HasSubstr("cannot be written"));
  const Connection taken(0);
  EXPECT_THAT(refused({"--gdb", std::to_string(taken.port())}), HasSubstr("a port that is not in use"));
}

}  // namespace gdb_test
}  // namespace weft::debugger
