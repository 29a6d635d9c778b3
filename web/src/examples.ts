// Example texts in the language of a model, as far as the server knows it.
import type { Model } from "./api";

interface Examples {
  /** One sentence: for attention and translation. */
  sentence: string;
  /** The beginning of a text, for a language model. */
  beginning: string;
}

const kEnglish: Examples = {
  sentence: "The animal did not cross the street because it was too tired.",
  beginning: "Once upon a time there was a",
};

const kExamples: Record<string, Examples> = {
  en: kEnglish,
  de: { sentence: "Ich habe das neue Buch von Marco nie gelesen.", beginning: "Es war einmal ein" },
  es: { sentence: "Nunca he leído el libro nuevo de Marco.", beginning: "Érase una vez un" },
  fr: { sentence: "Je n’ai jamais lu le nouveau livre de Marco.", beginning: "Il était une fois un" },
  it: { sentence: "Non ho mai letto il libro nuovo di Marco.", beginning: "C’era una volta un" },
  nl: { sentence: "Ik heb het nieuwe boek van Marco nooit gelezen.", beginning: "Er was eens een" },
  pt: { sentence: "Nunca li o livro novo do Marco.", beginning: "Era uma vez um" },
  ru: { sentence: "Я никогда не читал новую книгу Марка.", beginning: "Жил-был" },
  zh: { sentence: "我从来没有读过马可的新书。", beginning: "从前有一个" },
};

/** By the language that a model reads; in English if the server does not know it. */
export const exampleFor = (model: Model): Examples => {
  const code = (model.source_language ?? "").toLowerCase().split(/[-_]/)[0];
  const short: Record<string, string> = { eng: "en", deu: "de", ger: "de", spa: "es", fra: "fr", fre: "fr", ita: "it" };
  return kExamples[short[code] ?? code] ?? kEnglish;
};
