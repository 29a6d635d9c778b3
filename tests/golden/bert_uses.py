#!/usr/bin/env python3
# Small random BERT folders with tokenizers, and the results of other libraries for some texts: embeddings, predicted
# masked tokens, answers, tags and labels.
#   python3 tests/golden/bert_uses.py              writes tests/tasks/fixtures/: a folder each, with expected.json inside
#   python3 tests/golden/bert_uses.py reranking    only those of one function
# Needs torch and transformers. Embeddings are computed as in sentence-transformers (its modules are implemented below),
# and answers as in the question-answering pipeline of transformers 4, which version 5 does not have any more. The tests
# only read the results.
import json
import pathlib
import shutil
import sys

import numpy
import torch
import transformers
from transformers import AutoTokenizer, pipeline
from transformers.pipelines.token_classification import AggregationStrategy

TESTS = pathlib.Path(__file__).parent.parent
FIXTURES = TESTS / "tasks" / "fixtures"

BERT = dict(hidden_size=8, num_hidden_layers=2, num_attention_heads=2, intermediate_size=11, max_position_embeddings=40)
DISTILBERT = dict(dim=6, n_layers=1, n_heads=3, hidden_dim=13, max_position_embeddings=40)
ROBERTA = dict(hidden_size=8, num_hidden_layers=1, num_attention_heads=4, intermediate_size=9, max_position_embeddings=42,
               type_vocab_size=1, pad_token_id=1, layer_norm_eps=1e-5)
ELECTRA = BERT | dict(embedding_size=5)
MPNET = dict(hidden_size=8, num_hidden_layers=2, num_attention_heads=2, intermediate_size=11, max_position_embeddings=42)
ALBERT = BERT | dict(embedding_size=5)
MODERNBERT = dict(hidden_size=8, num_hidden_layers=2, num_attention_heads=2, intermediate_size=9, max_position_embeddings=40, local_attention=6)

TEXTS = ["The child wasn't reading the newspapers of 1984.", "", "Nobody here", "  Il bambino legge il giornale.  ",
         "The old sailor has seen an unbelievable story, again? The old sailor has seen 3,141 letters! Das Kind liest.",
         "größere Straßen, perché è così?", "Un marinaio unbelievably restored"]


def write_json(path, data):
    path.write_text(json.dumps(data, ensure_ascii=False, separators=(",", ":")) + "\n")


def folder(name, vocabulary, kind, sizes, inner="", limit=None, extra=None):
    """A folder with the tokenizer of tests/text/fixtures/VOCABULARY and a random model of this class."""
    torch.manual_seed(sum(map(ord, name)))
    shutil.rmtree(FIXTURES / name, ignore_errors=True)
    path = FIXTURES / name / inner
    path.mkdir(parents=True)
    for file in (TESTS / "text" / "fixtures" / vocabulary).iterdir():
        if file.name not in ("expected.json", "config.json"):
            shutil.copy(file, path)
    if limit:
        config = json.loads((path / "tokenizer_config.json").read_text())
        write_json(path / "tokenizer_config.json", config | {"model_max_length": limit})
    tokens = len(AutoTokenizer.from_pretrained(path))
    family = kind.split("For")[0].removesuffix("Model")
    config = getattr(transformers, family + "Config")(vocab_size=tokens, **sizes, **(extra or {}))
    model = getattr(transformers, kind)(config).eval()
    with torch.no_grad():
        for key, value in model.named_parameters():
            norm = "norm" in key.lower() and key.endswith("weight")
            value.copy_(torch.randn_like(value) * (0.1 if value.dim() == 1 else 0.5) + norm)
    model.save_pretrained(path)
    (path / "generation_config.json").unlink(missing_ok=True)
    tok = AutoTokenizer.from_pretrained(path)
    if family in ("Bert", "Electra"):  # as in the tokenizer class of BERT, for every folder
        tok.model_input_names = ["input_ids", "token_type_ids", "attention_mask"]
    return path, tok, model


