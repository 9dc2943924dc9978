# What `brigade --version` says of this build (base/build_facts.h). The commit is read when
# git's log of HEAD has changed: one file is compiled and one library linked, none of the tests'.
function(brigade_write_build_facts)
  set(BRIGADE_COMPILER
    "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}, ${CMAKE_BUILD_TYPE}")
  if(BRIGADE_SANITIZE)
    string(APPEND BRIGADE_COMPILER ", ${BRIGADE_SANITIZE}")
  endif()
  brigade_header_version(xxhash ${XXHASH_INCLUDE_DIR}/xxhash.h XXH_VERSION_MAJOR
    XXH_VERSION_MINOR XXH_VERSION_RELEASE)
  set(BRIGADE_CORE_LIBRARIES "yaml-cpp ${yaml-cpp_VERSION}, zlib ${ZLIB_VERSION_STRING}, \
xxHash ${xxhash}, nlohmann-json ${nlohmann_json_VERSION}, CLI11 ${CLI11_VERSION}, \
Boost ${Boost_VERSION_STRING}")
  get_property(packages GLOBAL PROPERTY BRIGADE_PACKAGE_FACTS)
  list(JOIN packages ", " BRIGADE_PACKAGE_FACTS)

  set(folder ${PROJECT_BINARY_DIR}/build_facts)
  set(BRIGADE_COMMIT "@BRIGADE_COMMIT@")
  configure_file(cmake/build_facts.cpp.in ${folder}/build_facts.cpp.in @ONLY)
  set(BRIGADE_COMMIT unknown)
  configure_file(cmake/build_facts.cpp.in ${folder}/of_tests/build_facts.cpp @ONLY)

  execute_process(COMMAND git -C ${PROJECT_SOURCE_DIR} rev-parse --git-path logs/HEAD
    OUTPUT_VARIABLE log ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  get_filename_component(log "${log}" ABSOLUTE BASE_DIR ${PROJECT_SOURCE_DIR})
  if(NOT EXISTS ${log} OR IS_DIRECTORY ${log})
    set(log "")
  endif()
  set(script ${PROJECT_SOURCE_DIR}/cmake/commit.cmake)
  add_custom_command(OUTPUT ${folder}/build_facts.cpp
    COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DTEMPLATE=${folder}/build_facts.cpp.in
      -DRESULT=${folder}/build_facts.cpp -P ${script}
    DEPENDS ${folder}/build_facts.cpp.in ${script} ${log} VERBATIM)
  target_sources(libbrigade PRIVATE ${folder}/build_facts.cpp)
  target_sources(brigade_core PRIVATE ${folder}/of_tests/build_facts.cpp)
endfunction()

# The numbers that stand behind names in a file, joined with dots; empty where it has none.
function(brigade_header_version result header)
  set(numbers "")
  foreach(name ${ARGN})
    if(EXISTS "${header}")
      file(STRINGS ${header} line REGEX "(^|[ \t])${name}[ \t]+[0-9.]+")
      string(REGEX REPLACE ".*${name}[ \t]+([0-9.]+).*" "\\1" number "${line}")
      list(APPEND numbers ${number})
    endif()
  endforeach()
  list(JOIN numbers "." numbers)
  set(${result} "${numbers}" PARENT_SCOPE)
endfunction()

# What a module was built with: brigade_package_facts(image libpng 1.6.39 zlib 1.2.13).
function(brigade_package_facts module)
  set(libraries "")
  while(ARGN)
    list(POP_FRONT ARGN name version)
    string(STRIP "${name} ${version}" library)
    list(APPEND libraries "${library}")
  endwhile()
  list(JOIN libraries ", " libraries)
  set_property(GLOBAL APPEND PROPERTY BRIGADE_PACKAGE_FACTS "{\"${module}\", \"${libraries}\"}")
endfunction()
