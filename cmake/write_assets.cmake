# Run at build time: writes the files in the list `files` as arrays into the C++ source `table`.
cmake_minimum_required(VERSION 3.25)

set(type_html "text/html; charset=utf-8")
set(type_js "text/javascript; charset=utf-8")
set(type_css "text/css; charset=utf-8")
set(type_svg "image/svg+xml")
set(type_json "application/json")

set(arrays "")
set(rows "")
set(count 0)
foreach(file IN LISTS files)
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

file(WRITE ${table} "// Written by cmake/write_assets.cmake.
#include \"attend/serve/assets.h\"

#include <cstddef>

namespace attend::serve {
namespace {

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

}  // namespace attend::serve
")
