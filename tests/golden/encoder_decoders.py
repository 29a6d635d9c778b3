#!/usr/bin/env python3
# Small random folders of BART and T5, each with the numbers that transformers computes from it.
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
from transformers import (AutoModelForSeq2SeqLM, AutoTokenizer, BartConfig, BartForConditionalGeneration, GenerationConfig,
                          T5Config, T5ForConditionalGeneration)

TESTS = pathlib.Path(__file__).parent.parent
FIXTURES = TESTS / "models" / "fixtures"
LENGTHS, TARGET_LENGTHS = [7, 3, 5], [5, 6, 2]  # tokens of the sources and of the targets, including EOS
STEPS = 10
TEXTS = ["translate English to German: The house is small.", "translate English to German: Nobody writes.",
         "summarize: The neighbour has bought the most beautiful house of the city."]

BART = dict(bos_token_id=0, pad_token_id=1, eos_token_id=2, decoder_start_token_id=2, max_position_embeddings=40)
T5 = dict(pad_token_id=0, eos_token_id=1, decoder_start_token_id=0, relative_attention_num_buckets=8,
          relative_attention_max_distance=14, dropout_rate=0.1)
VARIANTS = {
    "bart_forced": (BartConfig, BART | dict(vocab_size=61, d_model=15, encoder_layers=2, decoder_layers=1,
                    encoder_attention_heads=3, decoder_attention_heads=5, encoder_ffn_dim=27, decoder_ffn_dim=19,
                    activation_function="gelu", forced_bos_token_id=0, forced_eos_token_id=2)),
    "bart_scaled": (BartConfig, BART | dict(vocab_size=67, d_model=12, encoder_layers=1, decoder_layers=2,
                    encoder_attention_heads=3, decoder_attention_heads=1, encoder_ffn_dim=21, decoder_ffn_dim=33,
                    activation_function="relu", scale_embedding=True)),
    "t5_relu": (T5Config, T5 | dict(vocab_size=59, d_model=15, d_kv=4, d_ff=23, num_layers=3, num_decoder_layers=2,
                num_heads=3, feed_forward_proj="relu")),
    "t5_gated": (T5Config, T5 | dict(vocab_size=63, d_model=14, d_kv=6, d_ff=19, num_layers=2, num_heads=5,
                 feed_forward_proj="gated-gelu", tie_word_embeddings=False)),
    "t5_untied": (T5Config, T5 | dict(vocab_size=65, d_model=13, d_kv=5, d_ff=17, num_layers=1, num_decoder_layers=1,
                  num_heads=3, feed_forward_proj="gated-gelu", tie_word_embeddings=False)),
    "t5_tokenizer": (T5Config, T5 | dict(d_model=16, d_kv=5, d_ff=29, num_layers=1, num_heads=4,
                     feed_forward_proj="gated-gelu", tie_word_embeddings=False)),
}


def batch(lengths, config):
    """Random ids that end with EOS, followed by padding."""
    ids = torch.full((len(lengths), max(lengths)), config.pad_token_id)
    for row, length in zip(ids, lengths):
        row[:length - 1], row[length - 1] = torch.randint(3, config.vocab_size, (length - 1,)), config.eos_token_id
    return ids


def after_start(targets, config):
    """The decoder input for these targets."""
    return torch.cat([torch.full((len(targets), 1), config.decoder_start_token_id), targets[:, :-1]], 1)


def small_model(kind, options):
    """Random weights, overfitted to a few random pairs, so that generated texts vary and end."""
    config = kind(**options)
    model_class = BartForConditionalGeneration if kind is BartConfig else T5ForConditionalGeneration
    model = model_class._from_config(config, attn_implementation="eager").eval()
    with torch.no_grad():
        for name, value in model.named_parameters():
            scale = 0.1 if value.dim() == 1 else 0.3
            norm = name.endswith("norm.weight") or name.endswith("layernorm_embedding.weight")
            value.copy_(torch.randn_like(value) * scale + (1 if norm else 0))
        if kind is BartConfig:
            model.final_logits_bias.copy_(torch.randn_like(model.final_logits_bias) * 0.5)
    lengths = [7, 3, 5, 2, 9, 4, 6, 8]
    sources, targets = batch(lengths, config), batch(lengths[::-1], config)
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
    path = FIXTURES / name
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    if "tokenizer" in name:
        for file in ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"):
            if (TESTS / "text/fixtures/t5" / file).exists():
                shutil.copy(TESTS / "text/fixtures/t5" / file, path / file)
        tokenizer = AutoTokenizer.from_pretrained(path)
        options["vocab_size"] = len(tokenizer)
    model = small_model(kind, options)
    model.save_pretrained(path)
    if "untied" in name:  # like the folders of T5 1.1; newer versions of transformers write tied ones
        tensors = load_file(path / "model.safetensors")
        tensors["lm_head.weight"] = torch.randn(options["vocab_size"], options["d_model"]) * 0.3
        save_file(tensors, path / "model.safetensors", {"format": "pt"})
        config = json.loads((path / "config.json").read_text())
        del config["scale_decoder_outputs"]
        (path / "config.json").write_text(json.dumps(config | {"tie_word_embeddings": False}, indent=1) + "\n")
        model = T5ForConditionalGeneration.from_pretrained(path, attn_implementation="eager")
        assert not torch.equal(model.lm_head.weight, model.shared.weight)
    loaded, report = AutoModelForSeq2SeqLM.from_pretrained(path, attn_implementation="eager", output_loading_info=True)
    assert not report["missing_keys"], report
    config = loaded.config
    inputs, targets = batch(LENGTHS, config), batch(TARGET_LENGTHS, config)
    if "tokenizer" in name:
        inputs = tokenizer(TEXTS, return_tensors="pt", padding=True)["input_ids"]
    lengths = torch.tensor([(row != config.pad_token_id).sum() for row in inputs])
    mask = (torch.arange(inputs.shape[1])[None] < lengths[:, None]).long()
    words = after_start(targets, config)
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
        (path / "translations.json").write_text(json.dumps(dict(zip(TEXTS, best)), ensure_ascii=False, indent=1) + "\n")
    print(name, sorted(f"{f.name} {f.stat().st_size:,}" for f in path.iterdir()))
    print("  greedy", greedy.tolist(), "\n  losses", [round(x, 4) for x in tensors["losses"].tolist()])


if __name__ == "__main__":
    for i, (name, (kind, options)) in enumerate(VARIANTS.items()):
        torch.manual_seed(i)
        if len(sys.argv) < 2 or name in sys.argv:
            make(name, kind, dict(options))
