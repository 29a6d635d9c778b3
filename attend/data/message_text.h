// Finds and removes what messages of programs contain besides text: placeholders, markup, and accelerators of menus.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace attend {

/// The placeholders of a text, sorted. printf directives are reduced to their type: %-5.2f gives %f. Braces ({}, {0},
/// {name:>5}) and variables (${name}) are returned unchanged. "100 % of" has none.
std::vector<std::string> placeholders_of(std::string_view text);

/// Whether the text contains tags: <b>, </b>, <br/>, <!-- … -->.
bool has_tags(std::string_view text);
std::string without_tags(std::string_view text);
/// Replaces common entities by their characters: &amp; &lt; &#160; &#xA0;.
std::string with_entities_decoded(std::string_view text);

/// Removes accelerator marks ("_File", "&File", "文件(_F)") from both sides of a pair. A text with several marks is not
/// changed. A word that is equal on both sides (foo_bar, AT&T) is a name and is not changed.
void remove_accelerators(std::string& source, std::string& target);

}  // namespace attend
