#include "study/judge/library_form.h"

#include <utility>

#include "study/judge/experiment_form.h"
#include "study/plan/plan_form.h"

namespace weft::study {
namespace {

using namespace shapes;  // NOLINT(google-build-using-namespace): the words of the table

struct ClaimTypeText {
  const char* name;
  const char* meaning;
};
constexpr ClaimTypeText kClaimTypes[] = {{"ratio", "one variant divided by another"},
                                         {"change", "points by which a ratio moves"},
                                         {"share", "a part of a whole, from 0 to 1"},
                                         {"count", "a whole number"},
                                         {"amount", "a size, such as an area"},
                                         {"maximum", "the highest value, and perhaps its program"},
                                         {"minimum", "the lowest value, and perhaps its program"},
                                         {"bound", "a limit that holds"},
                                         {"range", "a value between two numbers"},
                                         {"order", "some variants or programs are above others"},
                                         {"best", "one of these is the best"},
                                         {"series", "a value for each of some names"}};

std::vector<std::string> claim_types() {
  std::vector<std::string> names;
  for (const ClaimTypeText& type : kClaimTypes) names.emplace_back(type.name);
  return names;
}

std::vector<Key> rule_keys() {
  std::vector<Key> keys;
  for (const ClaimTypeText& type : kClaimTypes) keys.push_back(needed(type.name, form("rule"), type.meaning));
  return keys;
}

std::vector<Key> rule_numbers() {
  std::vector<Key> keys;
  for (const auto& [name, meaning] : std::vector<std::pair<const char*, const char*>>{
           {"third", "part of an effect or share by which ours may differ"},
           {"small_effect", "an effect below it is compared by its sign"},
           {"least_effect", "an effect below it is no trend"},
           {"share_points", "points by which a share may differ"},
           {"count", "part of a count or amount by which ours may differ"},
           {"count_trend", "the same for the same trend"},
           {"near_best", "how far below the best is near"},
           {"series", "part of the entries of a series that must be reproduced"},
           {"series_rank", "rank correlation for the same trend"}})
    keys.push_back(needed(name, between(0, 1), meaning));
  return keys;
}

// What is measured of a machine, with keys that stand beside it.
std::vector<Key> measured_keys(std::vector<Key> keys) {
  for (Key& key : std::vector<Key>{
           needed("machine", text(), "one of `machines`"),
           needed("parts", list(text()), "parts of the scheme or the registers, as `weft area` names them"),
           needed("value", one_of({"mm2", "ns", "bits", "chip_share"}), "what is measured"),
           needed("per", one_of({"array", "domain", "sm", "chip"}),
                  "the part of the chip that it is summed over"),
           optional("kinds", list(one_of({"RAM", "tags", "CAM", "crossbar"})),
                    "arrays of these kinds; default all"),
           optional("set", list(text()), "further keys of the configuration"),
           optional("plus", number(), "added to the value"),
           optional("over", number(), "the value is divided by it first")})
    keys.push_back(std::move(key));
  return keys;
}

}  // namespace

const FileForm& library_form() {
  static const FileForm file{
      "library",
      "library.json",
      "The file `library.json`: the papers, and the rules of verdicts ([VERDICTS.md](VERDICTS.md)).",
      {},
      {{"library",
        "",
        {needed("papers", list(form("paper")), "the papers in their order"),
         needed("rules", form("rules"), "the rules of verdicts")}},
       {"paper",
        "",
        {needed("name", text(), "name on pages"),
         needed("folder", text(), "folder beside this file, with the experiments of the paper"),
         needed("title", text(), "authors, title, year")}},
       {"rules",
        "",
        {needed("numbers", form("numbers of the rules"), "the limits"),
         needed("verdicts", list(text()), "names of the verdicts"),
         needed("causes", list(text()), "kinds of causes"),
         needed("depends_on_unprinted", text(), "when a verdict is `depends on unprinted`, in words"),
         needed("types", form("rules by type"), "the rule of each type of claim, in words")}},
       {"numbers of the rules", "", rule_numbers()},
       {"rules by type", "", rule_keys()},
       {"rule",
        "",
        {needed("reproduced", text(), "when a claim is reproduced"),
         needed("same_trend", text(), "when it has the same trend")}}}};
  return file;
}

const FileForm& claims_form() {
  static const FileForm file{
      "claims",
      "PAPER/claims.json",
      "The file `PAPER/claims.json`: what a paper claims. A paper without claims needs no such file.",
      list(form("claim"), 0),
      {{"claim",
        "",
        {needed("id", text(), "unique: paper, subject, and what is measured, as in `harp.speedup.sbr.mean`"),
         needed("place", text(), "section, figure, table or slide"),
         needed("type", one_of(claim_types()), "which rule judges it"),
         needed(
             "printed",
             any_of({number(), list_of(2, number()), list(list_of(2, text())), list(text()), map(number())}),
             "in the unit of the type: 1.10 if the text says 10 % faster; the ends of a range; pairs of "
             "names, the higher one first, for an order; names for a best; a number for each name of a "
             "series"),
         needed("as_printed", text(), "the number as the paper has it; `in words` if it prints none"),
         needed("statement", text(), "what is claimed, in our words"),
         optional("of", one_of({"ratio", "share", "count", "amount"}),
                  "`maximum`, `minimum` and `series` only: the type of a single value"),
         optional("relation", one_of({"below", "at most", "at least"}), "`bound` only"),
         optional("program", text(), "the program that the paper names"),
         optional("note", text(), "a remark, such as: the paper contradicts itself here")}}}};
  return file;
}

const FileForm& causes_form() {
  static const FileForm file{
      "causes",
      "PAPER/causes.json",
      "The file `PAPER/causes.json`: why a claim does not come out, by the ID of the claim.",
      map(form("cause"), 0),
      {{"cause",
        "",
        {needed("cause", one_of({"mechanism", "machine", "program"}), "its kind"),
         needed("text", text(), "the cause in words"),
         needed("counter", text(), "the statistic that shows it"),
         needed("run", text(), "a command that removes the cause, and with it the effect")}}}};
  return file;
}

const FileForm& groups_form() {
  static const FileForm file{
      "groups",
      "groups.json",
      "The file `groups.json`: which experiments a name such as `all` stands for.",
      map(form("group")),
      {{"group",
        "",
        {needed("about", text(), "a line for the list of groups"),
         needed("experiments", list(text()), "names of experiments in their order; `area` for the areas"),
         optional("size", text(), "size of all workloads, in place of their own")}}}};
  return file;
}

const FileForm& area_form() {
  static const FileForm file{
      "area",
      "area.json",
      "The file `area.json`: which arrays of which machine stand beside a claim about area or access time.",
      {},
      {{"area",
        "",
        {needed("title", text(), "heading of the page"), needed("about", text(), "text of the page"),
         needed("machines", map(form("area machine")), "machines by name"),
         needed("claims", list(form("area claim")), "claims with their arrays"),
         needed("groups", list(form("area group"), 0), "further tables")}},
       {"area machine",
        "",
        {needed("config", text(), "a configuration"),
         optional("scheme", text(), "as `--schemes` of `weft compare` has it"),
         optional("set", list(text()), "keys of the configuration"),
         optional("unprinted", list(text()),
                  "other plausible settings, each one or more with spaces between them")}},
       {"area claim", "", measured_keys({needed("id", text(), "ID of a claim")})},
       {"area group",
        "",
        {needed("title", text(), "heading"), needed("about", text(), "text"),
         needed("lines", list(any_of({form("area line"), form("array line")})), "rows of the table")}},
       {"area line", "",
        measured_keys({needed("what", text(), "what it is"),
                       optional("printed", text(), "what the paper prints, in words")})},
       {"array line",
        "An array that no machine has, such as one that a paper may have asked CACTI for.",
        {needed("what", text(), "what it is"), needed("array", form("array"), "the array"),
         needed("value", one_of({"mm2", "ns"}), "what is measured"),
         optional("printed", text(), "what the paper prints, in words")}},
       {"array",
        "",
        {needed("kind", one_of({"RAM", "tags", "CAM", "crossbar"}), "what it is"),
         needed("entries", number(), "rows; inputs of a crossbar"), needed("bits", number(), "bits of a row"),
         needed("node_nm", number(), "process in nm"),
         optional("ways", number(), "ways, or outputs of a crossbar"),
         optional("copies", number(), "how many of them")}}}};
  return file;
}

std::vector<const FileForm*> study_files() {
  return {&experiment_form(), &claims_form(), &causes_form(), &library_form(),
          &groups_form(),     &area_form(),   &plan_form()};
}

std::string reference_of_study_files() {
  std::string text =
      "# Reference: the files of experiments and sweeps\n\n`weft schema --reference` makes this page from "
      "the table that the program reads these files by.\n`weft schema NAME` prints the JSON Schema of a "
      "file, for editors. A file that is an object may name it as `$schema`.\nReaders also check rules that "
      "join several keys. A message says where a mistake is and what is allowed.\n\n| file | what "
      "|\n|---|---|\n";
  for (const FileForm* file : study_files())
    text.append("| [")
        .append(file->name)
        .append("](#")
        .append(file->name)
        .append(") | `")
        .append(file->path)
        .append("` |\n");
  text += "\n";
  for (const FileForm* file : study_files()) text += reference_of(*file);
  text.pop_back();
  return text;
}

}  // namespace weft::study
