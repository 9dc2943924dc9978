# The targets of the core, and the functions with which folders add to them:
#   brigade_sources([folder or a.cpp ...])   sources of the core: all of this folder, or these
#   brigade_apart(a.cpp ...)         of a folder: files with a local name that another has, too
#   brigade_module(NAME image SOURCES a.cpp ... [LIBRARIES ...] [JOB_POOL pool])
#   brigade_test(NAME base [FOLDERS folder ...] [SOURCES a_test.cpp ...] [LABELS tsan]
#     [LIBRARIES ...] [SHARED] [SERIAL] [OPTIMIZED])
#   brigade_fuzz(NAME yaml SOURCES yaml_fuzz.cpp ...)      seeds: tests/fuzz/corpus/NAME
#   brigade_bench(NAME base SOURCES base_bench.cpp ...)
#
# What the program consists of:
#   lib/libbrigade.so             the core; only what BRIGADE_API marks is visible
#   bin/brigade                   the program, which links it
#   lib/brigade/brigade_NAME.so   a package, opened by the processes that need it
set(BRIGADE_BIN_DIR ${PROJECT_BINARY_DIR}/bin)
set(BRIGADE_LIB_DIR ${PROJECT_BINARY_DIR}/lib)
set(BRIGADE_MODULE_DIR ${BRIGADE_LIB_DIR}/brigade)

