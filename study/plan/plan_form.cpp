#include "study/plan/plan_form.h"

namespace weft::study {

const FileForm& plan_form() {
  using namespace shapes;  // NOLINT(google-build-using-namespace): the words of the table
  static const FileForm file{
      "sweep",
      "FILE.json",
      "The file of `weft sweep FILE.json`. It gives a run for each combination of the values of its axes.",
      {},
      {{"sweep",
        "",
        {needed("axes", list(form("axis")),
                "what the runs differ in; exactly one axis is `workload` or `program`"),
         optional("title", text(), "name of the sweep, by default that of the file"),
         optional("config", text(), "the machine: a name or a file, by default `gtx480`"),
         optional("set", list(setting(), 0), "keys of the configuration, for all runs"),
         optional("limits", form("limits"), "limits of each run"),
         optional("screening", form("screening"), "few runs that show the effect of many axes"),
         optional("halving", form("halving"), "a search that gives long runs to the best candidates only")}},
       {"axis",
        "The last axis changes fastest. Names of an object come in alphabetical order.",
        {needed("name", text(),
                "`workload`, `size`, `config`, `scheme`, `seed`, `program`, a path of the configuration, or "
                "a free name"),
         needed("values",
                any_of({list(plain()), map(any_of({form("program of a sweep"), list(setting(), 0)}))}),
                "a list for all but `program` and free names; an object for these: programs, or settings of "
                "the configuration")}},
       {"program of a sweep",
        "A program of your own, with one of `ptx` and `cuda`. Each of its runs is compared with a functional "
        "run.",
        {optional("ptx", text(), "file of PTX, a path from the folder of the sweep"),
         optional("cuda", text(), "CUDA program, a path from the folder of the sweep"),
         optional(
             "arguments", list(text(), 0),
             "options of `weft run --ptx` (`--grid`, `--block`, `--arg`), or arguments of the program")}},
       {"limits",
        "A run that passes a limit ends as `time`, `memory` or `fault`.",
        {optional("seconds", above(0), "time that a run may take"),
         optional("mebibytes", above(0), "memory of the process"),
         optional("core_cycles", above(0), "simulated cycles")}},
       {"screening",
        "A design of Plackett and Burman varies the factors together. All other axes are combined as usual.",
        {needed("factors", list(text()), "names of axes of two values each, 23 at most"),
         optional("foldover", flag(), "twice as many runs, which keep effects apart from pairs of factors")}},
       {"halving",
        "Successive halving: all candidates run with the first budget, and the best ones with the next.",
        {needed("rungs", text(),
                "the axis whose values, in their order, are the budgets, the cheapest first"),
         needed("metric", text(),
                "a number of `stats.json` by its path with dots, or `energy`, `edp`, `area`"),
         optional("goal", one_of({"least", "most"}),
                  "whether the best has the `least` (default) or the `most`"),
         optional("keep_one_in", whole(2, kMostPoints),
                  "one of so many candidates goes on to the next rung, rounded up; default 3"),
         optional("mean_over", list(text(), 0),
                  "axes over which a candidate has one score; default `workload` or `program`, `size`, "
                  "`seed`, without the axis of the rungs"),
         optional("cumulative", flag(),
                  "a score also counts the rungs before: when rungs are other programs or seeds")}}}};
  return file;
}

}  // namespace weft::study
