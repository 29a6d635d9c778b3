#!/usr/bin/env python3
# Small random folders of BART, mBART, M2M-100, PEGASUS, T5 and mT5, each with the numbers that transformers computes from it.
#   python3 tests/golden/encoder_decoders.py [NAME …]   writes tests/models/fixtures/: a folder each, with golden.safetensors inside
# Needs torch, transformers and sentencepiece. The tests only read the results.
import json
import pathlib
import shutil
import sys

import torch
from golden import save
from safetensors.torch import load_file, save_file
from torch.nn import functional as F
from transformers import (AutoModelForSeq2SeqLM, AutoTokenizer, BartConfig, GenerationConfig, M2M100Config, MBartConfig, MT5Config,
                          PegasusConfig, T5Config)

TESTS = pathlib.Path(__file__).parent.parent
FIXTURES = TESTS / "models" / "fixtures"
LENGTHS, TARGET_LENGTHS = [7, 3, 5], [5, 6, 2]  # tokens of the sources and of the targets, including EOS
STEPS = 10
TEXTS = ["translate English to German: The house is small.", "translate English to German: Nobody writes.",
         "summarize: The neighbour has bought the most beautiful house of the city."]
SHORT_TEXTS = ["Il bambino legge il giornale.", "Nessuno scrive.", "La vicina ha comprato la città più bella."]

BART = dict(bos_token_id=0, pad_token_id=1, eos_token_id=2, decoder_start_token_id=2, max_position_embeddings=40)
T5 = dict(pad_token_id=0, eos_token_id=1, decoder_start_token_id=0, relative_attention_num_buckets=8,
          relative_attention_max_distance=14, dropout_rate=0.1)
PEGASUS = dict(pad_token_id=0, eos_token_id=1, decoder_start_token_id=0, forced_eos_token_id=1, max_position_embeddings=40,
               activation_function="relu", scale_embedding=True)
SMALL = dict(d_model=14, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2, decoder_attention_heads=7, encoder_ffn_dim=17,
             decoder_ffn_dim=19, activation_function="relu", scale_embedding=True, max_position_embeddings=100)
TOKENIZERS = {"bart_tokenizer": "roberta", "t5_tokenizer": "t5", "pegasus_tokenizer": "pegasus_spm", "mbart50_tokenizer": "mbart50_spm",
              "m2m_100_tokenizer": "m2m_100", "nllb_tokenizer": "nllb"}
LANGUAGES = {"mbart50_tokenizer": ("en_XX", "de_DE"), "m2m_100_tokenizer": ("en", "de"), "nllb_tokenizer": ("eng_Latn", "deu_Latn")}
VARIANTS = {
    "bart_forced": (BartConfig, BART | dict(vocab_size=61, d_model=15, encoder_layers=2, decoder_layers=1,
                    encoder_attention_heads=3, decoder_attention_heads=5, encoder_ffn_dim=27, decoder_ffn_dim=19,
                    activation_function="gelu", forced_bos_token_id=0, forced_eos_token_id=2)),
    "bart_scaled": (BartConfig, BART | dict(vocab_size=67, d_model=12, encoder_layers=1, decoder_layers=2,
                    encoder_attention_heads=3, decoder_attention_heads=1, encoder_ffn_dim=21, decoder_ffn_dim=33,
                    activation_function="relu", scale_embedding=True)),
    "bart_tokenizer": (BartConfig, BART | SMALL | dict(forced_bos_token_id=0, forced_eos_token_id=2)),
    "t5_relu": (T5Config, T5 | dict(vocab_size=59, d_model=15, d_kv=4, d_ff=23, num_layers=3, num_decoder_layers=2,
                num_heads=3, feed_forward_proj="relu")),
    "t5_gated": (T5Config, T5 | dict(vocab_size=63, d_model=14, d_kv=6, d_ff=19, num_layers=2, num_heads=5,
                 feed_forward_proj="gated-gelu", tie_word_embeddings=False)),
    "t5_untied": (T5Config, T5 | dict(vocab_size=65, d_model=13, d_kv=5, d_ff=17, num_layers=1, num_decoder_layers=1,
                  num_heads=3, feed_forward_proj="gated-gelu", tie_word_embeddings=False)),
    "t5_tokenizer": (T5Config, T5 | dict(d_model=16, d_kv=5, d_ff=29, num_layers=1, num_heads=4,
                     feed_forward_proj="gated-gelu", tie_word_embeddings=False)),
    "mbart": (MBartConfig, BART | dict(vocab_size=63, d_model=15, encoder_layers=2, decoder_layers=1, encoder_attention_heads=5,
              decoder_attention_heads=3, encoder_ffn_dim=25, decoder_ffn_dim=21, activation_function="relu", scale_embedding=True,
              forced_bos_token_id=7, forced_eos_token_id=2)),
    "m2m_100": (M2M100Config, BART | dict(vocab_size=69, d_model=18, encoder_layers=1, decoder_layers=2, encoder_attention_heads=3,
                decoder_attention_heads=2, encoder_ffn_dim=27, decoder_ffn_dim=23, activation_function="relu", scale_embedding=True,
                forced_bos_token_id=9)),
    "m2m_100_odd": (M2M100Config, BART | dict(vocab_size=61, d_model=15, pad_token_id=5, encoder_layers=2, decoder_layers=1,
                    encoder_attention_heads=3, decoder_attention_heads=5, encoder_ffn_dim=19, decoder_ffn_dim=21,
                    activation_function="gelu", scale_embedding=False)),
    "pegasus": (PegasusConfig, PEGASUS | dict(vocab_size=67, d_model=15, encoder_layers=2, decoder_layers=1,
                encoder_attention_heads=3, decoder_attention_heads=5, encoder_ffn_dim=23, decoder_ffn_dim=27)),
    "pegasus_tokenizer": (PegasusConfig, PEGASUS | dict(d_model=12, encoder_layers=1, decoder_layers=1, encoder_attention_heads=3,
                          decoder_attention_heads=2, encoder_ffn_dim=19, decoder_ffn_dim=17, max_position_embeddings=100)),
    "mbart50_tokenizer": (MBartConfig, BART | SMALL | dict(forced_eos_token_id=2)),
    "m2m_100_tokenizer": (M2M100Config, BART | SMALL),
    "nllb_tokenizer": (M2M100Config, BART | SMALL),
    "mt5": (MT5Config, T5 | dict(vocab_size=61, d_model=14, d_kv=5, d_ff=23, num_layers=2, num_decoder_layers=1, num_heads=3)),
    "mt5_untied": (MT5Config, T5 | dict(vocab_size=57, d_model=13, d_kv=6, d_ff=19, num_layers=1, num_heads=3)),
}


