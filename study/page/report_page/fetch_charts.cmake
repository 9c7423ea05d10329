# Makes charts.min.js, the chart libraries in one file: cmake -DNPM=npm -DSOURCE=... -DFOLDER=... -P fetch_charts.cmake
# Without npm, or without a network, it says so and leaves the file out: the page then has tables only.
set(lock "${SOURCE}/package-lock.json")
if(NOT NPM)
  message(WARNING "npm is not there: pages of `weft report` will have no charts")
  return()
endif()
file(MAKE_DIRECTORY "${FOLDER}/npm")
file(COPY "${SOURCE}/package.json" "${lock}" DESTINATION "${FOLDER}/npm")
# Each package is checked against its hash in the lock file; none may run a script of its own.
execute_process(COMMAND "${NPM}" ci --ignore-scripts --no-audit --no-fund --fetch-retries=1 WORKING_DIRECTORY "${FOLDER}/npm"
                OUTPUT_FILE "${FOLDER}/npm.log" ERROR_FILE "${FOLDER}/npm.log" RESULT_VARIABLE failed)
if(failed)
  message(WARNING "npm could not get the chart libraries (${FOLDER}/npm.log): pages of `weft report` will have no charts")
  return()
endif()
set(modules "${FOLDER}/npm/node_modules")
set(parts vega/build/vega.min.js vega-lite/build/vega-lite.min.js vega-embed/build/vega-embed.min.js
          uplot/dist/uPlot.iife.min.js)
file(WRITE "${FOLDER}/charts.part.js" "/* Vega, Vega-Lite, Vega-Embed: BSD-3-Clause; uPlot: MIT. */\n")
foreach(part ${parts})
  file(READ "${modules}/${part}" text)
  # Source maps would be asked for by name.
  string(REGEX REPLACE "\n//# sourceMappingURL=[^\n]*" "" text "${text}")
  file(APPEND "${FOLDER}/charts.part.js" "${text}\n")
endforeach()
file(READ "${modules}/uplot/dist/uPlot.min.css" style)
file(APPEND "${FOLDER}/charts.part.js"
     "document.head.append(Object.assign(document.createElement('style'), {textContent: `${style}`}));\n")
file(RENAME "${FOLDER}/charts.part.js" "${FOLDER}/charts.min.js")
