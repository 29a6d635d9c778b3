# attend_precompile(TARGET OPTIMIZATION HEADER…)
#
# Compiles headers once, for all rungs with this optimisation (REUSE_FROM TARGET). GCC crashes on headers that were
# compiled with other options than the source. A compiler cache cannot store what uses such headers, so they are left
# out where there is one.
function(attend_precompile target optimization)
  file(CONFIGURE OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/${target}.cpp CONTENT "")  # keeps a file that is there
  add_library(${target} OBJECT ${CMAKE_CURRENT_BINARY_DIR}/${target}.cpp)
  attend_rung_options(${target} ${optimization})
  target_link_libraries(${target} PRIVATE OpenMP::OpenMP_CXX nlohmann_json::nlohmann_json attend_flags)
  target_precompile_headers(${target} PRIVATE ${ARGN})
endfunction()

# The compiler's options for the library.
function(attend_rung_options target optimization)
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  target_compile_features(${target} PUBLIC cxx_std_20)
  # No errno and no traps: sqrt and rounding become single instructions. Values stay IEEE.
  target_compile_options(${target} PRIVATE -fno-math-errno -fno-trapping-math $<$<CONFIG:Release>:${optimization}>)
endfunction()

# attend_unity(TARGET MOST SOURCE…)
#
# With CMAKE_UNITY_BUILD, compiles up to MOST sources of a folder as one, which takes half the time. Sources of different
# folders are never joined, so names in anonymous namespaces must only differ within a folder.
function(attend_unity target most)
  set_target_properties(${target} PROPERTIES UNITY_BUILD_MODE GROUP)
  # GCC takes the sources for headers, in which types of anonymous namespaces would be a mistake.
  target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  foreach(source IN LISTS ARGN)
    get_filename_component(folder ${source} DIRECTORY)
    file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${folder})
    string(MAKE_C_IDENTIFIER ${folder} group)
    list(APPEND ${group} ${source})
    list(LENGTH ${group} count)
    math(EXPR part "(${count} - 1) / ${most}")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group}_${part})
  endforeach()
endfunction()

# attend_rung(NAME [NEEDS rung…] [LINKS library…] [PACKAGES package…] [PKG_CONFIG flag…]
#             [WITHOUT file…] [COLD file…] [ALONE])
#
# Makes the folder's sources a static library, attend::NAME, and installs it. Call it in attend/NAME/CMakeLists.txt.
#   NEEDS       the lower rungs that its files include; what those need comes with them
#   LINKS       the other libraries that it uses: none of them shows in a header of Attend, so that a program that uses
#               the rung only has to link them
#   PACKAGES    what find_package must look for before an installed rung can be linked: "OpenMP COMPONENTS CXX"
#   PKG_CONFIG  the same libraries as linker flags, for attend-NAME.pc
#   WITHOUT     sources of a component that is switched off; what stands in for them, in left_out/, the folder's own
#               CMakeLists.txt adds
#   COLD        sources that run once or seldom and take long to compile: they are compiled with -O1
#   ALONE       compile each source by itself, also with CMAKE_UNITY_BUILD
function(attend_rung name)
  cmake_parse_arguments(PARSE_ARGV 1 rung "ALONE" "" "NEEDS;LINKS;PACKAGES;PKG_CONFIG;WITHOUT;COLD")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS *.cpp)
  list(FILTER sources EXCLUDE REGEX "/left_out/")
  list(TRANSFORM rung_WITHOUT PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ OUTPUT_VARIABLE without)
  list(REMOVE_ITEM sources ${without})
  set_source_files_properties(${rung_COLD} PROPERTIES COMPILE_OPTIONS $<$<CONFIG:Release>:-O1>)
  set(target attend_${name})
  add_library(${target} STATIC ${sources})
  add_library(attend::${name} ALIAS ${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${name})
  attend_rung_options(${target} ${attend_optimization})
  if(rung_ALONE)
    set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)
  else()
    attend_unity(${target} 8 ${sources})
  endif()
  if(attend_precompiled)
    target_precompile_headers(${target} REUSE_FROM ${attend_precompiled})
  endif()
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  list(TRANSFORM rung_NEEDS PREPEND attend_ OUTPUT_VARIABLE needed)
  # All loops run on OpenMP's threads (core/threads.h).
  target_link_libraries(${target}
    PRIVATE OpenMP::OpenMP_CXX ${rung_LINKS} $<BUILD_INTERFACE:attend_flags> PUBLIC ${needed})
  target_link_libraries(attend_library INTERFACE ${target})

  # Installing: the library, its pkg-config file, and the packages that attend-config.cmake looks for.
  install(TARGETS ${target} EXPORT attend)
  set(packages ${rung_PACKAGES})
  foreach(lower IN LISTS rung_NEEDS)
    get_property(more GLOBAL PROPERTY attend_${lower}_packages)
    list(APPEND packages ${more})
  endforeach()
  list(REMOVE_DUPLICATES packages)
  set_property(GLOBAL PROPERTY attend_${name}_packages ${packages})
  set_property(GLOBAL APPEND PROPERTY attend_rungs ${name})
  list(TRANSFORM rung_NEEDS PREPEND attend- OUTPUT_VARIABLE requires)
  attend_pkg_config(attend-${name} "${requires}" "-lattend_${name};${rung_PKG_CONFIG}")
endfunction()

# Writes and installs NAME.pc, which requires other packages and adds flags to the linker's.
function(attend_pkg_config name requires flags)
  file(RELATIVE_PATH up /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
  list(JOIN requires " " requires)
  list(JOIN flags " " flags)
  configure_file(${PROJECT_SOURCE_DIR}/cmake/attend.pc.in ${PROJECT_BINARY_DIR}/pkgconfig/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/pkgconfig/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()
