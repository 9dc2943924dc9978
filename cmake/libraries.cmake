# What the core links: found once, here. Packages find their own in their folder, but for LibTorch.
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
find_package(Boost 1.74 REQUIRED)  # headers alone

find_path(XXHASH_INCLUDE_DIR xxhash.h)
find_library(XXHASH_LIBRARY xxhash)
if(NOT XXHASH_INCLUDE_DIR OR NOT XXHASH_LIBRARY)
  message(FATAL_ERROR "xxHash not found: install libxxhash-dev (`./dev setup` does)")
endif()
add_library(brigade_xxhash INTERFACE)
target_include_directories(brigade_xxhash SYSTEM INTERFACE ${XXHASH_INCLUDE_DIR})
target_link_libraries(brigade_xxhash INTERFACE ${XXHASH_LIBRARY})

if(BRIGADE_TESTS)
  find_package(GTest REQUIRED)
  find_package(benchmark REQUIRED)
endif()

include(cmake/torch.cmake)
