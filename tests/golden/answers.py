# Exact match and F1 of answers, by a reference implementation that is independent of the library: it follows the rules
# of SQuAD's evaluation (Rajpurkar et al. 2016, 2018) with regular expressions. Needs only Python.
import json
import pathlib
import random
import re
import string
import unicodedata

FOLDER = pathlib.Path(__file__).parent
CASES = 30  # of each language
ARTICLES = {
    "de": "der die das den dem des ein eine einen einem einer eines",
    "en": "a an the",
    "es": "el la los las un una unos unas",
    "fr": "le la les l un une des",
    "it": "il lo la i gli le l un uno una",
    "ja": "",
    "zh": "",
    "other": "",
}
WORDS = {
    "de": ["der", "Die", "einem", "Straße", "Übung", "„Zug“", "1,5", "–", "E-Mail", "der-Hund"],
    "en": ["the", "The", "a", "An", "cat", "U.S.", "“the", "1,000", "don't", "–", "€5", "e-mail", "the’s", "Theory"],
    "es": ["el", "Las", "una", "¿niño?", "Año", "«casa»", "unas", "sí"],
    "fr": ["l'eau", "L’été", "le", "des", "d'un", "«mot»", "une", "Les", "aujourd'hui"],
    "it": ["l'acqua", "L’uomo", "l' embargo", "il", "Gli", "un'altra", "dell'arte", "è", "i", "perché", "1973-74"],
    "ja": ["東京", "です。", "カタカナー", "AB12", "は", "、", "「はい」"],
    "zh": ["北京", "。", "是中国", "ABC公司", "1949年", "，", "《红楼梦》", "a"],
    "other": ["the", "слово", "«дом»", "α", "—", "x-y"],
}
SINGLE = "\u4e00-\u9fff\u3400-\u4dbf\u3040-\u30ff"  # Chinese characters and kana

def words_of(text, language):
    text = text.lower()
    if language in ("it", "fr"):
        text = re.sub("['’]", " ", text)
    text = "".join(c for c in text if c not in string.punctuation
                   and (language == "en" or not unicodedata.category(c).startswith("P")))
    if articles := ARTICLES[language].split():
        text = re.sub(r"\b(" + "|".join(articles) + r")\b", " ", text)
    words = text.split()
    if language in ("ja", "zh"):
        words = [part for word in words for part in re.findall(f"[{SINGLE}]|[^{SINGLE}]+", word)]
    return words


def f1(predicted, expected):
    if not predicted or not expected:
        return float(predicted == expected)
    left, same = list(expected), 0
    for word in predicted:
        if word in left:
            left.remove(word)
            same += 1
    if same == 0:
        return 0.0
    precision, recall = same / len(predicted), same / len(expected)
    return 2 * precision * recall / (precision + recall)


def main():
    random.seed(7)
    cases = []
    for language in sorted(ARTICLES):
        def text(least):
            return random.choice([" ", "  "]).join(random.choices(WORDS[language], k=random.randint(least, 5)))
        for _ in range(CASES):
            references = [text(1) for _ in range(random.randint(0, 3))]
            prediction = random.choice([text(0)] + [random.choice([r, r.upper(), r + ".", "the " + r]) for r in references])
            golds = [gold for gold in (words_of(r, language) for r in references) if gold] or [[]]
            predicted = words_of(prediction, language)
            cases.append({"language": language, "prediction": prediction, "references": references, "words": predicted,
                          "exact": float(max(predicted == gold for gold in golds)),
                          "f1": max(f1(predicted, gold) for gold in golds)})
    lines = ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases)
    (FOLDER / "answers.json").write_text(f"[\n{lines}\n]\n")


main()
