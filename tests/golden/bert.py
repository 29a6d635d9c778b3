#!/usr/bin/env python3
# Small random folders of the models of BERT's family, one for each head and more for special cases, each with the
# results of transformers.
#   python3 tests/golden/bert.py                   writes tests/models/fixtures/bert_*: a folder each, with golden.safetensors
#   python3 tests/golden/bert.py electra albert    writes only the folders with one of these words in their names
# Needs torch and transformers. The tests only read the results.
import inspect
import json
import pathlib
import shutil
import sys

import torch
import transformers
from golden import save
from safetensors.torch import save_file
from torch.nn import functional as F

FIXTURES = pathlib.Path(__file__).parent.parent / "models" / "fixtures"
LENGTHS = [7, 1, 5]
LONGER = [13, 1, 5]  # beyond the exact distances of MPNet and the window of ModernBERT
STEPS = 10

BERT = dict(vocab_size=41, hidden_size=12, num_hidden_layers=2, num_attention_heads=3, intermediate_size=19,
            max_position_embeddings=16)
DISTILBERT = dict(vocab_size=37, dim=10, n_layers=1, n_heads=5, hidden_dim=13, max_position_embeddings=12)
ROBERTA = dict(vocab_size=39, hidden_size=14, num_hidden_layers=1, num_attention_heads=7, intermediate_size=17,
               max_position_embeddings=14, type_vocab_size=1, pad_token_id=1, layer_norm_eps=1e-5)
ELECTRA = dict(vocab_size=43, embedding_size=6, hidden_size=10, num_hidden_layers=2, num_attention_heads=5, intermediate_size=15,
               max_position_embeddings=13)
MPNET = dict(vocab_size=38, hidden_size=9, num_hidden_layers=2, num_attention_heads=3, intermediate_size=14, max_position_embeddings=17)
ALBERT = dict(vocab_size=36, embedding_size=5, hidden_size=12, num_hidden_layers=4, num_hidden_groups=2, num_attention_heads=3,
              intermediate_size=17, max_position_embeddings=15)
MODERNBERT = dict(vocab_size=40, hidden_size=12, num_hidden_layers=4, num_attention_heads=3, intermediate_size=10, max_position_embeddings=18,
                  local_attention=4, pad_token_id=3, bos_token_id=1, eos_token_id=2, cls_token_id=1, sep_token_id=2)
WIDE_HEADS = MODERNBERT | dict(hidden_size=24, num_attention_heads=2)
HEADS = ["Model", "ForMaskedLM", "ForSequenceClassification", "ForTokenClassification", "ForQuestionAnswering"]
THREE = {"id2label": {0: "bad", 1: "so so", 2: "good"}, "label2id": {"bad": 0, "so so": 1, "good": 2}}
LABELS = {"ForSequenceClassification": THREE, "ForTokenClassification": THREE}

# name -> class of the model, its configuration, format of its weights
VARIANTS = {f"bert_{family.lower()}_{head.removeprefix('For').lower()}": (family + head, sizes | LABELS.get(head, {}), "safetensors")
            for family, sizes in [("Bert", BERT), ("DistilBert", DISTILBERT), ("Roberta", ROBERTA), ("Electra", ELECTRA), ("MPNet", MPNET),
                               ("Albert", ALBERT), ("ModernBert", MODERNBERT)] for head in HEADS}
VARIANTS |= {
    "bert_pretraining": ("BertForPreTraining", BERT | dict(hidden_act="relu"), "safetensors"),
    "bert_nextsentence": ("BertForNextSentencePrediction", BERT | dict(hidden_act="silu"), "safetensors"),
    "bert_old_names": ("BertForPreTraining", BERT | dict(hidden_act="gelu_new"), "old"),
    "bert_untied": ("BertForMaskedLM", BERT | dict(tie_word_embeddings=False, hidden_act="gelu_new"), "safetensors"),
    "bert_sharded": ("BertModel", BERT | dict(hidden_size=15, num_attention_heads=5), "sharded"),
    "bert_electra_wide": ("ElectraForSequenceClassification", ELECTRA | dict(embedding_size=10) | THREE, "safetensors"),
    "bert_electra_discriminator": ("ElectraForPreTraining", ELECTRA, "safetensors"),
    "bert_albert_pretraining": ("AlbertForPreTraining", ALBERT | dict(num_hidden_groups=1, embedding_size=12), "safetensors"),
    "bert_modernbert_mean": ("ModernBertForSequenceClassification", MODERNBERT | dict(classifier_pooling="mean") | THREE, "safetensors"),
    "bert_modernbert_yarn": ("ModernBertModel", WIDE_HEADS | dict(rope_parameters={
        "full_attention": dict(rope_type="yarn", rope_theta=50.0, factor=4.0, original_max_position_embeddings=12, beta_fast=1.5,
                               beta_slow=0.2),
        "sliding_attention": dict(rope_type="linear", rope_theta=30.0, factor=2.5)}), "safetensors"),
    "bert_modernbert_llama3": ("ModernBertModel", WIDE_HEADS | dict(rope_parameters={
        "full_attention": dict(rope_type="llama3", rope_theta=50.0, factor=8.0, low_freq_factor=0.3, high_freq_factor=1.2,
                               original_max_position_embeddings=14),
        "sliding_attention": dict(rope_type="dynamic", rope_theta=30.0, factor=2.0)}), "safetensors"),
    "bert_published_mpnet": ("MPNetModel", MPNET, "published"),
    "bert_published_electra": ("ElectraForMaskedLM", ELECTRA, "published"),
    "bert_published_albert": ("AlbertForMaskedLM", ALBERT | dict(num_hidden_groups=1), "published"),
    "bert_published_modernbert": ("ModernBertForMaskedLM", MODERNBERT, "published"),
    "bert_published_bge": ("BertModel", BERT, "published"),
    "bert_xlm_roberta": ("XLMRobertaForSequenceClassification", ROBERTA | THREE, "bin"),
}


