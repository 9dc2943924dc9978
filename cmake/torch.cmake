# LibTorch: found once, here, because its presence decides what is built. Gives BRIGADE_HAS_TORCH
# and brigade_torch_library, which is what a target links to use it.
#   BRIGADE_TORCH=AUTO  if there is one (the default)     ON   or an error
#   BRIGADE_TORCH=CUDA  one with CUDA, or an error        OFF  none
# Which one: -DTorch_DIR=ROOT/share/cmake/Torch, else the system's. With CUDA (the preset `cuda`):
# BRIGADE_CUDA_TORCH=ROOT, else Torch_DIR, else the torch package of python3. docs/GPU.md has more.
set(BRIGADE_CUDA_TORCH "" CACHE PATH "Folder of a LibTorch with CUDA, for BRIGADE_TORCH=CUDA")

# Sets `root` to the folder of python3's torch package, or to nothing.
function(brigade_python_torch root)
  set(${root} "" PARENT_SCOPE)
  find_program(python3 python3 NO_CACHE)
  if(NOT python3)
    return()
  endif()
  execute_process(
    COMMAND ${python3} -c
      "import importlib.util as u; print(*u.find_spec('torch').submodule_search_locations)"
    OUTPUT_VARIABLE folder ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
  if(EXISTS "${folder}/share/cmake/Torch/TorchConfig.cmake")
    set(${root} ${folder} PARENT_SCOPE)
  endif()
endfunction()

# Sets Torch_DIR in the cache to a LibTorch with CUDA.
macro(brigade_choose_cuda_torch)
  set(choose "Install one with `pip install torch` in the Python environment that you build in; or \
unpack the archive `libtorch` and set BRIGADE_CUDA_TORCH to its folder. docs/GPU.md says more.")
  if(BRIGADE_CUDA_TORCH)
    set(Torch_DIR ${BRIGADE_CUDA_TORCH}/share/cmake/Torch CACHE PATH "" FORCE)
  elseif(NOT Torch_DIR)
    brigade_python_torch(root)
    if(NOT root)
      message(FATAL_ERROR "BRIGADE_TORCH=CUDA needs a LibTorch with CUDA, but BRIGADE_CUDA_TORCH \
is not set and python3 has no package `torch`. ${choose}")
    endif()
    set(Torch_DIR ${root}/share/cmake/Torch CACHE PATH "" FORCE)
  endif()
  if(NOT EXISTS "${Torch_DIR}/../../../lib/libtorch_cuda.so")
    message(FATAL_ERROR "BRIGADE_TORCH=CUDA needs a LibTorch with CUDA, but the one of \
${Torch_DIR} has no ../../../lib/libtorch_cuda.so. ${choose}")
  endif()
endmacro()

# The release, "13.0", that the LibTorch in `root` was built with; empty if it does not say.
function(brigade_torch_cuda_version root version)
  set(text "")
  if(EXISTS ${root}/version.py)  # of a Python package
    file(STRINGS ${root}/version.py text REGEX "^cuda.*= *'")
  elseif(EXISTS ${root}/build-version)  # of an archive: 2.11.0+cu130
    file(STRINGS ${root}/build-version text REGEX "\\+cu[0-9]+")
    string(REGEX REPLACE ".*\\+cu([0-9]+)([0-9])$" "'\\1.\\2'" text "${text}")
  endif()
  string(REGEX MATCH "'([0-9.]+)'" unused "${text}")
  set(${version} "${CMAKE_MATCH_1}" PARENT_SCOPE)
endfunction()

# LibTorch's CMake files compile with the CUDA toolkit: looked for here, to say what is missing.
macro(brigade_find_cuda_toolkit root)
  brigade_torch_cuda_version(${root} torch_cuda)
  set(needs "The LibTorch in ${root} was built with CUDA ${torch_cuda} and needs the toolkit of \
that release")
  find_program(nvcc nvcc NO_CACHE
    HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES bin)
  if(NOT nvcc)
    message(FATAL_ERROR "${needs}, but nvcc was found neither in $CUDA_HOME/bin nor in PATH nor in \
/usr/local/cuda/bin. Install the CUDA toolkit, or set CUDA_HOME to its folder.")
  endif()
  # It may be a script, so where the toolkit lies is asked, not guessed from where nvcc was found.
  execute_process(COMMAND ${nvcc} --version OUTPUT_VARIABLE release ERROR_QUIET)
  execute_process(COMMAND ${nvcc} -v nothing ERROR_VARIABLE variables OUTPUT_QUIET)
  string(REGEX MATCH "release ([0-9]+)\\.[0-9]+" unused "${release}")
  set(nvcc_major "${CMAKE_MATCH_1}")
  string(REGEX MATCH "#\\$ TOP=([^\r\n]*)" unused "${variables}")
  set(toolkit "${CMAKE_MATCH_1}")
  if(NOT nvcc_major OR NOT EXISTS "${toolkit}")
    message(FATAL_ERROR "${needs}, but ${nvcc} does not run or does not say where its toolkit is. \
Set CUDA_HOME to the folder of a CUDA toolkit.")
  endif()
  if(torch_cuda AND NOT torch_cuda MATCHES "^${nvcc_major}\\.")
    message(FATAL_ERROR "${needs}, but ${nvcc} is of CUDA ${nvcc_major}. Install the other \
toolkit, or a LibTorch for CUDA ${nvcc_major}; CUDA_HOME chooses among several toolkits.")
  endif()
  if(NOT DEFINED CUDA_TOOLKIT_ROOT_DIR)
    get_filename_component(CUDA_TOOLKIT_ROOT_DIR ${toolkit} REALPATH)
  endif()
  if(NOT CMAKE_CUDA_COMPILER AND NOT DEFINED ENV{CUDACXX})
    set(CMAKE_CUDA_COMPILER ${CUDA_TOOLKIT_ROOT_DIR}/bin/nvcc)
  endif()
  # Else LibTorch would compile and run a program that asks for the GPU of this machine, which the
  # one that runs the graph need not have. It matters to device code only.
  if(NOT DEFINED TORCH_CUDA_ARCH_LIST)
    set(TORCH_CUDA_ARCH_LIST 9.0)
  endif()
endmacro()

macro(brigade_find_torch)
  # LibTorch's own configuration looks for its parts in the system first: a second LibTorch there
  # (libtorch-dev) would be mixed with the chosen one's headers. Nor may an earlier choice stay.
  unset(Caffe2_DIR CACHE)
  foreach(name c10 C10_CUDA TORCH kineto)
    unset(${name}_LIBRARY CACHE)
  endforeach()
  set(required "")
  if(NOT BRIGADE_TORCH STREQUAL "AUTO")
    set(required REQUIRED)
  endif()
  if(Torch_DIR MATCHES "^(.*)/share/cmake/Torch/?$")
    set(required REQUIRED)
    set(torch_root ${CMAKE_MATCH_1})
    if(NOT EXISTS ${Torch_DIR}/TorchConfig.cmake)  # find_package would go on to the system's
      message(FATAL_ERROR "Torch_DIR=${Torch_DIR} has no TorchConfig.cmake: name the folder \
share/cmake/Torch of a LibTorch.")
    endif()
    list(PREPEND CMAKE_PREFIX_PATH ${torch_root})
    set(Caffe2_DIR ${torch_root}/share/cmake/Caffe2 CACHE PATH "" FORCE)
    if(EXISTS ${torch_root}/lib/libtorch_cuda.so)
      brigade_find_cuda_toolkit(${torch_root})
    endif()
  endif()
  find_package(Torch QUIET ${required})
endmacro()

set(BRIGADE_HAS_TORCH OFF)
if(BRIGADE_TORCH STREQUAL "OFF")
  message(STATUS "torch package: switched off (BRIGADE_TORCH=OFF)")
  return()
endif()
if(BRIGADE_TORCH STREQUAL "CUDA")
  brigade_choose_cuda_torch()
endif()
brigade_find_torch()
if(NOT TORCH_FOUND)
  message(STATUS "torch package: LibTorch was not found")
  return()
endif()
if(TORCH_CXX_FLAGS MATCHES "_GLIBCXX_USE_CXX11_ABI=0")
  message(FATAL_ERROR "LibTorch ${Torch_VERSION} of ${Torch_DIR} was built with the old C++ ABI, \
which cannot be linked with this program. Use a Python package of 2.7 or later, or the archive \
that is called cxx11-abi.")
endif()

set(BRIGADE_HAS_TORCH ON)
if(torch_cuda)
  set(torch_with " with CUDA ${torch_cuda}")
endif()
message(STATUS "torch package: LibTorch ${Torch_VERSION}${torch_with} of ${Torch_DIR}")
separate_arguments(BRIGADE_TORCH_FLAGS UNIX_COMMAND "${TORCH_CXX_FLAGS}")
add_library(brigade_torch_library INTERFACE)
target_include_directories(brigade_torch_library SYSTEM INTERFACE ${TORCH_INCLUDE_DIRS})
target_compile_options(brigade_torch_library INTERFACE ${BRIGADE_TORCH_FLAGS})
target_link_libraries(brigade_torch_library INTERFACE ${TORCH_LIBRARIES})