add_library(brigade_core_objects OBJECT)
target_include_directories(brigade_core_objects PUBLIC
  ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
target_link_libraries(brigade_core_objects PUBLIC
  yaml-cpp ZLIB::ZLIB nlohmann_json::nlohmann_json CLI11::CLI11
  Boost::headers brigade_xxhash Threads::Threads ${CMAKE_DL_LIBS})

# Several files compiled as one take half the time, or less: ALL in the presets release and those of
# the sanitizers. Each alone in the preset debug, where a change costs one file. Which files go
# together follows from their names alone, so that a new one comes to few others; and where more
# files make more groups, each is parted in two, so that none meet that were apart. There most
# warnings are no errors, because they are about single files: tools/compiles_alone.py compiles each
# file by itself, with warnings as errors. It generates no code, so what is unused is found here.
set(BRIGADE_TOGETHER NONE CACHE STRING "Compile several files as one: NONE, TESTS, ALL")
set_property(CACHE BRIGADE_TOGETHER PROPERTY STRINGS NONE TESTS ALL)
set(brigade_core_groups 16)
function(brigade_compile_together target what)
  if(BRIGADE_TOGETHER STREQUAL "ALL" OR BRIGADE_TOGETHER STREQUAL what)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    target_compile_options(${target} PRIVATE
      -Wno-error $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
    if(BRIGADE_WERROR)
      target_compile_options(${target} PRIVATE
        -Werror=unused-function -Werror=unused-variable -Werror=unused-but-set-variable)
    endif()
  endif()
endfunction()
function(brigade_group_sources target groups)
  foreach(file ${ARGN})
    get_filename_component(path ${file} ABSOLUTE)
    file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${path})
    string(MD5 hash ${path})
    string(SUBSTRING ${hash} 0 4 digits)
    math(EXPR group "0x${digits} % ${groups}")
    set_source_files_properties(${file} TARGET_DIRECTORY ${target}
      PROPERTIES UNITY_GROUP ${group})
  endforeach()
endfunction()
brigade_compile_together(brigade_core_objects PRODUCT)

# Every .cpp of some folders below the calling one, so that a new file is compiled without a line
# anywhere; a name that ends in .cpp is that file.
function(brigade_sources_of result)
  list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  set(files ${ARGN})
  list(FILTER files INCLUDE REGEX "[.]cpp$")
  list(FILTER ARGN EXCLUDE REGEX "[.]cpp$")
  list(TRANSFORM ARGN APPEND /*.cpp)
  file(GLOB sources CONFIGURE_DEPENDS ${ARGN} ${files})
  set(${result} ${sources} PARENT_SCOPE)
endfunction()

add_library(libbrigade SHARED $<TARGET_OBJECTS:brigade_core_objects>)
set_target_properties(libbrigade PROPERTIES
  OUTPUT_NAME brigade EXPORT_NAME brigade
  LIBRARY_OUTPUT_DIRECTORY ${BRIGADE_LIB_DIR})
target_include_directories(libbrigade PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
target_include_directories(libbrigade INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
  $<INSTALL_INTERFACE:include>)
target_link_libraries(libbrigade PRIVATE
  yaml-cpp ZLIB::ZLIB brigade_xxhash Threads::Threads ${CMAKE_DL_LIBS})
target_link_options(libbrigade PRIVATE -Wl,--as-needed)
brigade_no_undefined(libbrigade)
target_compile_features(libbrigade INTERFACE cxx_std_20)
add_library(Brigade::brigade ALIAS libbrigade)  # what find_package(Brigade) gives
add_library(brigade_c INTERFACE)  # without what C++ needs
target_include_directories(brigade_c INTERFACE ${PROJECT_SOURCE_DIR}/include)
target_link_libraries(brigade_c INTERFACE $<TARGET_FILE:libbrigade>)
add_library(Brigade::c ALIAS brigade_c)

# The same objects for tests and benchmarks, which also look inside.
add_library(brigade_core STATIC EXCLUDE_FROM_ALL $<TARGET_OBJECTS:brigade_core_objects>)
target_link_libraries(brigade_core PUBLIC brigade_core_objects)

add_custom_target(brigade_shipped)  # the program and its packages: what `cmake --install` needs
if(EXISTS ${PROJECT_SOURCE_DIR}/pipeline/cli/main.cpp)
  add_executable(brigade_program pipeline/cli/main.cpp)
  target_link_libraries(brigade_program PRIVATE libbrigade)
  set_target_properties(brigade_program PROPERTIES
    OUTPUT_NAME brigade RUNTIME_OUTPUT_DIRECTORY ${BRIGADE_BIN_DIR}
    INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  add_dependencies(brigade_shipped brigade_program)
endif()

function(brigade_sources)
  if(NOT ARGN)
    set(ARGN .)
  endif()
  brigade_sources_of(sources ${ARGN})
  brigade_group_sources(brigade_core_objects ${brigade_core_groups} ${sources})
  target_sources(brigade_core_objects PRIVATE ${sources})
endfunction()

# Files of the calling folder that are never compiled together with others: where the compiler says
# that a name of theirs is there already.
function(brigade_apart)
  list(TRANSFORM ARGN PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  set_source_files_properties(${ARGN}
    DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} TARGET_DIRECTORY brigade_core_objects
    PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# A package: objects (which its tests link, as brigade_NAME_objects) and the module made of them.
# Its undefined symbols must all be in libbrigade or its LIBRARIES: an error of the linker, not of
# the process that opens it.
function(brigade_module)
  cmake_parse_arguments(ARG "" "NAME;JOB_POOL" "SOURCES;LIBRARIES" ${ARGN})
  set(objects brigade_${ARG_NAME}_objects)
  add_library(${objects} OBJECT ${ARG_SOURCES})
  target_include_directories(${objects} PUBLIC
    ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(${objects} PUBLIC ${ARG_LIBRARIES})
  if(ARG_NAME STREQUAL "torch" AND NOT ARG_JOB_POOL)
    set(ARG_JOB_POOL torch)
  endif()
  if(ARG_JOB_POOL)  # of each file most is its library's headers
    brigade_compile_together(${objects} PRODUCT)
    brigade_group_sources(${objects} 1 ${ARG_SOURCES})
    set_target_properties(${objects} PROPERTIES JOB_POOL_COMPILE ${ARG_JOB_POOL})
  endif()
  set(module brigade_${ARG_NAME})
  add_library(${module} MODULE $<TARGET_OBJECTS:${objects}>)
  target_link_libraries(${module} PRIVATE libbrigade ${ARG_LIBRARIES})
  brigade_no_undefined(${module})
  # A LibTorch with CUDA lies somewhere else where it runs: `./dev package --cuda` finds it there.
  set(remember_libraries ON)
  if(BRIGADE_TORCH STREQUAL "CUDA")
    set(remember_libraries OFF)
  endif()
  set_target_properties(${module} PROPERTIES
    PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${BRIGADE_MODULE_DIR}
    INSTALL_RPATH "$ORIGIN/.." INSTALL_RPATH_USE_LINK_PATH ${remember_libraries})
  add_dependencies(brigade_shipped ${module})
  set_property(GLOBAL APPEND PROPERTY BRIGADE_MODULES ${module})
endfunction()

# One GoogleTest binary per folder of tests/; a case is called NAME.Suite.Case in CTest. Tests are
# listed when ctest runs; under the sanitizers a binary is four tests. SHARED links libbrigade.so
# instead of the objects (for tests that open modules). SERIAL: no other test runs meanwhile. Label
# tsan: run under ThreadSanitizer; chaos: run by `./dev chaos` only. Tests find files with the
# strings BRIGADE_SOURCE_DIR, BRIGADE_BINARY_DIR.
#
# Compiling tests takes most of a build. Two things shorten it:
# - Their common headers are compiled once, which halves the time of a test file: for all tests
#   without libraries of their own (whose compiler options may differ), and for those of many files
#   that are compiled one by one.
# - The files of tests are not optimised as the product is, which takes a third off. OPTIMIZED: they
#   are, for tests that compute for long, or look at the machine instructions of what is shipped.
set(brigade_test_headers
  <gmock/gmock.h> <gtest/gtest.h>
  <algorithm> <atomic> <chrono> <cstdint> <filesystem> <fstream> <functional> <map> <memory>
  <optional> <span> <string> <string_view> <thread> <vector>)
set(brigade_test_optimization $<$<CONFIG:Release>:-O1>)
if(BRIGADE_TESTS)
  file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/tests/test_headers.cpp CONTENT "")
  add_executable(brigade_test_headers EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/tests/test_headers.cpp)
  target_compile_definitions(brigade_test_headers PRIVATE
    BRIGADE_SOURCE_DIR="${PROJECT_SOURCE_DIR}" BRIGADE_BINARY_DIR="${PROJECT_BINARY_DIR}")
  target_compile_options(brigade_test_headers PRIVATE ${brigade_test_optimization})
  target_link_libraries(brigade_test_headers PRIVATE brigade_core GTest::gmock GTest::gtest_main)
  target_precompile_headers(brigade_test_headers PRIVATE ${brigade_test_headers})
endif()

# What an object library shared by tests calls, to be compiled as they are.
function(brigade_compile_as_tests target)
  target_compile_options(${target} PRIVATE ${brigade_test_optimization})
  if(BRIGADE_TOGETHER STREQUAL "NONE")
    target_precompile_headers(${target} PRIVATE ${brigade_test_headers})
  endif()
  brigade_compile_together(${target} TESTS)
  get_target_property(files ${target} SOURCES)
  brigade_group_sources(${target} 1 ${files})
endfunction()

add_custom_target(brigade_tsan)  # what the tests with the label tsan need
add_dependencies(brigade_tsan brigade_shipped)

# A process per case costs more than most cases: those of a binary run in a few processes,
# NAME.part_0 and so on.
function(brigade_test_parts target labels timeout serial)
  set(parts 4)
  math(EXPR last "${parts} - 1")
  math(EXPR timeout "3 * ${timeout}")
  string(REGEX REPLACE "_test$" "" name ${target})
  foreach(part RANGE ${last})
    add_test(NAME ${name}.part_${part} COMMAND ${target} --gtest_brief=1)
    set_tests_properties(${name}.part_${part} PROPERTIES
      TIMEOUT ${timeout} RUN_SERIAL ${serial} LABELS "${labels}"
      ENVIRONMENT "GTEST_TOTAL_SHARDS=${parts};GTEST_SHARD_INDEX=${part}")
  endforeach()
  if("tsan" IN_LIST labels)
    add_dependencies(brigade_tsan ${target})
  endif()
endfunction()

function(brigade_test)
  cmake_parse_arguments(ARG "SHARED;SERIAL;OPTIMIZED" "NAME;TIMEOUT"
    "FOLDERS;SOURCES;LABELS;LIBRARIES" ${ARGN})
  if("chaos" IN_LIST ARG_LABELS AND NOT BRIGADE_LONG_TESTS)
    return()
  endif()
  set(target ${ARG_NAME}_test)
  if(ARG_FOLDERS)
    brigade_sources_of(sources ${ARG_FOLDERS})
    list(APPEND ARG_SOURCES ${sources})
  endif()
  add_executable(${target} ${ARG_SOURCES})
  set(what TESTS)
  if(ARG_OPTIMIZED)  # its machine instructions are those of the product
    set(what PRODUCT)
  endif()
  brigade_compile_together(${target} ${what})
  set(groups 1)
  list(FILTER ARG_SOURCES INCLUDE REGEX "\\.cpp$")
  list(LENGTH ARG_SOURCES files)
  while(files GREATER 16)
    math(EXPR groups "2 * ${groups}")
    math(EXPR files "${files} / 2")
  endwhile()
  brigade_group_sources(${target} ${groups} ${ARG_SOURCES})
  target_compile_definitions(${target} PRIVATE
    BRIGADE_SOURCE_DIR="${PROJECT_SOURCE_DIR}" BRIGADE_BINARY_DIR="${PROJECT_BINARY_DIR}")
  if(ARG_SHARED)
    target_link_libraries(${target} PRIVATE libbrigade)
  else()
    target_link_libraries(${target} PRIVATE brigade_core)
  endif()
  list(LENGTH ARG_SOURCES files)
  if(NOT ARG_OPTIMIZED)
    target_compile_options(${target} PRIVATE ${brigade_test_optimization})
  endif()
  if(NOT ARG_OPTIMIZED AND NOT ARG_SHARED AND NOT ARG_LIBRARIES)
    target_precompile_headers(${target} REUSE_FROM brigade_test_headers)
  elseif(files GREATER 4 AND BRIGADE_TOGETHER STREQUAL "NONE")
    target_precompile_headers(${target} PRIVATE ${brigade_test_headers})
  endif()
  target_link_libraries(${target} PRIVATE ${ARG_LIBRARIES} GTest::gmock GTest::gtest_main)
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  if(ARG_LIBRARIES MATCHES "torch")
    set_target_properties(${target} PROPERTIES JOB_POOL_COMPILE torch)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 300)
  endif()
  brigade_test_parts(${target} "${ARG_LABELS}" ${ARG_TIMEOUT} ${ARG_SERIAL})
endfunction()

# A libFuzzer program, left in fuzz/NAME of the build folder; only in the preset asan.
function(brigade_fuzz)
  cmake_parse_arguments(ARG "" "NAME" "SOURCES;LIBRARIES" ${ARGN})
  set(target ${ARG_NAME}_fuzz)
  add_executable(${target} EXCLUDE_FROM_ALL ${ARG_SOURCES})
  target_link_libraries(${target} PRIVATE brigade_core ${ARG_LIBRARIES})
  target_link_options(${target} PRIVATE -fsanitize=fuzzer)
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME ${ARG_NAME} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)
  add_dependencies(brigade_fuzzers ${target})
endfunction()

# A Google Benchmark program, left in bench/NAME of the build folder, where bench/run.py finds it.
function(brigade_bench)
  cmake_parse_arguments(ARG "" "NAME" "SOURCES;LIBRARIES" ${ARGN})
  set(target ${ARG_NAME}_bench)
  add_executable(${target} ${ARG_SOURCES})
  target_link_libraries(${target} PRIVATE brigade_core ${ARG_LIBRARIES} benchmark::benchmark_main)
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME ${ARG_NAME} RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
endfunction()