# The keys in config.json of models on the Hub, besides the sizes: all-mpnet-base-v2, electra-base-generator, albert-base-v2,
# ModernBERT-base (with "sans_pos", as in mmBERT) and bge-base-en.
PUBLISHED = {
    "bert_published_mpnet": dict(_name_or_path="microsoft/mpnet-base", architectures=["MPNetForMaskedLM"], bos_token_id=0, eos_token_id=2,
                                 hidden_act="gelu", layer_norm_eps=1e-05, relative_attention_num_buckets=32, torch_dtype="float32",
                                 transformers_version="4.8.2"),
    "bert_published_electra": dict(architectures=["ElectraForMaskedLM"], hidden_act="gelu", layer_norm_eps=1e-12, summary_activation="gelu",
                                   summary_last_dropout=0.1, summary_type="first", summary_use_proj=True, type_vocab_size=2),
    "bert_published_albert": dict(architectures=["AlbertForMaskedLM"], attention_probs_dropout_prob=0, bos_token_id=2, eos_token_id=3,
                                  classifier_dropout_prob=0.1, down_scale_factor=1, gap_size=0, hidden_act="gelu_new",
                                  hidden_dropout_prob=0, inner_group_num=1, layer_norm_eps=1e-12, net_structure_type=0,
                                  num_memory_blocks=0, pad_token_id=0, type_vocab_size=2),
    "bert_published_modernbert": dict(architectures=["ModernBertForMaskedLM"], attention_bias=False, attention_dropout=0.0,
                                      classifier_activation="gelu", classifier_bias=False, classifier_dropout=0.0, classifier_pooling="mean",
                                      decoder_bias=True, deterministic_flash_attn=False, embedding_dropout=0.0, global_attn_every_n_layers=3,
                                      global_rope_theta=160000.0, gradient_checkpointing=False, hidden_activation="gelu",
                                      initializer_cutoff_factor=2.0, layer_norm_eps=1e-05, local_rope_theta=10000.0, mlp_bias=False,
                                      mlp_dropout=0.0, norm_bias=False, norm_eps=1e-05, position_embedding_type="sans_pos",
                                      tie_word_embeddings=True, torch_dtype="float32", transformers_version="4.47.0.dev0"),
    "bert_published_bge": dict(architectures=["BertModel"],
                               classifier_dropout=None, gradient_checkpointing=False, hidden_act="gelu", id2label={"0": "LABEL_0"},
                               label2id={"LABEL_0": 0}, layer_norm_eps=1e-12, pad_token_id=0, position_embedding_type="absolute",
                               torch_dtype="float32", transformers_version="4.30.0", type_vocab_size=2, use_cache=True),
}


def publish(model, path, sizes):
    """Writes the files as they are on the Hub, and loads them again."""
    (path / "config.json").write_text(json.dumps({"model_type": model.config.model_type} | sizes | PUBLISHED[path.name], indent=1) + "\n")
    state = {name: value.contiguous() for name, value in model.state_dict().items()}
    if path.name == "bert_published_modernbert":
        del state["decoder.weight"]
    else:
        state[f"{'' if type(model).__name__.endswith('Model') else model.base_model_prefix + '.'}embeddings.position_ids"] = torch.arange(16)[None]
    if path.name == "bert_published_albert":  # whose tied tables are stored under all of their names
        state["predictions.decoder.bias"] = state["predictions.bias"]
    save_file({name: value.clone() for name, value in state.items()}, path / "model.safetensors", {"format": "pt"})
    loaded = type(model).from_pretrained(path, attn_implementation="eager").eval()
    for name, value in model.state_dict().items():
        assert torch.equal(loaded.state_dict()[name], value), name
    return loaded


