// Pictures of an experiment's figures, which the script draw_figures makes of NAME.json with Matplotlib, and
// their place on the page.
#ifndef WEFT_STUDY_PAGE_DRAWING_H
#define WEFT_STUDY_PAGE_DRAWING_H

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "study/page/page.h"

namespace weft::study {

// What draw_figures ends with where Python has no Matplotlib.
constexpr int kNoMatplotlib = 3;

// In the folder $WEFT_DRAWING, or with the program.
std::string drawing_script();

// Which figures are drawn.
enum class Drawings : std::uint8_t {
  kNone,
  kKept,  // those of headlines, as SVG
  kAll    // each as SVG and as PDF
};

// Draws `figures`, as NAME.json (`file`) has them, with the Python program `script`, to figures/ beside that
// file. Empty: all of `drawings` are drawn, or there are none; else why not.
std::string draw_figures(const nlohmann::ordered_json& figures, Drawings drawings, const std::string& file,
                         const std::string& script);

// A line for the terminal: how many are drawn, to files that begin with `base`, or why none is.
std::string drawing_message(const nlohmann::ordered_json& figures, Drawings drawings,
                            const std::string& undrawn, const std::string& base);

// Sections before all others: one for each picture, unless `undrawn` says why there is none, and one that
// lists the other figures, which `command` draws.
void add_figures(const nlohmann::ordered_json& figures, Drawings drawings, const std::string& undrawn,
                 const std::string& command, Page& page);

}  // namespace weft::study

#endif