def to_bytes(text, span):
    return [len(text[:edge].encode()) for edge in span]


def rounded(values):
    return [float(f"{v:.8g}") for v in values]


def windows(whole, sequence, most, shared):
    """The tokens of each window: those outside of one sequence, and a part of this sequence. The windows of the tokenizer
    itself are incomplete in tokenizers 0.23, which only uses the tokens of the first window."""
    own = [i for i, of in enumerate(whole.sequence_ids) if of == sequence]
    room = most - (len(whole.ids) - len(own))
    for begin in range(0, len(own), room - shared):
        yield list(range(own[0])) + own[begin:begin + room] + list(range(own[-1] + 1, len(whole.ids)))
        if begin + room >= len(own):
            return


# --- vectors -------------------------------------------------------------------------------------------------------


def pooled(states, way, skipped=0):
    rows = states[skipped:]
    places = torch.arange(1, len(states) + 1).float()[skipped:, None]
    return {"cls": lambda: states[0], "max": lambda: rows.max(0).values, "mean": lambda: rows.mean(0),
            "mean_sqrt_len_tokens": lambda: rows.sum(0) / len(rows) ** 0.5,
            "weightedmean": lambda: (rows * places).sum(0) / places.sum(), "lasttoken": lambda: states[-1]}[way]()


def vectors(tok, model, ways, limit, layers=(), prompt="", skipped=0, lower=False):
    result = []
    for text in TEXTS:
        text = (prompt + text).strip()
        ids = tok(text.lower() if lower else text, truncation=True, max_length=limit, return_tensors="pt")
        with torch.no_grad():
            states = model.base_model(**ids).last_hidden_state[0]
            vector = torch.cat([pooled(states, way, skipped) for way in ways])
            for layer in layers:
                vector = layer(vector)
        result.append(rounded(vector.tolist()))
    return result


def module(index, name, path, old=True):
    prefix = "sentence_transformers.models." if old else "sentence_transformers.sentence_transformer.modules."
    return {"idx": index, "name": str(index), "path": path, "type": prefix + name}


def unit(x):
    return torch.nn.functional.normalize(x, dim=0)


def sentence_mean():
    """Like all-MiniLM and E5: the normalised mean; texts are truncated to max_seq_length."""
    path, tok, model = folder("sentence_mean", "bert_uncased", "BertModel", BERT)
    write_json(path / "modules.json", [module(0, "Transformer", ""), module(1, "Pooling", "1_Pooling"), module(2, "Normalize", "2_Normalize")])
    (path / "1_Pooling").mkdir()
    write_json(path / "1_Pooling" / "config.json", {"word_embedding_dimension": 8, "pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True,
                                                    "pooling_mode_max_tokens": False, "pooling_mode_mean_sqrt_len_tokens": False})
    write_json(path / "sentence_bert_config.json", {"max_seq_length": 16, "do_lower_case": False})
    write_json(path / "expected.json", {"texts": TEXTS, "vectors": vectors(tok, model, ["mean"], 16, [unit]),
                                        "not_normalized": vectors(tok, model, ["mean"], 16)})