def write(model, path, how):
    if how in ("old", "bin"):
        model.config.architectures = [type(model).__name__]
        model.config.save_pretrained(path)
        state = model.state_dict()
        if how == "old":  # the names of the first BERT folders
            state = {name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): value
                     for name, value in state.items()}
        torch.save(state, path / "pytorch_model.bin")
    else:
        model.save_pretrained(path, max_shard_size="6KB" if how == "sharded" else "1GB")


def main():
    for name, (kind, sizes, how) in VARIANTS.items():
        if len(sys.argv) > 1 and not any(word in name for word in sys.argv[1:]):
            continue
        torch.manual_seed(sum(map(ord, name)))
        family = kind.split("For")[0].removesuffix("Model")
        config = getattr(transformers, family + "Config")(**sizes)
        model = getattr(transformers, kind)._from_config(config, attn_implementation="eager").eval()
        with torch.no_grad():
            for key, value in model.named_parameters():
                norm = "norm" in key.lower() and key.endswith("weight")
                value.copy_(torch.randn_like(value) * (0.1 if value.dim() == 1 else 0.4) + norm)
        path = FIXTURES / name
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
        if how == "published":
            model = publish(model, path, sizes)
        else:
            write(model, path, how)

        pad = config.pad_token_id
        lengths = LONGER if family in ("MPNet", "ModernBert") else LENGTHS
        ids = torch.full((len(lengths), max(lengths)), pad)
        types = torch.zeros_like(ids)
        for i, length in enumerate(lengths):
            ids[i, :length] = torch.randint(3, config.vocab_size, (length,))
            if getattr(config, "type_vocab_size", 1) > 1:
                types[i, length // 2:length] = 1
        inputs = {"input_ids": ids, "attention_mask": (torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]).long()}
        if "token_type_ids" in inspect.signature(model.forward).parameters:
            inputs["token_type_ids"] = types
        with torch.no_grad():
            out = model(**inputs, output_attentions=True, output_hidden_states=True)
        there = inputs["attention_mask"].bool()
        packed = lambda x: x[there].contiguous()  # packed sequences, without padding
        golden = {"ids": packed(ids).int(), "types": packed(types).int(), "lengths": torch.tensor(lengths).int(),
                  "states": packed(out.hidden_states[-1]), "attention": out.attentions[0]}
        if family in ("Electra", "MPNet", "Albert", "ModernBert"):
            golden |= {f"attention.{i}": weights for i, weights in enumerate(out.attentions)}
            del golden["attention"]
        if kind.endswith("Model"):
            if getattr(out, "pooler_output", None) is not None:
                golden["pooled"] = out.pooler_output
        elif kind.endswith("ForPreTraining"):
            if family != "Electra":  # the discriminator is loaded without its head
                golden |= {"words": packed(out.prediction_logits),
                           "follows": out.sop_logits if family == "Albert" else out.seq_relationship_logits}
        elif kind.endswith("ForQuestionAnswering"):
            golden["answer"] = packed(torch.stack([out.start_logits, out.end_logits], -1))
        elif kind.endswith("ForNextSentencePrediction"):
            golden["follows"] = out.logits
        elif kind.endswith("ForSequenceClassification"):
            golden["labels"] = out.logits
        elif kind.endswith("ForTokenClassification"):
            golden["labels"] = packed(out.logits)
        else:
            golden["words"] = packed(out.logits)

        trained = name == "bert_pretraining" or (kind.endswith("ForMaskedLM") and "attention" not in golden)
        if trained:  # the losses of ten training steps; of pre-training, the sum of both losses
            words = torch.full_like(ids, -100)
            words[0, 2], words[0, 5], words[2, 1] = 7, 11, 5
            follows = torch.tensor([0, 1, 1])
            optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
            losses = []
            for _ in range(STEPS):
                out = model(**inputs)
                if name == "bert_pretraining":
                    loss = F.cross_entropy(out.prediction_logits.flatten(0, 1), words.flatten()) + F.cross_entropy(
                        out.seq_relationship_logits, follows)
                else:
                    loss = F.cross_entropy(out.logits.flatten(0, 1), words.flatten())
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                losses.append(loss.item())
            golden |= {"hidden_rows": torch.nonzero(packed(words) != -100).flatten().int(),
                       "hidden_words": packed(words)[packed(words) != -100].int(), "following": follows.int(),
                       "losses": torch.tensor(losses)}
        save(path / "golden", golden)


main()
