# ROUGE of difficult texts, by a reference implementation that is independent of the library: it follows the rules of
# Google's rouge_score, with regular expressions and dictionaries. The stems are those of NLTK, whose stemmer rouge_score
# uses. Needs Python with nltk (Debian: python3-nltk).
import collections
import json
import pathlib
import random
import re

from nltk.stem.porter import PorterStemmer

FOLDER = pathlib.Path(__file__).parent
TEXTS = 150
STEMMER = PorterStemmer()


def words_of(text, stem):
    words = re.sub("[^a-z0-9]+", " ", text.lower()).split()
    return [STEMMER.stem(word) if len(word) > 3 else word for word in words] if stem else words


def score(matches, given, expected):
    precision, recall = matches / max(given, 1), matches / max(expected, 1)
    return 200 * precision * recall / (precision + recall) if precision + recall else 0.0


def ngrams(summary, reference, n):
    given, expected = (collections.Counter(zip(*(words[i:] for i in range(n)))) for words in (summary, reference))
    return score(sum((given & expected).values()), sum(given.values()), sum(expected.values()))


def table(a, b):
    rows = [[0] * (len(b) + 1)]
    for x in a:
        rows.append([0])
        for j, y in enumerate(b):
            rows[-1].append(rows[-2][j] + 1 if x == y else max(rows[-2][j + 1], rows[-1][j]))
    return rows


def common(reference, summary):
    """Positions of a longest common subsequence in the reference: of several, the one found from the end."""
    rows, i, j, found = table(reference, summary), len(reference), len(summary), set()
    while i and j:
        if reference[i - 1] == summary[j - 1]:
            i, j = i - 1, j - 1
            found.add(i)
        elif rows[i][j - 1] > rows[i - 1][j]:
            j -= 1
        else:
            i -= 1
    return found


def by_lines(summary, reference, stem):
    given, expected = ([words_of(line, stem) for line in text.split("\n") if line] for text in (summary, reference))
    left = [collections.Counter(word for line in lines for word in line) for lines in (given, expected)]
    totals = [sum(counter.values()) for counter in left]
    matches = 0
    for line in expected:
        for i in sorted(set().union(*(common(line, other) for other in given))):
            if all(counter[line[i]] > 0 for counter in left):
                matches += 1
                for counter in left:
                    counter[line[i]] -= 1
    return score(matches, *totals)


def rouge(summary, reference, stem):
    given, expected = words_of(summary, stem), words_of(reference, stem)
    return [ngrams(given, expected, 1), ngrams(given, expected, 2),
            score(table(expected, given)[-1][-1], len(given), len(expected)), by_lines(summary, reference, stem)]


def texts():
    generator = random.Random(11)
    words = ("the The THE cat cats running runs ran quickly dying skies news proceed happily relational conditional "
             "don't x-ray 3.14 U.S. 50% a_b naïve café Zürich \u212Aelvin \u0130stanbul 東京 … — flies died agreed "
             "hopping hoping universities generalizations oscillators yyyy sayyid").split()

    def version(sentence):
        return " ".join(generator.choice(words) if generator.random() < 0.25 else word for word in sentence
                        if generator.random() > 0.1)

    for _ in range(TEXTS):
        lines = [[generator.choice(words) for _ in range(generator.randrange(0, 12))]
                 for _ in range(generator.randrange(0, 4))]
        yield tuple("\n".join(map(version, lines)) for _ in range(2))
    yield from [("", ""), ("", "a"), ("a", ""), ("cat", "cat"), ("\n\n", "the cat\n\nthe cat"), ("the cat\nthe cat", "the cat"),
                ("w1 w2 w6 w7 w8\nw1 w3 w8 w9 w5", "w1 w2 w3 w4 w5")]


def main():
    pairs = [{"summary": summary, "reference": reference, "plain": rouge(summary, reference, False),
              "stemmed": rouge(summary, reference, True)} for summary, reference in texts()]
    prose = " ".join(path.read_text() for path in sorted((FOLDER / "../../docs").glob("*.md")))
    known = sorted(set(re.findall("[a-z]+", prose.lower())))
    known += [word + ending for word in known[::7] for ending in ("ational", "iveness", "fulli", "ied", "eed", "ingly", "logi", "y")]
    stems = {word: STEMMER.stem(word) for word in known[:: max(len(known) // 1500, 1)]}
    path = FOLDER / "rouge.json"
    path.write_text(json.dumps({"pairs": pairs, "stems": stems}, ensure_ascii=False, indent=0) + "\n", encoding="utf-8")
    print(f"{path.name}: {len(pairs)} pairs, {len(stems)} stems, {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