def sentence_dense():
    """Several kinds of pooling, a dense layer, a norm, prompts that are excluded from pooling, lower-case text, the model in a subfolder."""
    inner, tok, model = folder("sentence_dense", "bert_cased", "DistilBertModel", DISTILBERT, inner="0_Transformer")
    path = inner.parent
    write_json(path / "modules.json", [module(0, "Transformer", "0_Transformer"), module(1, "Pooling", "1_Pooling", False),
                                       module(2, "Dense", "2_Dense"), module(3, "Dropout", "3_Dropout"), module(4, "LayerNorm", "4_LayerNorm")])
    ways = ["cls", "max", "mean", "mean_sqrt_len_tokens", "weightedmean", "lasttoken"]
    for name in ["1_Pooling", "2_Dense", "4_LayerNorm"]:
        (path / name).mkdir()
    write_json(path / "1_Pooling" / "config.json", {"word_embedding_dimension": 6, "include_prompt": False,
                                                    **{f"pooling_mode_{way}{'_token' if way == 'cls' else '_tokens' if way in ('max', 'mean', 'weightedmean') else ''}": True for way in ways}})
    dense, norm = torch.nn.Linear(36, 5), torch.nn.LayerNorm(5)
    torch.nn.init.normal_(norm.weight), torch.nn.init.normal_(norm.bias)
    torch.save({f"linear.{k}": v for k, v in dense.state_dict().items()}, path / "2_Dense" / "pytorch_model.bin")
    torch.save({f"norm.{k}": v for k, v in norm.state_dict().items()}, path / "4_LayerNorm" / "pytorch_model.bin")
    write_json(path / "2_Dense" / "config.json", {"in_features": 36, "out_features": 5, "bias": True,
                                                  "activation_function": "torch.nn.modules.activation.Tanh"})
    write_json(inner / "sentence_distilbert_config.json", {"max_seq_length": 12, "do_lower_case": True})
    write_json(path / "config_sentence_transformers.json", {"prompts": {"query": "the child: ", "document": ""}, "default_prompt_name": "query"})
    layers = [dense, torch.tanh, norm]
    skipped = len(tok("the child:")["input_ids"]) - 1
    write_json(path / "expected.json", {"texts": TEXTS, "vectors": vectors(tok, model, ways, 12, layers, "the child: ", skipped, True),
                                        "documents": vectors(tok, model, ways, 12, layers, lower=True)})


