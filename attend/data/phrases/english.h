// The English grammar that the phrase book needs: rules for regular words, a table for irregular ones. In a phrase
// ("wait for"), the first word is inflected.
#pragma once
#include <string>
#include <string_view>

namespace attend::phrases::english {

/// apple -> apples, box -> boxes, city -> cities, child -> children.
std::string plural(std::string_view noun);
/// Adds a or an; follows the sound, for the words of the phrase book.
std::string with_article(std::string_view phrase);
/// the boy -> the boy's, my friends -> my friends', the children -> the children's.
std::string possessive(std::string_view phrase, bool plural);

/// eat -> eats, watch -> watches.
std::string third_person(std::string_view verb);
/// eat -> ate, wait for -> waited for.
std::string past(std::string_view verb);
/// write -> written: only where it differs from the past.
std::string participle(std::string_view verb);
/// write -> writing, swim -> swimming.
std::string progressive(std::string_view verb);

/// bigger -> biggest, better -> best; with an empty `comparative`: more useful -> most useful.
std::string comparative(std::string_view adjective, std::string_view comparative);
std::string superlative(std::string_view adjective, std::string_view comparative);

}  // namespace attend::phrases::english
