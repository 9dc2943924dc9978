# What `cmake --install` lays down: the program, the core, the packages, the headers that stages
# and embedders include (include/brigade and no others), graphs, examples and documents, and
# BrigadeConfig.cmake (the target Brigade::brigade, the function brigade_plugin()). Nothing in it
# knows where it lies: the folder may be moved or copied.
include(CMakePackageConfigHelpers)
set(config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Brigade)

install(TARGETS libbrigade EXPORT BrigadeTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET brigade_program)
  install(TARGETS brigade_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
get_property(modules GLOBAL PROPERTY BRIGADE_MODULES)
if(modules)
  install(TARGETS ${modules} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/brigade)
endif()

install(DIRECTORY include/brigade DESTINATION include)
install(DIRECTORY configs docs DESTINATION ${CMAKE_INSTALL_DATADIR}/brigade)
install(DIRECTORY examples/hello_line examples/own_stage examples/own_plugin
  examples/feed_and_collect examples/own_loop examples/plain_c examples/train_own_model
  examples/two_graphs examples/exec_stage examples/python_stage examples/image_classifier
  examples/actors examples/data_parallel examples/hogwild examples/parallel_forward
  examples/result_array examples/seeding examples/task_queue
  DESTINATION ${CMAKE_INSTALL_DATADIR}/brigade/examples
  PATTERN build EXCLUDE PATTERN __pycache__ EXCLUDE)
install(FILES examples/README.md DESTINATION ${CMAKE_INSTALL_DATADIR}/brigade/examples)
install(FILES README.md CHANGELOG.md LICENSE NOTICE DESTINATION ${CMAKE_INSTALL_DATADIR}/brigade)

install(EXPORT BrigadeTargets NAMESPACE Brigade:: DESTINATION ${config_dir})
configure_package_config_file(cmake/BrigadeConfig.cmake.in
  ${PROJECT_BINARY_DIR}/BrigadeConfig.cmake INSTALL_DESTINATION ${config_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/BrigadeConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/BrigadeConfig.cmake
  ${PROJECT_BINARY_DIR}/BrigadeConfigVersion.cmake cmake/BrigadePlugin.cmake
  DESTINATION ${config_dir})

# As it is installed: `brigade docs` finds the pages in a build, too.
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/share)
file(CREATE_LINK ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/share/brigade SYMBOLIC)
