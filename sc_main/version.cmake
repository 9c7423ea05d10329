# cmake -DSOURCE=FOLDER -DRELEASE=X.Y.Z -DFILE=FILE -P version.cmake: writes which version the sources are of. Tags of
# releases are vX.Y.Z. Changes that are not committed are not told: they come and go without a look at this.
set(version ${RELEASE})
set(ENV{GIT_OPTIONAL_LOCKS} 0)  # looking must not disturb another git
find_program(git git)
if(git)
  execute_process(COMMAND ${git} -C ${SOURCE} rev-parse --show-toplevel OUTPUT_VARIABLE top RESULT_VARIABLE failed
                  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  # Sources that lie in a repository of something else are none of its versions.
  if(NOT failed AND top STREQUAL SOURCE)
    execute_process(COMMAND ${git} -C ${SOURCE} describe --tags --match v[0-9]* --always OUTPUT_VARIABLE described
                    RESULT_VARIABLE failed OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(NOT failed AND described MATCHES "^v(.*)$")
      set(version ${CMAKE_MATCH_1})
    elseif(NOT failed AND NOT described STREQUAL "")
      set(version ${RELEASE}-g${described})  # no tag is at hand
    endif()
  endif()
endif()
file(WRITE ${FILE} "${version}\n")
