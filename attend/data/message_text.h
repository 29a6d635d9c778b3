// What texts of programs carry besides words: placeholders, markup, accelerators of menus.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace attend {

/// The placeholders of a text, sorted: printf's (%s, %-5.2f, %1$s, %(name)s) by what they take (%s, %f, %1$s), braces
/// ({}, {0}, {name:>5}) and variables (${name}) as they stand. "100 % of" has none.
std::vector<std::string> placeholders_of(std::string_view text);

/// Whether there are tags: <b>, </b>, <br/>, <!-- … -->.
bool has_tags(std::string_view text);
std::string without_tags(std::string_view text);
/// With the common entities as the characters they stand for: &amp; &lt; &#160; &#xA0;.
std::string with_entities_decoded(std::string_view text);

/// Removes the marks of accelerators, "_File" and "&File", "文件(_F)", from both sides of a pair. Only a mark that
/// stands alone counts; a word that is the same on both sides (foo_bar, AT&T) is a name and stays.
void remove_accelerators(std::string& source, std::string& target);

}  // namespace attend