def batch(lengths, config):
    """Random ids that end with EOS, followed by padding."""
    ids = torch.full((len(lengths), max(lengths)), config.pad_token_id)
    for row, length in zip(ids, lengths):
        words = torch.randint(3, config.vocab_size, (length - 1,))
        row[:length - 1], row[length - 1] = words.masked_fill(words == config.pad_token_id, 3), config.eos_token_id
    return ids


def after_start(targets, config):
    """The decoder input for these targets."""
    return torch.cat([torch.full((len(targets), 1), config.decoder_start_token_id), targets[:, :-1]], 1)


def small_model(kind, options, language=None):
    """Random weights, overfitted to a few random pairs, so that generated texts vary and end. The targets begin with the token of a
    language, if one is given."""
    config = kind(**options)
    model = AutoModelForSeq2SeqLM.from_config(config, attn_implementation="eager").eval()
    with torch.no_grad():
        for name, value in model.named_parameters():
            if not value.requires_grad:  # sinusoidal positions
                continue
            scale = 0.1 if value.dim() == 1 else 0.3
            norm = name.endswith("norm.weight") or name.endswith("layernorm_embedding.weight")
            value.copy_(torch.randn_like(value) * scale + (1 if norm else 0))
        if hasattr(model, "final_logits_bias"):
            model.final_logits_bias.copy_(torch.randn_like(model.final_logits_bias) * 0.5)
    lengths = [7, 3, 5, 2, 9, 4, 6, 8]
    sources, targets = batch(lengths, config), batch(lengths[::-1], config)
    if language is not None:
        targets[:, 0] = language
    pad = config.pad_token_id
    labels = targets.masked_fill(targets == pad, -100)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for _ in range(60):
        optimizer.zero_grad()
        logits = model(input_ids=sources, attention_mask=(sources != pad).long(),
                       decoder_input_ids=after_start(targets, config)).logits
        F.cross_entropy(logits.flatten(0, 1), labels.flatten(), label_smoothing=0.1).backward()
        optimizer.step()
    forced = {key: options[key] for key in ("forced_bos_token_id", "forced_eos_token_id") if key in options}
    model.generation_config = GenerationConfig(decoder_start_token_id=config.decoder_start_token_id, pad_token_id=pad,
                                               eos_token_id=config.eos_token_id, max_length=16, num_beams=4, **forced)
    return model


def training_losses(model, inputs, mask, words, targets):
    """Ten steps of AdamW without dropout. As in Attend, the bias of the output and the row of the padding are trained."""
    if hasattr(model, "final_logits_bias"):
        bias = torch.nn.Parameter(model.final_logits_bias.clone())
        del model.final_logits_bias
        model.final_logits_bias = bias
    for module in model.modules():
        if isinstance(module, torch.nn.Embedding):
            module.padding_idx = None
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, weight_decay=0.01)
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        logits = model(input_ids=inputs, attention_mask=mask, decoder_input_ids=words).logits
        loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-100, label_smoothing=0.1)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return torch.tensor(losses)


