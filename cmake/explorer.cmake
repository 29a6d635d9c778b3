# The files that the server serves, as a table in the library (attend/serve/assets.h): the explorer and the description
# of the API. The explorer's script and styles are built from web/src and committed ("npm run page" in web/), so that the
# program is built without npm.
option(ATTEND_EXPLORER "Build the explorer into the program" ON)

set(served_files ${PROJECT_SOURCE_DIR}/attend/serve/openapi.json)
if(ATTEND_EXPLORER)
  list(APPEND served_files ${PROJECT_SOURCE_DIR}/attend/serve/assets/app.js
    ${PROJECT_SOURCE_DIR}/attend/serve/assets/app.css ${PROJECT_SOURCE_DIR}/web/src/index.html
    ${PROJECT_SOURCE_DIR}/web/src/icon.svg)
endif()
set(served_table ${PROJECT_BINARY_DIR}/explorer/assets.cpp)
add_custom_command(OUTPUT ${served_table}
  COMMAND ${CMAKE_COMMAND} -D "files=${served_files}" -D table=${served_table}
    -P ${CMAKE_CURRENT_LIST_DIR}/write_assets.cmake
  DEPENDS ${served_files} ${CMAKE_CURRENT_LIST_DIR}/write_assets.cmake COMMENT "Writing the files of the server" VERBATIM)
target_sources(attend_serve PRIVATE ${served_table})
