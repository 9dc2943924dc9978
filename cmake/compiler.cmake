# Language, warnings, sanitizers, ccache: the same for every target.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)  # a build folder may be moved or copied

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wshadow>")
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # False alarms inside std::string, gone in GCC 13 (its bugs 105651 and 105329).
  add_compile_options(
    "$<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict;-Wno-array-bounds;-Wno-stringop-overflow>")
endif()
# What a failed check says of its place; what is installed knows no folder of this machine.
add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=>)
if(BRIGADE_WERROR)
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-Werror>)
endif()

if(BRIGADE_SANITIZE)
  add_compile_options(-fsanitize=${BRIGADE_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${BRIGADE_SANITIZE})
  # Where a program lies at a fixed place, the descriptions of its checks need not be relocated at
  # each start: 36 MB of relocations, two fifths of the time that the kernel needs to start it.
  add_link_options($<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-no-pie>)
  if(BRIGADE_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=all)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-tsan)  # atomic_thread_fence, inside libraries' headers
  else()  # GCC defines these itself
    # The functions of a driver are called by types of our own.
    add_compile_options(-fno-sanitize=function)
    string(TOUPPER "${BRIGADE_SANITIZE}" sanitizers)
    if(sanitizers MATCHES "ADDRESS|THREAD")
      add_compile_definitions(__SANITIZE_${CMAKE_MATCH_0}__=1)
    endif()
    # A program in C has what the sanitizer needs for libbrigade, which is C++.
    set(CMAKE_C_LINK_EXECUTABLE "<CMAKE_CXX_COMPILER> <FLAGS> <CMAKE_C_LINK_FLAGS> <LINK_FLAGS> \
<OBJECTS> -o <TARGET> <LINK_LIBRARIES>")
  endif()
endif()

if(BRIGADE_FUZZ)
  add_compile_options(-fsanitize=fuzzer-no-link)
  add_custom_target(brigade_fuzzers)
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # The sloppiness is what ccache asks for with precompiled headers (the tests').
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE_PROGRAM})
endif()

if(CMAKE_CXX_COMPILER_LAUNCHER MATCHES "ccache" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
endif()

# One LibTorch source at a time: each takes more than 2 GB of memory to compile.
set_property(GLOBAL APPEND PROPERTY JOB_POOLS torch=1)
