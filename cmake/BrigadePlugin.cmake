# brigade_plugin(NAME jitter CONTRACT jitter.cpp [LIBRARIES ...])
#   A plugin in one file (or several): jitter.so, which a graph names as `plugin: jitter.so`.
#
# brigade_plugin(NAME jitter CONTRACT jitter_contract.cpp BODY jitter.cpp ... [LIBRARIES ...])
#   One whose body needs libraries: jitter.so with the contracts, which links none of them, and
#   beside it the module brigade_jitter.so with contracts and bodies, opened only by the processes
#   that run it. They belong together: install or copy both into one folder.
#
# NAME.so is also the name of the target. docs/STAGES.md says what is in the files. Where nobody has
# said a build type, it is Release: CMake's own default does not optimise.
function(brigade_plugin)
  cmake_parse_arguments(ARG "" "NAME" "CONTRACT;BODY;LIBRARIES" ${ARGN})
  if(NOT ARG_NAME OR NOT ARG_CONTRACT OR ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "brigade_plugin(NAME name CONTRACT files [BODY files] [LIBRARIES \
libraries]): NAME and CONTRACT must be there, and nothing else: ${ARGN}")
  endif()
  get_property(several GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  if(NOT CMAKE_BUILD_TYPE AND NOT several)
    message(STATUS "brigade_plugin: no CMAKE_BUILD_TYPE is set: taking Release, which optimises "
      "(-DCMAKE_BUILD_TYPE=Debug for a debugger)")
    set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release, RelWithDebInfo or MinSizeRel" FORCE)
  endif()
  set(targets ${ARG_NAME})
  add_library(${ARG_NAME} MODULE ${ARG_CONTRACT})
  if(ARG_BODY)
    set(body brigade_${ARG_NAME})
    list(APPEND targets ${body})
    add_library(${body} MODULE ${ARG_CONTRACT} ${ARG_BODY})
    target_link_libraries(${body} PRIVATE ${ARG_LIBRARIES})
    add_dependencies(${ARG_NAME} ${body})
  else()
    target_link_libraries(${ARG_NAME} PRIVATE ${ARG_LIBRARIES})
  endif()
  foreach(target ${targets})
    target_link_libraries(${target} PRIVATE Brigade::brigade)
    brigade_no_undefined(${target})
    set_target_properties(${target} PROPERTIES
      PREFIX "" SUFFIX ".so" CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  endforeach()
endfunction()

# A symbol that nobody has is an error of the linker, not of the process that opens it. With
# a sanitizer of clang, whose symbols lie in the program, the linker cannot know.
function(brigade_no_undefined target)
  get_directory_property(link_options LINK_OPTIONS)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang" OR
     NOT "${CMAKE_CXX_FLAGS} ${link_options}" MATCHES "-fsanitize")
    target_link_options(${target} PRIVATE -Wl,--no-undefined)
  endif()
endfunction()
