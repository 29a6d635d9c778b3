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

/** A document to summarize: about software, which the summarizer of `attend demo` knows. */
export const kDocument =
  "Marco is a small program to edit photographs. It has been translated into many languages. " +
  "The colours can be changed. Mistakes can be undone. It fits into the GNOME desktop.";

/** A story with a question about it. */
export interface Story {
  sentences: string[];
  question: string;
  answer: string;
}

/** In the words of the bAbI tasks (Weston et al. 2015), which the models are trained on. */
const kStories: Story[] = [
  {
    sentences: [
      "Sandra went to the office.",
      "Mary took the milk there.",
      "Sandra went to the kitchen.",
      "Mary went to the garden.",
      "Sandra went to the hallway.",
    ],
    question: "Where is the milk?",
    answer: "garden",
  },
  {
    sentences: [
      "Mary moved to the bathroom.",
      "John went to the hallway.",
      "Daniel went back to the hallway.",
      "Sandra moved to the garden.",
    ],
    question: "Where is Mary?",
    answer: "bathroom",
  },
  {
    sentences: [
      "Mary got the milk there.",
      "John moved to the bedroom.",
      "Mary discarded the milk.",
      "John went to the garden.",
    ],
    question: "Is John in the bedroom?",
    answer: "no",
  },
  {
    sentences: [
      "Mary took the apple there.",
      "Daniel went to the garden.",
      "Mary picked up the football there.",
      "John journeyed to the office.",
    ],
    question: "How many objects is Mary carrying?",
    answer: "two",
  },
  {
    sentences: ["Mice are afraid of wolves.", "Gertrude is a mouse.", "Cats are afraid of sheep.", "Winona is a cat."],
    question: "What is Gertrude afraid of?",
    answer: "wolf",
  },
];

/** The stories whose answer a model can give; the first one if it can give none of them. */
export const storiesFor = (model: Model): Story[] => {
  const known = kStories.filter(({ answer }) => model.answers?.includes(answer));
  return known.length ? known : kStories.slice(0, 1);
};

/** By the language that a model reads; in English if the server does not know it. A memory network gets a story, whose
 * last sentence is the question. */
export const exampleFor = (model: Model): Examples => {
  if (model.hops) {
    const { sentences, question } = storiesFor(model)[0];
    return { ...kEnglish, sentence: [...sentences, question].join(" ") };
  }
  const code = (model.source_language ?? "").toLowerCase().split(/[-_]/)[0];
  const short: Record<string, string> = { eng: "en", deu: "de", ger: "de", spa: "es", fra: "fr", fre: "fr", ita: "it" };
  return kExamples[short[code] ?? code] ?? kEnglish;
};
