// What a plugin exports, and the string by which the program that loads it knows whether both were made of
// the same headers by compatible compilers. A plugin's author needs neither: weft_add_plugin() (CMake)
// compiles plugin_entry.cpp into the plugin.
#ifndef WEFT_COMMON_PLUGIN_ABI_H
#define WEFT_COMMON_PLUGIN_ABI_H

#include <string>  // the standard library's macros

#include "weft/common/parts.h"
#include "weft_plugin_headers.h"  // WEFT_PLUGIN_HEADERS: a hash of the contracts' headers

#define WEFT_TEXT_OF_(x) #x
#define WEFT_TEXT_OF(x) WEFT_TEXT_OF_(x)

#if defined(__clang__)
#define WEFT_COMPILER "clang " WEFT_TEXT_OF(__clang_major__)
#else
#define WEFT_COMPILER "gcc " WEFT_TEXT_OF(__GNUC__)
#endif
#if defined(_LIBCPP_VERSION)
#define WEFT_STANDARD_LIBRARY "libc++ " WEFT_TEXT_OF(_LIBCPP_ABI_VERSION)
#elif defined(_GLIBCXX_DEBUG)
#define WEFT_STANDARD_LIBRARY \
  "libstdc++ " WEFT_TEXT_OF(_GLIBCXX_RELEASE) ", strings " WEFT_TEXT_OF(_GLIBCXX_USE_CXX11_ABI) ", debug"
#else
#define WEFT_STANDARD_LIBRARY \
  "libstdc++ " WEFT_TEXT_OF(_GLIBCXX_RELEASE) ", strings " WEFT_TEXT_OF(_GLIBCXX_USE_CXX11_ABI)
#endif
#define WEFT_PLUGIN_ABI                             \
  "headers " WEFT_PLUGIN_HEADERS "; " WEFT_COMPILER \
  ", C++ ABI " WEFT_TEXT_OF(__GXX_ABI_VERSION) "; " WEFT_STANDARD_LIBRARY

extern "C" {
__attribute__((visibility("default"))) const char* weft_plugin_abi();
// Gives all parts of the plugin to the program. May throw.
__attribute__((visibility("default"))) void weft_give_parts(weft::PartTaker& taker);
}

#endif
