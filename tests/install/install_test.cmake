# Installs what was built into a folder of its own, builds the examples against that by find_package and by pkg-config,
# and runs them: both must print the same.
#   cmake -D build=… -D source=… -D work=… -D compiler=… -D generator=… -P install_test.cmake
function(run)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY OUTPUT_VARIABLE output)
  set(output "${output}" PARENT_SCOPE)
endfunction()

set(prefix ${work}/prefix)
file(REMOVE_RECURSE ${work})
run(${CMAKE_COMMAND} --install ${build} --prefix ${prefix})
run(${prefix}/bin/attend --version)
if(NOT EXISTS ${prefix}/share/attend/recipes/translation-small.toml)
  message(FATAL_ERROR "the recipes are not where the program looks for them")
endif()

message(STATUS "find_package")
run(${CMAKE_COMMAND} -S ${source}/examples -B ${work}/examples -G ${generator} -D CMAKE_CXX_COMPILER=${compiler}
  -D CMAKE_BUILD_TYPE=Release -D CMAKE_PREFIX_PATH=${prefix})
run(${CMAKE_COMMAND} --build ${work}/examples)

message(STATUS "pkg-config")
file(GLOB_RECURSE package ${prefix}/*/attend.pc)
get_filename_component(package_folder ${package} DIRECTORY)
set(ENV{PKG_CONFIG_PATH} ${package_folder})
run(pkg-config --cflags --libs attend)
separate_arguments(flags UNIX_COMMAND "${output}")
file(GLOB examples ${source}/examples/*.cpp)
foreach(example IN LISTS examples)
  get_filename_component(name ${example} NAME_WE)
  run(${compiler} -std=c++20 -O2 ${example} -o ${work}/${name} ${flags})
  run(${work}/${name})
  set(by_pkg_config "${output}")
  run(${work}/examples/${name})
  if(NOT output STREQUAL by_pkg_config)
    message(FATAL_ERROR "${name} prints one thing when built by find_package and another when built by pkg-config")
  endif()
endforeach()
