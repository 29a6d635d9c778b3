#include "attend/data/phrases/clause.h"

#include <array>

#include "attend/data/phrases/english.h"

namespace attend::phrases {
namespace {

std::string words(std::initializer_list<std::string_view> parts) {
  std::string all;
  for (const std::string_view part : parts) all = italian::join(all, part);
  return all;
}

std::string conditional_of_volere(Form form) {
  static constexpr std::array<std::string_view, 6> kForms = {"vorrei",   "vorresti", "vorrebbe",
                                                             "vorremmo", "vorreste", "vorrebbero"};
  return std::string(kForms[form]);
}

std::string_view verb_of(Modal modal) {
  return modal == Modal::can ? "potere" : modal == Modal::must ? "dovere" : "volere";
}

std::string finite(std::string_view verb, Tense tense, Form form) {
  switch (tense) {
    case Tense::imperfect:
      return italian::imperfect(verb, form);
    case Tense::future:
      return italian::future(verb, form);
    default:
      return italian::present(verb, form);
  }
}

/// The Italian verb with pronouns, negation and adverb, without its subject.
std::string italian_verb(const Clause& clause) {
  const Predicate& p = clause.predicate;
  const Form form = clause.subject.form;
  const std::string_view no = clause.polarity == Polarity::yes ? "" : "non";
  const std::string_view behind = clause.polarity == Polarity::never       ? "mai"
                                  : clause.polarity == Polarity::no_longer ? "più"
                                                                           : std::string_view(clause.adverb.italian);
  const std::string pronoun = p.reflexive ? std::string(italian::reflexive(form)) : p.pronoun;
  if (clause.modal != Modal::none) {
    const std::string modal = clause.modal == Modal::would_like ? conditional_of_volere(form)
                                                                : finite(verb_of(clause.modal), clause.tense, form);
    return words({no, modal, behind, italian::attach(p.italian, pronoun)});
  }
  if (clause.tense == Tense::progressive)
    return words({no, pronoun, italian::present("stare", form), behind, italian::gerund(p.italian)});
  if (clause.tense == Tense::past) {
    const bool essere = p.reflexive || italian::takes_essere(p.italian);
    const std::string auxiliary = italian::present(essere ? "essere" : "avere", form);
    const bool agrees_with_pronoun = p.pronoun == "lo" || p.pronoun == "la" || p.pronoun == "li" || p.pronoun == "le";
    std::string participle = italian::participle(p.italian);
    if (essere) participle = italian::participle(p.italian, clause.subject.gender, number_of(form));
    if (agrees_with_pronoun) participle = italian::participle(p.italian, p.pronoun_gender, p.pronoun_number);
    // lo and la lose their vowel before avere: l'ho letta.
    const bool elided = !essere && (pronoun == "lo" || pronoun == "la");
    return words({no, elided ? "l'" : pronoun, auxiliary, behind, participle});
  }
  return words({no, pronoun, finite(p.italian, clause.tense, form), behind});
}

/// Places an English pronoun: after a preposition (look for it), but before an adverb (turn it on).
std::string with_pronoun(std::string verb, std::string_view pronoun) {
  if (pronoun.empty()) return verb;
  const bool adverb = verb.ends_with(" on") || verb.ends_with(" off");
  return verb.insert(adverb ? verb.rfind(' ') : verb.size(), ' ' + std::string(pronoun));
}

/// An English verb in two parts, so that a question can put the subject between them: "she | does | not read".
struct English {
  std::string auxiliary;  ///< may be empty in a statement
  std::string rest;
  std::string asked_auxiliary, asked_rest;
};

English english_verb(const Clause& clause) {
  const Predicate& p = clause.predicate;
  const bool third = clause.subject.form == kLui;
  const std::string_view no = clause.polarity == Polarity::no          ? "not"
                              : clause.polarity == Polarity::never     ? "never"
                              : clause.polarity == Polarity::no_longer ? "no longer"
                                                                       : std::string_view(clause.adverb.english);
  std::string base = with_pronoun(p.english, p.english_pronoun);
  const bool future = clause.tense == Tense::future;
  const bool past = clause.tense == Tense::past || clause.tense == Tense::imperfect;
  const auto with_auxiliary = [&](const std::string& auxiliary, const std::string& rest) {
    return English{auxiliary, words({no, rest}), auxiliary, words({no, rest})};
  };
  switch (clause.modal) {
    case Modal::none:
      break;
    case Modal::want:
      base = "want to " + base;
      break;
    case Modal::would_like:
      return with_auxiliary("would", "like to " + base);
    case Modal::can:
      if (!future) {
        if (clause.polarity == Polarity::no) return {"cannot", base, "can", words({no, base})};
        return with_auxiliary("can", base);
      }
      base = "be able to " + base;
      break;
    case Modal::must:
      if (!future) return with_auxiliary("must", base);
      base = "have to " + base;
      break;
  }
  if (future) return with_auxiliary("will", base);
  if (clause.tense == Tense::progressive) return with_auxiliary(be(clause.subject), english::progressive(base));
  const bool perfect = clause.tense == Tense::since || (past && clause.polarity == Polarity::never);
  if (perfect) return with_auxiliary(third ? "has" : "have", english::participle(base));
  if (base.starts_with("be ")) return with_auxiliary(be(clause.subject, past), base.substr(3));
  const std::string auxiliary = past ? "did" : third ? "does" : "do";
  if (clause.polarity == Polarity::no) return with_auxiliary(auxiliary, base);
  const std::string bent = past ? english::past(base) : third ? english::third_person(base) : base;
  return {"", words({no, bent}), auxiliary, words({no, base})};
}

}  // namespace

Text operator+(const Text& first, const Text& second) {
  return {italian::join(first.italian, second.italian), italian::join(first.english, second.english)};
}

Subject subject_of(const NounPhrase& phrase) {
  const bool person = phrase.is_person(), feminine = phrase.gender == Gender::feminine;
  return {phrase.italian(), phrase.english,
          phrase.is_plural() ? "they"
          : !person          ? "it"
          : feminine         ? "she"
                             : "he",
          phrase.is_plural() ? kLoro : kLui, phrase.gender};
}

Subject some_pronoun(Dice& dice) {
  struct Pronoun {
    std::string_view italian, english;
  };
  static constexpr Pronoun kPronouns[] = {{"io", "I"},   {"tu", "you"},  {"lui", "he"},
                                          {"noi", "we"}, {"voi", "you"}, {"loro", "they"}};
  const Form form = dice.pick({kIo, kIo, kIo, kTu, kTu, kLui, kLui, kNoi, kNoi, kVoi, kLoro});
  const Gender gender = dice.percent(50) ? Gender::masculine : Gender::feminine;
  const bool she = form == kLui && gender == Gender::feminine;
  const std::string english(she ? "she" : kPronouns[form].english);
  const bool said = form == kLui || dice.percent(8);
  return {said ? std::string(she ? "lei" : kPronouns[form].italian) : "", english, english, form, gender};
}

Subject again(const Subject& subject) { return {"", subject.pronoun, subject.pronoun, subject.form, subject.gender}; }

std::string be(const Subject& subject, bool past) {
  if (subject.form == kIo) return past ? "was" : "am";
  if (subject.form == kLui) return past ? "was" : "is";
  return past ? "were" : "are";
}

Text statement(const Clause& clause) {
  const English verb = english_verb(clause);
  return Text{words({clause.subject.italian, italian_verb(clause)}),
              words({clause.subject.english, verb.auxiliary, verb.rest})} +
         clause.predicate.object + clause.circumstances;
}

Text continuation(const Clause& clause) {
  const English verb = english_verb(clause);
  // A second "will" is left out: will buy it and eat it.
  const std::string_view auxiliary = clause.tense == Tense::future ? "" : std::string_view(verb.auxiliary);
  return Text{italian_verb(clause), words({auxiliary, verb.rest})} + clause.predicate.object + clause.circumstances;
}

Text question(const Clause& clause, const Text& asked, bool inverted) {
  const English verb = english_verb(clause);
  const std::string& subject = clause.subject.italian;
  Text text{words({asked.italian, inverted ? "" : subject, italian_verb(clause), inverted ? subject : ""}),
            words({asked.english, verb.asked_auxiliary, clause.subject.english, verb.asked_rest})};
  return text + clause.predicate.object + clause.circumstances;
}

Text infinitive(const Predicate& predicate, Form form) {
  const std::string pronoun = predicate.reflexive ? std::string(italian::reflexive(form)) : predicate.pronoun;
  return Text{italian::attach(predicate.italian, pronoun), with_pronoun(predicate.english, predicate.english_pronoun)} +
         predicate.object;
}

}  // namespace attend::phrases