def sentence_mpnet():
    """Like all-mpnet-base-v2, with the prompts of E5."""
    path, tok, model = folder("sentence_mpnet", "mpnet", "MPNetModel", MPNET)
    write_json(path / "modules.json", [module(0, "Transformer", ""), module(1, "Pooling", "1_Pooling"), module(2, "Normalize", "2_Normalize")])
    (path / "1_Pooling").mkdir()
    write_json(path / "1_Pooling" / "config.json", {"word_embedding_dimension": 8, "pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True})
    write_json(path / "sentence_bert_config.json", {"max_seq_length": 24, "do_lower_case": False})
    write_json(path / "config_sentence_transformers.json", {"prompts": {"query": "query: ", "passage": "passage: "}})
    write_json(path / "expected.json", {"texts": TEXTS, "vectors": vectors(tok, model, ["mean"], 24, [unit]),
                                        **{name: vectors(tok, model, ["mean"], 24, [unit], f"{name}: ") for name in ("query", "passage")}})


def roberta_words():
    """A folder without the files of sentence-transformers, and with another mask token."""
    path, tok, model = folder("roberta_words", "roberta", "RobertaForMaskedLM", ROBERTA)
    texts = ["The child<mask> the newspapers.", "<mask>", "Il bambino <mask> il <mask>."]
    write_json(path / "expected.json", {
        "texts": TEXTS, **{way: vectors(tok, model, [way], 40) for way in ["cls", "max", "mean"]}, "masked": masked(texts, tok, model)})


# --- words -----------------------------------------------------------------------------------------------------------


def masked(texts, tok, model):
    fill = pipeline("fill-mask", model=model, tokenizer=tok, top_k=6)
    result = []
    for text in texts:
        rows = fill(text)
        rows = [rows] if isinstance(rows[0], dict) else rows
        result.append({"text": text, "masks": [[{"id": c["token"], "token": c["token_str"], "prob": c["score"]} for c in row] for row in rows]})
    return result


def words():
    path, tok, model = folder("bert_words", "bert_uncased", "BertForMaskedLM", BERT)
    texts = ["The child [MASK] the newspapers.", "[MASK]", "Il [MASK] legge [MASK] giornale [MASK]", "un[MASK]able"]
    write_json(path / "expected.json", {"masked": masked(texts, tok, model)})


def more_words():
    texts = ["The child [MASK] the newspapers.", "[MASK]", "Il[MASK] legge [MASK] giornale"]
    path, tok, model = folder("albert_words", "albert", "AlbertForMaskedLM", ALBERT)
    write_json(path / "expected.json", {"masked": masked(texts, tok, model)})
    ids = {f"{name}_token_id": 361 + i for i, name in enumerate(["cls", "sep", "pad"])} | dict(bos_token_id=361, eos_token_id=362)
    path, tok, model = folder("modernbert_words", "modernbert", "ModernBertForMaskedLM", MODERNBERT | ids)
    write_json(path / "expected.json", {"masked": masked(texts, tok, model)})


# --- answers ---------------------------------------------------------------------------------------------------------


def answers(tok, model, question, text, top, longest, impossible, most=384, shared=128):
    most = min(most, model.config.max_position_embeddings)
    found, null = {}, 1e6
    whole = tok(question, text).encodings[0]
    for tokens in windows(whole, 1, most, min(shared, most // 2)):
        pick = lambda values: [values[i] for i in tokens]
        with torch.no_grad():
            out = model(torch.tensor([pick(whole.ids)]), token_type_ids=torch.tensor([pick(whole.type_ids)]))
        start, end = out.start_logits[0].numpy(), out.end_logits[0].numpy()
        words, places = pick(whole.word_ids), pick(whole.offsets)
        wanted = numpy.array([s == 1 for s in pick(whole.sequence_ids)])
        of_word = lambda word: [place for place, other, own in zip(places, words, wanted) if own and other == word]
        wanted[0] = True
        start, end = (numpy.where(wanted, x, -10000.0) for x in (start, end))
        start, end = (numpy.exp(x - x.max()) / numpy.exp(x - x.max()).sum() for x in (start, end))
        null = min(null, start[0] * end[0])
        start[0] = end[0] = 0
        wanted[0] = False
        candidates = numpy.tril(numpy.triu(numpy.outer(start, end)), longest - 1)
        order = numpy.argsort(-candidates.flatten(), kind="stable")[:top]
        for s, t in zip(*numpy.unravel_index(order, candidates.shape)):
            if wanted[s] and wanted[t]:
                span = tuple(to_bytes(text, (of_word(words[s])[0][0], of_word(words[t])[-1][1])))
                found[span] = max(found.get(span, 0), float(candidates[s, t]))  # windows overlap
    result = [{"span": list(span), "score": score} for span, score in found.items()]
    if impossible:
        result.append({"span": [0, 0], "score": float(null)})
    return sorted(result, key=lambda a: -a["score"])[:top]


def answering():
    path, tok, model = folder("bert_answers", "bert_cased", "BertForQuestionAnswering", BERT | dict(max_position_embeddings=64))
    short, long = TEXTS[0], " ".join(t.strip() for t in TEXTS)
    cases = [dict(question="Nobody here?", text=short, top=1, longest=15, impossible=False),
             dict(question="Nobody here?", text=short, top=4, longest=3, impossible=True),
             dict(question="perché?", text=long, top=5, longest=6, impossible=True, most=24, shared=8),
             dict(question="", text=short, top=2, longest=15, impossible=False)]
    write_json(path / "expected.json", {"cases": [case | {"answers": answers(tok, model, **case)} for case in cases]})


# --- tags and labels -------------------------------------------------------------------------------------------------


def tags(tok, model, limit, texts):
    result = []
    find = pipeline("token-classification", model=model, tokenizer=tok)
    for text in texts:
        whole, parts = tok(text).encodings[0], []
        for tokens in windows(whole, 0, limit, 6):
            pick = lambda values: torch.tensor([[values[i] for i in tokens]])
            with torch.no_grad():
                logits = model(pick(whole.ids)).logits
            parts.append({"logits": logits, "input_ids": pick(whole.ids), "offset_mapping": pick(whole.offsets),
                          "special_tokens_mask": pick(whole.special_tokens_mask), "sentence": text})
        for strategy in AggregationStrategy:
            if strategy == AggregationStrategy.NONE and len(parts) > 1:
                continue
            found = find.postprocess(parts, strategy)
            result.append({"strategy": strategy.value, "text": text, "tags": [
                {"label": t.get("entity_group", t.get("entity")), "span": to_bytes(text, (t["start"], t["end"])), "prob": float(t["score"])} for t in found]})
    return result


LABELS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]


def tagging():
    labels = {"id2label": dict(enumerate(LABELS)), "label2id": {label: i for i, label in enumerate(LABELS)}}
    path, tok, model = folder("bert_tags", "bert_cased", "BertForTokenClassification", BERT, limit=24, extra=labels)
    write_json(path / "expected.json", {"cases": tags(tok, model, 24, TEXTS[:1] + TEXTS[2:])})
    path, tok, model = folder("roberta_tags", "roberta", "RobertaForTokenClassification", ROBERTA, limit=24, extra=labels)
    # Without the texts with tokens that are whitespace or half a character, for which the pipeline returns duplicates.
    write_json(path / "expected.json", {"cases": tags(tok, model, 24, [TEXTS[i] for i in (0, 2, 4, 6)])})


def reranking():
    """A cross-encoder: one label, whose logit scores a query and a text."""
    path, tok, model = folder("cross_encoder", "bert_uncased", "BertForSequenceClassification", BERT, limit=40,
                              extra={"id2label": {0: "LABEL_0"}, "label2id": {"LABEL_0": 0}})
    query, texts = "Nobody reads\tthe letters", [text for text in TEXTS if text]  # transformers ignores an empty second text
    with torch.no_grad():
        logits = [model(**tok(query, text, truncation=True, max_length=40, return_tensors="pt")).logits.item() for text in texts]
    write_json(path / "expected.json", {"query": query, "texts": texts, "logits": rounded(logits)})


def labelled(name, vocabulary, kind, sizes, extra={}):
    labels = {"id2label": {0: "sport", 1: "weather", 2: "art"}, "label2id": {"sport": 0, "weather": 1, "art": 2}}
    pairs = [("Nobody here", "Un marinaio legge."), ("", "The child")]
    path, tok, model = folder(name, vocabulary, kind, sizes, limit=40, extra=labels | extra)
    classify = pipeline("text-classification", model=model, tokenizer=tok, top_k=None, truncation=True)

    def probabilities(given):
        found = classify(given)
        scores = {r["label"]: r["score"] for r in (found[0] if isinstance(found[0], list) else found)}
        return rounded(scores[label] for label in labels["label2id"])

    with torch.no_grad():
        model.set_attn_implementation("eager")
        ids = tok(TEXTS[0], return_tensors="pt")
        attention = model(**ids, output_attentions=True).attentions[-1][0, :, 0].mean(0)
    write_json(path / "expected.json", {
        "texts": TEXTS, "probs": [probabilities(text) for text in TEXTS],
        "pairs": [a + "\t" + b for a, b in pairs], "pair_probs": [probabilities({"text": a, "text_pair": b}) for a, b in pairs],
        "attention": rounded(attention.tolist())})


def labelling():
    labelled("bert_labels", "bert_cased", "BertForSequenceClassification", BERT)
    labelled("bert_several_labels", "bert_uncased", "BertForSequenceClassification", BERT, {"problem_type": "multi_label_classification"})


def electra_labels():
    labelled("electra_labels", "bert_uncased", "ElectraForSequenceClassification", ELECTRA)


if __name__ == "__main__":
    for make in [sentence_mean, sentence_dense, sentence_mpnet, roberta_words, words, more_words, answering, tagging, reranking, labelling,
                 electra_labels]:
        if len(sys.argv) < 2 or make.__name__ in sys.argv:
            make()
    print(f"total: {sum(f.stat().st_size for f in FIXTURES.rglob('*') if f.is_file()):,} bytes")
