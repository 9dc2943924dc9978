# cmake -DROOT=folder -DTEMPLATE=in -DRESULT=out -P commit.cmake: fills in the commit of ROOT.
set(BRIGADE_COMMIT unknown)
execute_process(COMMAND git -C ${ROOT} rev-parse --show-toplevel --short=12 HEAD
  OUTPUT_VARIABLE answer ERROR_QUIET RESULT_VARIABLE failed OUTPUT_STRIP_TRAILING_WHITESPACE)
# Another top: a repository that somebody put these sources into.
if(NOT failed AND answer MATCHES "^(.*)\n(.*)$" AND CMAKE_MATCH_1 STREQUAL ROOT)
  set(BRIGADE_COMMIT ${CMAKE_MATCH_2})
endif()
configure_file(${TEMPLATE} ${RESULT} @ONLY)