def make(name, kind, options):
    texts = TEXTS if kind is T5Config else SHORT_TEXTS
    path = FIXTURES / name
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    if "tokenizer" in name:
        for file in (TESTS / "text/fixtures" / TOKENIZERS[name]).iterdir():
            if file.name != "expected.json":
                shutil.copy(file, path)
        tokenizer = AutoTokenizer.from_pretrained(path)
        options["vocab_size"] = len(tokenizer)
    language = options.get("forced_bos_token_id") if kind in (MBartConfig, M2M100Config) else None
    if name in LANGUAGES:
        tokenizer.src_lang = LANGUAGES[name][0]
        language = tokenizer.convert_tokens_to_ids(f"__{LANGUAGES[name][1]}__" if name == "m2m_100_tokenizer" else LANGUAGES[name][1])
        assert 3 < language < options["vocab_size"]
    model = small_model(kind, options, language)
    model.save_pretrained(path)
    if "untied" in name:  # like the folders of T5 1.1; newer versions of transformers write tied ones
        tensors = load_file(path / "model.safetensors")
        tensors["lm_head.weight"] = torch.randn(options["vocab_size"], options["d_model"]) * 0.3
        save_file(tensors, path / "model.safetensors", {"format": "pt"})
        config = json.loads((path / "config.json").read_text())
        config.pop("scale_decoder_outputs", None)
        (path / "config.json").write_text(json.dumps(config | {"tie_word_embeddings": False}, indent=1) + "\n")
        model = AutoModelForSeq2SeqLM.from_pretrained(path, attn_implementation="eager")
        assert not torch.equal(model.lm_head.weight, model.shared.weight)
    loaded, report = AutoModelForSeq2SeqLM.from_pretrained(path, attn_implementation="eager", output_loading_info=True)
    assert not report["missing_keys"], report
    config = loaded.config
    inputs, targets = batch(LENGTHS, config), batch(TARGET_LENGTHS, config)
    if name in LANGUAGES:
        loaded.generation_config.forced_bos_token_id = language
    if "tokenizer" in name:
        inputs = tokenizer(texts, return_tensors="pt", padding=True)["input_ids"]
    lengths = torch.tensor([(row != config.pad_token_id).sum() for row in inputs])
    mask = (torch.arange(inputs.shape[1])[None] < lengths[:, None]).long()
    words = after_start(targets, config)
    if kind is M2M100Config:  # which would count no position for padding
        words = words.masked_fill(words == config.pad_token_id, 3)
    labels = torch.where(torch.arange(targets.shape[1])[None] < torch.tensor(TARGET_LENGTHS)[:, None], targets, -100)

    with torch.no_grad():
        out = loaded(input_ids=inputs, attention_mask=mask, decoder_input_ids=words, output_attentions=True)
        assert torch.equal(out.logits, model(input_ids=inputs, attention_mask=mask, decoder_input_ids=words).logits)
        greedy = loaded.generate(inputs, attention_mask=mask, num_beams=1, do_sample=False)
        beam = loaded.generate(inputs, attention_mask=mask, num_beams=4, num_return_sequences=4, return_dict_in_generate=True,
                               output_scores=True)
        features = torch.randn(len(LENGTHS), max(LENGTHS), config.d_model)
        feature_mask = (torch.arange(max(LENGTHS))[None] < torch.tensor(LENGTHS)[:, None]).long()
        from_features = loaded.get_encoder()(inputs_embeds=features, attention_mask=feature_mask).last_hidden_state
    tensors = {
        "ids": inputs, "lengths": lengths, "words": words, "targets": labels,
        "states": out.encoder_last_hidden_state, "logits": out.logits,
        "features": features, "feature_lengths": torch.tensor(LENGTHS), "feature_states": from_features,
        **{f"encoder.{i}.self": weights for i, weights in enumerate(out.encoder_attentions)},
        **{f"decoder.{i}.self": weights for i, weights in enumerate(out.decoder_attentions)},
        **{f"decoder.{i}.cross": weights for i, weights in enumerate(out.cross_attentions)},
        "greedy": greedy, "beam": beam.sequences.view(3, 4, -1), "beam_scores": beam.sequences_scores.view(3, 4),
        "losses": training_losses(loaded, inputs, mask, words, labels),
    }
    save(path / "golden", tensors)
    if "tokenizer" in name:
        best = tokenizer.batch_decode(beam.sequences.view(3, 4, -1)[:, 0], skip_special_tokens=True)
        languages = dict(zip(("source", "target"), LANGUAGES.get(name, ())))
        (path / "translations.json").write_text(json.dumps(languages | dict(zip(texts, best)), ensure_ascii=False, indent=1) + "\n")
    print(name, sorted(f"{f.name} {f.stat().st_size:,}" for f in path.iterdir()))
    print("  greedy", greedy.tolist(), "\n  losses", [round(x, 4) for x in tensors["losses"].tolist()])


if __name__ == "__main__":
    for i, (name, (kind, options)) in enumerate(VARIANTS.items()):
        torch.manual_seed(i)
        if len(sys.argv) < 2 or name in sys.argv:
            make(name, kind, dict(options))
