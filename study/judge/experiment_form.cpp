#include "study/judge/experiment_form.h"

#include <string>
#include <vector>

namespace weft::study {
namespace {

using namespace shapes;  // NOLINT(google-build-using-namespace): the words of the table

Shape mean() {
  return one_of({"harmonic", "geometric", "arithmetic", "maximum", "minimum", "sum", "zeros"});
}

std::vector<Key> joined_keys(std::vector<Key> keys, const std::vector<Key>& more) {
  keys.insert(keys.end(), more.begin(), more.end());
  return keys;
}

// Every kind of program has these.
const std::vector<Key>& program_keys() {
  static const std::vector<Key> keys{
      optional("type", text(), "a class that the paper puts the program in, such as `A`"),
      optional("set", list(setting()), "keys of the configuration for this program alone"),
      optional("seconds", at_least(0),
               "about how many seconds of CPU it takes, for the order of runs before any was measured")};
  return keys;
}

// What a value is computed over.
const std::vector<Key>& chosen_keys() {
  static const std::vector<Key> keys{
      optional("programs", list(text()), "these programs, by `abbr`; default all"),
      optional("types", list(text()), "the programs of these types, in place of `programs`")};
  return keys;
}

std::vector<Form> file_forms() {
  return {
      {"experiment",
       "",
       {needed("title", text(), "heading of the page"),
        needed("place", text(), "section, figure, table or slide of the paper"),
        needed("config", text(), "the machine: the name of a configuration, or a file"),
        needed("programs", list(form("program")), "what runs"),
        needed("variants", list(form("variant")),
               "the machines or schemes that are compared; each program runs on each of them"),
        needed("measures", list(form("measure")), "what is read from each run"),
        optional("about", text(), "what was read into the paper, for the page"),
        optional("size", text(), "size of all workloads that have none of their own"),
        optional("set", list(setting()), "keys of the configuration for all runs"),
        optional("class", form("class"), "programs get their types from their runs"),
        optional("comparisons", list(form("comparison")), "ratios per program, with their means"),
        optional("numbers", list(form("number")), "what the page shows besides"),
        optional("tables", list(form("table")), "ours beside printed, per program"),
        optional("figures", list(form("figure")), "drawn as in the paper"),
        optional("claims", list(form("judged claim")), "claims of the paper that these runs judge"),
        optional("headline", list(text()),
                 "IDs of claims that `--sensitivity`, `--seeds` and `prices` look at"),
        optional("sensitivity", list(form("sensitivity")),
                 "what the paper does not print, and what else it might have been"),
        optional("prices", form("prices"), "the headline with other energies of events")}},

      {"program",
       "Its runs are one of these:",
       {},
       {form("workload"), form("PTX program"), form("CUDA program")}},
      {"workload", "",
       joined_keys(
           {needed("abbr", text(), "the paper's abbreviation, which names the program elsewhere in the file"),
            needed("workload", text(), "name of a workload (`weft list workloads`)"),
            optional("size", text(), "size of the workload; needed if the experiment has none"),
            optional("kernel", text(),
                     "all measures are of the launches of this kernel, as the PTX names it; one run serves "
                     "all kernels of a workload")},
           program_keys())},
      {"PTX program",
       "Paths start at the folder of the experiment. Each run is compared with a functional run.",
       joined_keys({needed("abbr", text(), "name of the program elsewhere in the file"),
                    needed("ptx", text(), "file of PTX"),
                    needed("grid", text(), "`x,y,z`, as for `weft run`"), needed("block", text(), "`x,y,z`"),
                    needed("arguments", list(text()),
                           "as `--arg` of `weft run`: `[\"ptr:256\", \"u32:5\"]`, at least one buffer"),
                    optional("kernel", text(), "name of the kernel, if the file has several"),
                    optional("shared", text(), "bytes of dynamic shared memory")},
                   program_keys())},
      {"CUDA program",
       "Each run is compared with a functional run: output, exit code and what was copied back.",
       joined_keys({needed("abbr", text(), "name of the program elsewhere in the file"),
                    needed("cuda", text(), "the program, a path from the folder of the experiment"),
                    optional("arguments", list(text(), 0), "its arguments")},
                   program_keys())},
      {"variant",
       "",
       {needed("name", text(), "name elsewhere in the file"),
        optional("label", text(), "name on the page; default `name`"),
        optional("config", text(), "a machine of its own, in place of the experiment's"),
        optional("set", list(setting()), "keys of the configuration, the scheme among them")}},

      {"measure",
       "",
       {},
       {{text().schema,
         "a column of `weft compare`, a derived value (`weft list measures`), or `speed` (1 / cycles)"},
        form("measure by path")}},
      {"measure by path",
       "A path has one of three forms. Steps with dots, such as `sm.memory.l1d.hits`, are of all SMs "
       "together. `/cycles` is a JSON pointer into `stats.json`. `launches.l1d_hits` is a column of "
       "`launches.csv`, of all launches. Programs with a `kernel` allow only the last. A value that a run "
       "does not have shows as `-`.",
       {needed("name", text(), "name elsewhere in the file"), needed("heading", text(), "name on the page"),
        optional("digits", whole(0, 9), "digits after the point; default 3"),
        optional("sum", list(text()), "paths whose sum it is"),
        optional("over", list(text()), "with `sum`: divided by the sum of these paths"),
        optional("times", list(text()), "with `sum`: multiplied by the sum of these paths"),
        optional("factor", number(), "with `sum`: multiplied by this number"),
        optional("largest", text(), "the largest of the instances that this path names"),
        optional("zeros", list(text()), "how many of these paths are 0")}},

      {"class",
       "A program whose `measure` under `variant` is below the limit has the first type, others have the "
       "second.",
       {needed("measure", text(), "a measure"), needed("variant", text(), "a variant"),
        needed("below", number(), "the limit"), needed("names", list_of(2, text()), "the two types"),
        optional("near", number(),
                 "the means are also given with programs this near to the limit in the other type"),
        optional("apart", list(text()), "the means are also given without these programs")}},
      {"comparison",
       "",
       {needed("measure", text(), "a measure"), needed("variant", text(), "a variant"),
        needed("over", list(text()), "the variants that it is divided by, each in turn")}},
      {"number",
       "",
       {needed("what", text(), "what it is"), needed("value", form("value"), "how it is computed"),
        optional("printed", text(), "what the paper prints, in words"), optional("note", text(), "a remark"),
        optional("digits", whole(0, 9), "digits after the point; default 3")}},
      {"table",
       "A table has rank correlations (Spearman). Measures in a table have no section of their own.",
       {needed("title", text(), "heading"), needed("variant", text(), "whose runs are shown"),
        needed("columns", list(form("table column")), "pairs of columns, ours and printed"),
        optional("about", text(), "text below the heading")}},
      {"table column",
       "",
       {needed("measure", text(), "ours"), needed("printed", text(), "ID of a series of this paper")}},

      {"judged claim",
       "It has one of `value`, `values` and `each`.",
       {needed("id", text(), "ID of a claim of this paper"),
        optional("value", form("value"), "how its number comes out of the runs"),
        optional("values", map(form("value")),
                 "an order, a best or a series: a value for each name that the claim has"),
        optional("each", form("each program"), "a series over programs: the same value of each program"),
        optional("readings", list(form("reading")),
                 "other readings of what the paper does not print, such as the kind of mean")}},
      {"each program",
       "",
       {needed("measure", text(), "a measure"), needed("variant", text(), "a variant"),
        optional("over", text(), "divided by the value of this variant")}},
      {"reading",
       "",
       {needed("name", text(), "name on the page"), optional("value", form("value"), "as in the claim"),
        optional("values", map(form("value")), "as in the claim")}},
      {"sensitivity",
       "Keys of `energy` change prices alone. They need no runs and are on every page.",
       {needed("key", text(), "a path of the configuration"),
        needed("values", list(any_of({plain(), form("values together")})), "other plausible values"),
        optional("variants", list(text()), "names of the variants that get them; without it, all"),
        needed("why", text(), "why they are plausible")}},
      {"values together",
       "Several keys change at once. Not for keys of `energy`.",
       {needed("value", plain(), "the value of `key`"),
        needed("with", list(setting()), "other keys of the configuration, set along with it")}},
      {"prices",
       "The energy of one kind of event at a time is multiplied; counts stay those of the runs. A verdict "
       "that changes depends on what is not printed.",
       {needed("times", list(above(0)), "factors, up to 1000"), needed("why", text(), "why")}},

      {"value",
       "",
       {},
       {form("measured value"), form("wins"), form("count"), form("first"), form("rank correlation"),
        form("difference"), form("quotient"), form("distance"), form("average"), form("largest"),
        form("smallest")}},
      {"measured value", "It needs a mean, or a single program.",
       joined_keys({needed("measure", text(), "a measure"), needed("variant", text(), "a variant"),
                    optional("over", text(), "per program, divided by the value of this variant"),
                    optional("mean", mean(),
                             "over the programs; `maximum` and `minimum` also give the program, `zeros` "
                             "counts values of 0")},
                   chosen_keys())},
      {"wins", "The number of programs in which a variant is above all the others.",
       joined_keys(
           {needed("wins", text(), "a variant"), needed("against", list(text()), "the other variants"),
            needed("measure", text(), "a measure")},
           chosen_keys())},
      {"count", "The number of programs above or below a limit.",
       joined_keys({needed("count", one_of({"above", "below"}), "which programs count"),
                    needed("limit", number(), "the limit"), needed("measure", text(), "a measure"),
                    needed("variant", text(), "a variant"),
                    optional("over", text(), "per program, divided by the value of this variant")},
                   chosen_keys())},
      {"first",
       "The least of some numbers whose program is above or below a limit.",
       {needed("first", one_of({"above", "below"}), "which programs count"),
        needed("limit", number(), "the limit"), needed("measure", text(), "a measure"),
        needed("variant", text(), "a variant"),
        needed("of", map(number()), "the number of each program: `{\"W1-32\": 1, \"W2-32\": 2}`"),
        optional("over", text(), "per program, divided by the value of this variant")}},
      {"rank correlation", "Spearman's, with what a series prints, over the programs of both.",
       joined_keys({needed("rank_correlation", text(), "ID of a series of this paper"),
                    needed("measure", text(), "a measure"), needed("variant", text(), "a variant"),
                    optional("over", text(), "per program, divided by the value of this variant")},
                   chosen_keys())},
      {"difference", "", {needed("difference", list_of(2, form("value")), "the first less the second")}},
      {"quotient", "", {needed("quotient", list_of(2, form("value")), "the first divided by the second")}},
      {"distance", "", {needed("distance", list_of(2, form("value")), "the difference without its sign")}},
      {"average", "", {needed("average", list(form("value")), "the arithmetic mean")}},
      {"largest", "", {needed("largest", list(form("value")), "the largest of them")}},
      {"smallest", "", {needed("smallest", list(form("value")), "the smallest of them")}},

      {"figure",
       "A figure without `x` has programs and means on the x axis, and a series per variant. `x` and "
       "`series` need each other. Series of variants make a panel for each of `programs` and `means`. Series "
       "of programs make a panel for each of `variants`. Series of values make one panel, and need `axis`.",
       {needed("title", text(), "heading; also names the files"),
        needed("place", text(), "figure of the paper"), optional("about", text(), "text below the picture"),
        optional("kind", one_of({"bars", "lines", "stacked"}),
                 "`bars` (default): a bar per variant; `stacked`: the `measures` one on top of the other; "
                 "`lines`: with `x` and `series`"),
        optional("measure", text(), "what is drawn"),
        optional("measures", list(text()), "in place of `measure`, for `stacked`"),
        optional("variants", list(any_of({text(), form("drawn variant")})), "which variants; default all"),
        optional("over", text(),
                 "values are ratios over this variant; parts of a stacked bar are parts of its whole bar"),
        optional("programs", list(text()), "which programs; default all, with `x` none"),
        optional("means", list(any_of({mean(), form("mean of some")})), "drawn behind the programs"),
        optional("order", form("order"), "programs in ascending order of a measure"),
        optional("x", list(text()), "texts on the x axis"),
        optional("series", list(form("series")), "with `x`"),
        optional("axis", text(), "name of the y axis; default that of the measure"),
        optional("x_axis", text(), "name of the x axis"),
        optional("scale", one_of({"linear", "log"}), "the y axis; default `linear`"),
        optional("kept", flag(),
                 "drawn without `--figures` too, and committed; at most a dozen of all experiments")}},
      {"drawn variant",
       "",
       {needed("variant", text(), "a variant"), optional("over", text(), "in place of that of the figure"),
        optional("label", text(), "name in the legend"),
        optional("measure", text(), "in place of that of the figure"),
        optional("measures", list(text()), "in place of those of the figure")}},
      {"mean of some",
       "",
       {needed("mean", mean(), "the kind"),
        optional("types", list(text()), "over the programs of these types"),
        optional("programs", list(text()), "over these programs"),
        optional("label", text(), "name on the x axis")}},
      {"order", "", {needed("measure", text(), "a measure"), needed("variant", text(), "a variant")}},
      {"series",
       "It has one of `variants`, `programs` and `values`: an entry per text on the x axis. `null` leaves "
       "one out.",
       {needed("label", text(), "name in the legend"),
        optional("variants", list(any_of({text(), form("drawn variant"), nothing()})), "a variant per text"),
        optional("programs", list(any_of({text(), nothing()})), "a program per text"),
        optional("values", list(any_of({form("value"), form("value of a claim"), nothing()})),
                 "a value per text")}},
      {"value of a claim",
       "",
       {needed("claim", text(), "ID of a claim of this experiment"),
        optional("name", text(), "which of the claim's values, if it has several")}}};
}

}  // namespace

const FileForm& experiment_form() {
  static const FileForm file{
      "experiment",
      "PAPER/NAME/experiment.json",
      "The file `PAPER/NAME/experiment.json`. The folders give it its paper and its name.",
      {},
      file_forms()};
  return file;
}

}  // namespace weft::study
