// The languages between which a multilingual model translates, as two lists to choose from.
import type { Model } from "./api";
import { field, remembered, select, type Option } from "./dom";

export interface Languages {
  source: string;
  target: string;
}

const kDetect: Option = { value: "auto", label: "Detect" };

/** "German (Latin)" of deu_Latn. */
function nameOf(code: string): string {
  try {
    return new Intl.DisplayNames("en", { type: "language" }).of(code.replace("_", "-")) ?? code;
  } catch {
    return code;
  }
}

/** The code of the model for one of these languages, the first that it has: "deu_Latn" for "de". */
const codeFor = (model: Model, wanted: readonly string[]): string | undefined => {
  const base = (code: string) => new Intl.Locale(code.replace("_", "-")).maximize().language;
  const known = new Map(
    (model.languages ?? []).flatMap((code) => {
      try {
        return [[base(code), code] as const];
      } catch {
        return [];
      }
    }),
  );
  return wanted.map((one) => known.get(base(one))).find(Boolean);
};

/** Two fields for a model with languages, none for others. The example texts are English, so this is the first source;
 * the first target is a language that the user reads. `detect` offers to identify the language of the text. */
export function languageFields(
  model: Model,
  view: string,
  detect: boolean,
  change: (chosen: Languages) => void,
): [HTMLElement[], Languages | null] {
  if (!model.languages?.length) return [[], null];
  const options = model.languages
    .map((value) => ({ value, label: nameOf(value) }))
    .sort((a, b) => a.label.localeCompare(b.label));
  const names = { source: `${view}.${model.id}.source`, target: `${view}.${model.id}.target` };
  const source = detect ? kDetect.value : (codeFor(model, ["en"]) ?? options[0].value);
  const readable = navigator.languages.filter((code) => !code.startsWith("en"));
  const target = codeFor(model, [...readable, "de", "fr", "es", "it"]) ?? options[0].value;
  const known = (code: string, otherwise: string) =>
    code === kDetect.value || model.languages!.includes(code) ? code : otherwise;
  const chosen = {
    source: known(remembered.get(names.source, source), source),
    target: known(remembered.get(names.target, target), target),
  };
  const list = (side: keyof Languages, all: Option[]) =>
    select(all, chosen[side], (value) => {
      remembered.set(names[side], (chosen[side] = value));
      change(chosen);
    });
  const from = list("source", detect ? [kDetect, ...options] : options);
  return [[field("From", from), field("To", list("target", options))], chosen];
}
