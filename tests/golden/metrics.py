# BLEU, chrF and chrF++ of difficult sentences, by a reference implementation that is independent of the library: it
# follows the rules of mteval-v13a and the formulas of the papers, with regular expressions and dictionaries. Needs only
# Python.
import collections
import math
import pathlib
import random
import re
import string

FOLDER = pathlib.Path(__file__).parent
SENTENCES = 240


def tokenize_13a(text):
    text = text.rstrip()
    for entity, meaning in [("<skipped>", ""), ("-\n", ""), ("\n", " "), ("&quot;", '"'), ("&amp;", "&"),
                            ("&lt;", "<"), ("&gt;", ">")]:
        text = text.replace(entity, meaning)
    text = f" {text} "
    kept_together = "',-." + string.ascii_letters + string.digits
    symbols = "".join(chr(c) for c in range(0x20, 0x7F) if chr(c) not in kept_together)
    text = re.sub("([" + re.escape(symbols) + "])", r" \1 ", text)
    text = re.sub("([^0-9])([.,])", r"\1 \2 ", text)
    text = re.sub("([.,])([^0-9])", r" \1 \2", text)
    text = re.sub("([0-9])-", r"\1 - ", text)
    return text.split()


def ngrams(sequence, n):
    return collections.Counter(tuple(sequence[i:i + n]) for i in range(len(sequence) - n + 1))


def bleu_counts(hypothesis, references):
    """[matches 1..4, totals 1..4, length, reference length]"""
    given, expected = tokenize_13a(hypothesis), [tokenize_13a(reference) for reference in references]
    matches, totals = [], []
    for n in range(1, 5):
        clip = collections.Counter()
        for reference in expected:
            clip |= ngrams(reference, n)
        counts = ngrams(given, n)
        matches.append(sum((counts & clip).values()))
        totals.append(sum(counts.values()))
    nearest = min((abs(len(reference) - len(given)), len(reference)) for reference in expected)[1]
    return matches + totals + [len(given), nearest]


def bleu(counts, effective):
    matches, totals, (length, expected) = counts[:4], counts[4:8], counts[8:]
    if not any(matches):
        return 0.0
    penalty = min(1.0, math.exp(1 - expected / length))
    precisions, half = [], 1
    for match, total in zip(matches, totals):
        if total == 0:
            if not effective:
                return 0.0
            break
        if match == 0:
            half *= 2
        precisions.append(match / total if match else 1 / (half * total))
    return 100 * penalty * math.prod(precisions) ** (1 / len(precisions))


def chrf_words(text):
    for word in text.split():
        if len(word) > 1 and word[-1] in string.punctuation:
            yield from (word[:-1], word[-1])
        elif len(word) > 1 and word[0] in string.punctuation:
            yield from (word[0], word[1:])
        else:
            yield word


def chrf_counts(hypothesis, references, words):
    def grams(text):
        letters = "".join(text.split())
        return [ngrams(letters, n) for n in range(1, 7)] + [ngrams(list(chrf_words(text)), n) for n in range(1, words + 1)]

    candidates = []
    for reference in references:
        counts = []
        for given, expected in zip(grams(hypothesis), grams(reference)):
            counts += [sum(given.values()) if expected else 0, sum(expected.values()), sum((given & expected).values())]
        candidates.append(counts)
    return max(candidates, key=chrf)  # the first one if several are best


def chrf(counts, beta=2):
    both = [(m / h, m / r) for h, r, m in zip(counts[::3], counts[1::3], counts[2::3]) if h and r]
    precision, recall = (sum(column) / len(both) for column in zip(*both)) if both else (0, 0)
    return 100 * (1 + beta**2) * precision * recall / (beta**2 * precision + recall) if precision + recall else 0.0


def sentences():
    """Difficult words, and three versions of each sentence: with dropped, doubled, swapped and changed words."""
    generator = random.Random(7)
    words = ("the The cat sat on a mat dog's don't 3.14 1,000 1,000.5 5. .5 10-20 A-3 x-ray co-op - -- ... etc., U.S. "
             "&quot;no&quot; &amp; &lt;b&gt; <skipped> (yes) [1] {x} 50% $5 #1 a/b c_d e|f ~ ^ `q` \\ @home ! ?! : ; 1.a a.1 "
             ",, 1,, ,1 1.. ..2 naïve Zürich cafe\u0301 東京 。 日本語、 “quoted” – — … Москва, שלום 👩‍🔬 ½ ٣.٤ 3.x é. é,é").split()
    spaces = [" "] * 12 + ["\u00a0", "\t", "  ", "\u3000", "\u2009", "\x1f", "\u200b"]

    def version(sentence):
        changed = []
        for word in sentence:
            chance = generator.random()
            if chance < 0.1:
                continue
            changed.append(generator.choice(words) if chance < 0.3 else word)
            if chance > 0.95:
                changed.append(word)
        if generator.random() < 0.3:
            generator.shuffle(changed)
        return "".join(word + generator.choice(spaces) for word in changed)

    for i in range(SENTENCES):
        sentence = [generator.choice(words) for _ in range(generator.randrange(0, 24))]
        yield version(sentence), [version(sentence), version(sentence)]


def main():
    lines, sums = [], {}
    for hypothesis, references in sentences():
        counts = {"bleu": bleu_counts(hypothesis, references), "bleu1": bleu_counts(hypothesis, references[:1]),
                  "chrf": chrf_counts(hypothesis, references, 0), "chrf++": chrf_counts(hypothesis, references, 2)}
        for name, values in counts.items():
            sums[name] = [a + b for a, b in zip(sums.get(name, [0] * len(values)), values)]
        scores = [bleu(counts["bleu"], True), bleu(counts["bleu1"], True), chrf(counts["chrf"]), chrf(counts["chrf++"])]
        texts = [hypothesis, *references, " ".join(tokenize_13a(hypothesis))]
        lines.append([text.replace("\t", "\\t") for text in texts] + [repr(score) for score in scores])
    lines.append(["", "", "", "corpus", *(repr(score) for score in (bleu(sums["bleu"], False), bleu(sums["bleu1"], False),
                                                                     chrf(sums["chrf"]), chrf(sums["chrf++"])))])
    path = FOLDER / "metrics.tsv"
    path.write_text("".join("\t".join(line) + "\n" for line in lines), encoding="utf-8", newline="\n")
    print(f"{path.name}: {len(lines)} lines, {path.stat().st_size:,} bytes; corpus:", *lines[-1][4:])


if __name__ == "__main__":
    main()
