# The files that the server serves, as a table in the library (attend/serve/assets.h): the explorer (web/), which npm
# builds, and the description of the API. If npm is missing or cannot fetch the bundler, the program is built without the
# explorer, and a message says so.
option(ATTEND_EXPLORER "Build the explorer into the program, if npm is installed" ON)
find_program(NPM npm)
mark_as_advanced(NPM)

if(NOT ATTEND_EXPLORER)
  set(explorer_npm "")
elseif(NOT NPM)
  set(explorer_npm "")
  message(STATUS "The program is built without the explorer: npm is not installed (scripts/setup web installs it)")
else()
  set(explorer_npm ${NPM})
endif()

file(GLOB explorer_also CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/attend/serve/openapi.json)
set(explorer_table ${PROJECT_BINARY_DIR}/explorer/assets.cpp)
file(GLOB_RECURSE explorer_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/web/src/*)
list(APPEND explorer_sources ${PROJECT_SOURCE_DIR}/web/build.mjs ${PROJECT_SOURCE_DIR}/web/package.json
  ${PROJECT_SOURCE_DIR}/web/package-lock.json ${CMAKE_CURRENT_LIST_DIR}/build_explorer.cmake)
add_custom_command(OUTPUT ${explorer_table}
  COMMAND ${CMAKE_COMMAND} -D npm=${explorer_npm} -D source=${PROJECT_SOURCE_DIR}/web
    -D work=${PROJECT_BINARY_DIR}/explorer -D also=${explorer_also} -P ${CMAKE_CURRENT_LIST_DIR}/build_explorer.cmake
  DEPENDS ${explorer_sources} ${explorer_also} COMMENT "Building the explorer" VERBATIM)
target_sources(attend_serve PRIVATE ${explorer_table})
