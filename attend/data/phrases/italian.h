// The Italian grammar that the phrase book needs: articles, agreement, conjugation. Rules for regular words, a table
// for irregular ones.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace attend::phrases {

enum class Gender : std::uint8_t { masculine, feminine };
enum class Number : std::uint8_t { singular, plural };

/// Person and number, in the usual order of conjugation tables: io, tu, lui or lei, noi, voi, loro.
enum Form : std::uint8_t { kIo, kTu, kLui, kNoi, kVoi, kLoro };
inline Number number_of(Form form) { return form < kNoi ? Number::singular : Number::plural; }

}  // namespace attend::phrases

namespace attend::phrases::italian {

/// il, lo, l', i, gli, la, le; the form depends on `next`, the word that follows.
std::string definite_article(Gender gender, Number number, std::string_view next);
/// un, uno, una, un'.
std::string indefinite_article(Gender gender, std::string_view next);
/// Words that have the endings of the article: quel, quello, quell', quei, quegli, quella, quelle; bel and so on.
std::string like_article(std::string_view stem, Gender gender, Number number, std::string_view next);

/// Joins two words with a space, or without one after an apostrophe.
std::string join(std::string_view first, std::string_view next);
/// A preposition before a phrase that begins with the definite article `article`, which may be empty:
/// di + il cane -> del cane, su + la sedia -> sulla sedia, vicino a + l'albero -> vicino all'albero.
std::string with_preposition(std::string_view preposition, std::string_view article, std::string_view rest);

/// libro -> libri, casa -> case, cane -> cani, città -> città; irregular plurals are in the table of nouns.
std::string plural(std::string_view noun);
/// The form of an adjective, from its masculine singular: rosso -> rossa, rossi, rosse; verde -> verdi; blu.
std::string agree(std::string_view adjective, Gender gender, Number number);

// Forms of verbs, from the infinitive without reflexive pronoun.
std::string present(std::string_view verb, Form form);
std::string imperfect(std::string_view verb, Form form);
std::string future(std::string_view verb, Form form);
std::string gerund(std::string_view verb);
/// For tu, noi or voi. The negative imperative of tu is the infinitive.
std::string imperative(std::string_view verb, Form form);
/// mangiato. With the auxiliary essere it agrees with the subject.
std::string participle(std::string_view verb, Gender gender = Gender::masculine, Number number = Number::singular);
/// Whether the auxiliary of the past is essere (sono andato) and not avere (ho mangiato).
bool takes_essere(std::string_view verb);

/// mi, ti, si, ci, vi, si.
std::string_view reflexive(Form form);
/// Attaches a pronoun to an infinitive: leggere + lo -> leggerlo.
std::string attach(std::string_view infinitive, std::string_view pronoun);

}  // namespace attend::phrases::italian
