// The Italian grammar that the phrase book needs: articles, agreement, conjugation. Rules for regular words, a table
// for irregular ones.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace attend::phrases {

enum class Gender : std::uint8_t { masculine, feminine };
enum class Number : std::uint8_t { singular, plural };

/// Who does something, as conjugations are written down: io, tu, lui or lei, noi, voi, loro.
enum Form : std::uint8_t { kIo, kTu, kLui, kNoi, kVoi, kLoro };
inline Number number_of(Form form) { return form < kNoi ? Number::singular : Number::plural; }

}  // namespace attend::phrases

namespace attend::phrases::italian {

/// il, lo, l', i, gli, la, le, as `next`, the word behind it, asks for.
std::string definite_article(Gender gender, Number number, std::string_view next);
/// un, uno, una, un'.
std::string indefinite_article(Gender gender, std::string_view next);
/// quel, quello, quell', quei, quegli, quella, quelle; bel and so on: words that end as the article does.
std::string like_article(std::string_view stem, Gender gender, Number number, std::string_view next);

/// An article or another word, and what follows: with a space between, but none behind an apostrophe.
std::string join(std::string_view first, std::string_view next);
/// A preposition and what follows, which begins with the definite article `article` or, when that is empty, without:
/// di + il cane -> del cane, su + la sedia -> sulla sedia, vicino a + l'albero -> vicino all'albero.
std::string with_preposition(std::string_view preposition, std::string_view article, std::string_view rest);

/// libro -> libri, casa -> case, cane -> cani, città -> città; what is not regular has its plural in the words' table.
std::string plural(std::string_view noun);
/// The form of an adjective, given that of masculine singular: rosso -> rossa, rossi, rosse; verde -> verdi; blu.
std::string agree(std::string_view adjective, Gender gender, Number number);

// Verbs, by their infinitives without reflexive pronoun.
std::string present(std::string_view verb, Form form);
std::string imperfect(std::string_view verb, Form form);
std::string future(std::string_view verb, Form form);
std::string gerund(std::string_view verb);
/// Of tu, noi or voi; a prohibition of tu is the infinitive.
std::string imperative(std::string_view verb, Form form);
/// mangiato; agrees with whom it speaks of where the auxiliary is essere.
std::string participle(std::string_view verb, Gender gender = Gender::masculine, Number number = Number::singular);
/// Whether the past is made with essere: sono andato. All others take avere: ho mangiato.
bool takes_essere(std::string_view verb);

/// mi, ti, si, ci, vi, si.
std::string_view reflexive(Form form);
/// A pronoun at the end of an infinitive: leggere + lo -> leggerlo.
std::string attach(std::string_view infinitive, std::string_view pronoun);

}  // namespace attend::phrases::italian
