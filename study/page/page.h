// A page of text and tables, as Markdown or for a terminal.
#ifndef WEFT_STUDY_PAGE_PAGE_H
#define WEFT_STUDY_PAGE_PAGE_H

#include <string>
#include <vector>

#include "study/terminal/paint.h"

namespace weft::study {

struct Table {
  std::vector<std::string> headings;
  std::vector<std::vector<std::string>> rows;  // each with a cell per heading
};

struct Section {
  std::string title;
  std::vector<std::string> paragraphs;
  Table table;  // after the paragraphs; without headings: none
};

struct Page {
  std::string title;
  std::vector<std::string> paragraphs;
  std::vector<Section> sections;
};

std::string markdown(const Page& page);
// Columns aligned: text to the left, numbers to the right.
std::string plain(const Page& page, const Paint& paint = {});

}  // namespace weft::study

#endif
