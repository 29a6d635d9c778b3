# Run at build time: builds a copy of web/ in the folder `work`, and writes the built files and the file `also` as tables
# into work/assets.cpp. Never fails: without npm or without a network, the table has no explorer.
cmake_minimum_required(VERSION 3.25)

set(dist ${work}/dist)
file(REMOVE_RECURSE ${dist})
if(npm)
  foreach(file src build.mjs package.json package-lock.json)
    file(REMOVE_RECURSE ${work}/${file})
    file(COPY ${source}/${file} DESTINATION ${work})
  endforeach()
  # Only the bundler is needed. npm uses its cache first; without a network it gives up soon.
  execute_process(
    COMMAND ${npm} ci --omit=dev --prefer-offline --no-audit --no-fund --ignore-scripts --no-update-notifier --loglevel=error
      --fetch-retries=1 --fetch-retry-mintimeout=500 --fetch-retry-maxtimeout=1000 --fetch-timeout=20000
    COMMAND_ECHO NONE WORKING_DIRECTORY ${work} OUTPUT_QUIET ERROR_VARIABLE error RESULT_VARIABLE failed TIMEOUT 120)
  if(NOT failed)
    execute_process(COMMAND ${npm} run --silent build
      WORKING_DIRECTORY ${work} OUTPUT_QUIET ERROR_VARIABLE error RESULT_VARIABLE failed TIMEOUT 120)
  endif()
  if(failed)
    file(REMOVE_RECURSE ${dist})
    string(REGEX MATCH "[^\n]+(\n[^\n]+)?" error "${error}")  # the first two lines are enough
    message(WARNING "The program is built without the explorer: npm could not build web/ (${failed}).\n${error}\n"
      "With a network, try again: touch web/package.json && make build")
  endif()
endif()

set(type_html "text/html; charset=utf-8")
set(type_js "text/javascript; charset=utf-8")
set(type_css "text/css; charset=utf-8")
set(type_svg "image/svg+xml")
set(type_json "application/json")

file(GLOB files ${dist}/*)
set(arrays "")
set(rows "")
set(count 0)
foreach(file IN LISTS files also)
  file(READ ${file} hex HEX)
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${hex}")
  # Short lines, for editors and compilers that have trouble with very long ones.
  string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes "${bytes}")
  get_filename_component(name ${file} NAME)
  get_filename_component(ending ${file} LAST_EXT)
  string(SUBSTRING ${ending} 1 -1 ending)
  string(APPEND arrays "const unsigned char kFile${count}[] = {\n${bytes}};\n")
  string(APPEND rows "    {\"/${name}\", \"${type_${ending}}\", text(kFile${count})},\n")
  math(EXPR count "${count} + 1")
endforeach()

if(count EQUAL 0)
  set(body "std::span<const Asset> assets() { return {}; }\n")
else()
  set(body "namespace {\n
${arrays}
template <std::size_t N>
std::string_view text(const unsigned char (&bytes)[N]) {
  return {reinterpret_cast<const char*>(bytes), N};
}

}  // namespace

std::span<const Asset> assets() {
  static const Asset table[] = {
${rows}  };
  return table;
}
")
endif()
file(WRITE ${work}/assets.cpp "// Written by cmake/build_explorer.cmake.
#include \"attend/serve/assets.h\"

#include <cstddef>

namespace attend::serve {
${body}
}  // namespace attend::serve
")
