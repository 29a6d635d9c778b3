#!/usr/bin/env python3
# Small random MarianMT folders, each with the results of transformers.
#   python3 tests/golden/marian.py                   writes tests/models/fixtures/: a folder each, with golden.safetensors inside
# Needs torch, transformers and sentencepiece. The tests only read the results.
import json
import pathlib
import shutil
import sys

import sentencepiece
import torch
from golden import save
from tokenizer_folders import LATIN, piece_model
from torch.nn import functional as F
from transformers import AutoTokenizer, GenerationConfig, MarianConfig, MarianMTModel

FIXTURES = pathlib.Path(__file__).parent.parent / "models" / "fixtures"
LENGTHS, TARGET_LENGTHS = [7, 3, 5], [5, 6, 2]  # tokens of the sources and of the targets, including EOS
STEPS = 10

# Obsolete keys of real folders, to test that they are ignored.
OLD_KEYS = {"add_bias_logits": False, "add_final_layer_norm": False, "classif_dropout": 0.0, "classifier_dropout": 0.0,
            "extra_pos_embeddings": 0, "normalize_before": False, "normalize_embedding": False,
            "static_position_embeddings": True, "gradient_checkpointing": False,
            "id2label": {"0": "LABEL_0", "1": "LABEL_1"}, "max_length": 512, "num_beams": 4}

VARIANTS = {
    "marian_tied": dict(vocab_size=61, d_model=15, encoder_layers=2, decoder_layers=1, encoder_attention_heads=3,
                        decoder_attention_heads=5, encoder_ffn_dim=27, decoder_ffn_dim=19, activation_function="swish",
                        scale_embedding=True),
    "marian_separate": dict(vocab_size=73, decoder_vocab_size=67, pad_token_id=66, share_encoder_decoder_embeddings=False,
                            d_model=12, encoder_layers=1, decoder_layers=2, encoder_attention_heads=3,
                            decoder_attention_heads=1, encoder_ffn_dim=21, decoder_ffn_dim=33,
                            activation_function="relu", scale_embedding=False),
    "marian_bin": dict(vocab_size=63, d_model=21, encoder_layers=1, decoder_layers=1, encoder_attention_heads=7,
                       decoder_attention_heads=3, encoder_ffn_dim=31, decoder_ffn_dim=31, activation_function="gelu",
                       scale_embedding=True),
    "marian_old_bin": dict(vocab_size=62, d_model=14, encoder_layers=1, decoder_layers=1, encoder_attention_heads=7,
                           decoder_attention_heads=7, encoder_ffn_dim=17, decoder_ffn_dim=18,
                           activation_function="swish", scale_embedding=True),
    "marian_sharded": dict(vocab_size=64, d_model=18, encoder_layers=2, decoder_layers=2, encoder_attention_heads=9,
                           decoder_attention_heads=3, encoder_ffn_dim=23, decoder_ffn_dim=25,
                           activation_function="gelu", scale_embedding=False),
    "marian_tokenizer": dict(d_model=27, encoder_layers=1, decoder_layers=1, encoder_attention_heads=3,
                             decoder_attention_heads=9, encoder_ffn_dim=29, decoder_ffn_dim=37,
                             activation_function="swish", scale_embedding=True),
}


def write_tokenizer(path):
    """Writes two small SentencePiece models, and one vocabulary for both, which assigns the ids."""
    models = {"source.spm": piece_model(60, LATIN[125:189], unk_id=0, bos_id=1, eos_id=2),
              "target.spm": piece_model(60, LATIN[:125], unk_id=0, bos_id=1, eos_id=2)}
    pieces = set()
    for name, model in models.items():
        (path / name).write_bytes(model)
        processor = sentencepiece.SentencePieceProcessor(model_proto=model)
        pieces |= {processor.id_to_piece(i) for i in range(3, processor.get_piece_size())}
    tokens = ["</s>", "<unk>", *sorted(pieces), "<pad>"]
    (path / "vocab.json").write_text(json.dumps({token: i for i, token in enumerate(tokens)}, ensure_ascii=False))
    (path / "tokenizer_config.json").write_text(json.dumps(
        {"source_lang": "it", "target_lang": "en", "tokenizer_class": "MarianTokenizer", "model_max_length": 512,
         "separate_vocabs": False}))
    return len(tokens)


def small_model(options):
    """Random weights, overfitted to a few random translations with label smoothing, so that generated texts vary and end."""
    vocabulary = options["vocab_size"]
    pad = options.setdefault("pad_token_id", vocabulary - 1)
    config = MarianConfig(**options, decoder_start_token_id=pad, max_position_embeddings=40)
    model = MarianMTModel._from_config(config, attn_implementation="eager").eval()
    with torch.no_grad():
        for name, value in model.named_parameters():
            if "embed_positions" not in name:
                scale = 0.1 if value.dim() == 1 else 0.3
                value.copy_(torch.randn_like(value) * scale + (1 if name.endswith("norm.weight") else 0))
        model.final_logits_bias.copy_(torch.randn_like(model.final_logits_bias) * 0.5)
    lengths = [7, 3, 5, 2, 9, 4, 6, 8]
    sources = batch(lengths, vocabulary, pad)
    targets = batch(lengths[::-1], config.decoder_vocab_size, pad)
    labels = targets.masked_fill(targets == pad, -100)
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-2)
    for _ in range(60):
        optimizer.zero_grad()
        logits = model(input_ids=sources, attention_mask=(sources != pad).long(), decoder_input_ids=after_start(targets, pad)).logits
        F.cross_entropy(logits.flatten(0, 1), labels.flatten(), label_smoothing=0.1).backward()
        optimizer.step()
    model.generation_config = GenerationConfig(
        decoder_start_token_id=pad, pad_token_id=pad, eos_token_id=0, forced_eos_token_id=0, bad_words_ids=[[pad]],
        max_length=16, num_beams=4)
    return model


def write_weights(name, model, path):
    """Writes the weights in the format that the name selects."""
    if "bin" in name:  # like older versions: all names, including positions
        torch.save(model.state_dict(), path / "pytorch_model.bin", _use_new_zipfile_serialization="old" not in name)
        model.config.save_pretrained(path)
        model.generation_config.save_pretrained(path)
    else:
        model.save_pretrained(path, max_shard_size="12KB" if "sharded" in name else "1GB")
    config = json.loads((path / "config.json").read_text())
    (path / "config.json").write_text(json.dumps(OLD_KEYS | config, indent=1) + "\n")


def batch(lengths, vocabulary, pad):
    """Random ids that end with EOS, followed by padding."""
    ids = torch.full((len(lengths), max(lengths)), pad)
    for row, length in zip(ids, lengths):
        words = torch.randint(2, vocabulary - 1, (length - 1,))
        row[:length - 1], row[length - 1] = words.where(words != pad, 2), 0
    return ids


def after_start(targets, pad):
    """The decoder input for these targets."""
    return torch.cat([torch.full((len(targets), 1), pad), targets[:, :-1]], 1)


def training_losses(model, inputs, mask, words, targets):
    """Ten steps of AdamW without dropout. As in Attend, the bias of the output is trained, and also the row of the padding,
    which is the start token of every translation."""
    bias = torch.nn.Parameter(model.final_logits_bias.clone())
    del model.final_logits_bias
    model.final_logits_bias = bias
    for table in {model.model.encoder.embed_tokens, model.model.decoder.embed_tokens}:
        table.padding_idx = None
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=3e-3, weight_decay=0.01)
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        logits = model(input_ids=inputs, attention_mask=mask, decoder_input_ids=words).logits
        loss = F.cross_entropy(logits.flatten(0, 1), targets.flatten(), ignore_index=-100, label_smoothing=0.1)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return torch.tensor(losses)


def make(name, options):
    path = FIXTURES / name
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    if "tokenizer" in name:
        options["vocab_size"] = write_tokenizer(path)
    model = small_model(options)
    write_weights(name, model, path)
    loaded, report = MarianMTModel.from_pretrained(path, attn_implementation="eager", output_loading_info=True)
    assert not report["missing_keys"], report
    pad, target_vocabulary = model.config.pad_token_id, model.config.decoder_vocab_size
    inputs = batch(LENGTHS, options["vocab_size"], pad)
    targets = batch(TARGET_LENGTHS, target_vocabulary, pad)
    if "tokenizer" in name:
        tokenizer = AutoTokenizer.from_pretrained(path)
        texts = ["Il bambino legge il giornale.", "Nessuno scrive.", "La vicina ha comprato la città più bella."]
        inputs = tokenizer(texts, return_tensors="pt", padding=True)["input_ids"]
    lengths = torch.tensor([(row != pad).sum() for row in inputs])
    mask = (torch.arange(inputs.shape[1])[None] < lengths[:, None]).long()
    words = after_start(targets, pad)
    labels = torch.where(torch.arange(targets.shape[1])[None] < torch.tensor(TARGET_LENGTHS)[:, None], targets, -100)

    with torch.no_grad():
        out = loaded(input_ids=inputs, attention_mask=mask, decoder_input_ids=words, output_attentions=True)
        assert torch.equal(out.logits, model(input_ids=inputs, attention_mask=mask, decoder_input_ids=words).logits)
        loaded.config.vocab_size = target_vocabulary  # generate() uses this as the size of the target vocabulary
        greedy = loaded.generate(inputs, attention_mask=mask, num_beams=1, do_sample=False)
        beam = loaded.generate(inputs, attention_mask=mask, num_beams=4, num_return_sequences=4, return_dict_in_generate=True,
                               output_scores=True)
    tensors = {
        "ids": inputs, "lengths": lengths, "words": words, "targets": labels,
        "states": out.encoder_last_hidden_state, "logits": out.logits,
        **{f"encoder.{i}.self": weights for i, weights in enumerate(out.encoder_attentions)},
        **{f"decoder.{i}.self": weights for i, weights in enumerate(out.decoder_attentions)},
        **{f"decoder.{i}.cross": weights for i, weights in enumerate(out.cross_attentions)},
        "greedy": greedy, "beam": beam.sequences.view(3, 4, -1), "beam_scores": beam.sequences_scores.view(3, 4),
        "losses": training_losses(loaded, inputs, mask, words, labels),
    }
    save(path / "golden", tensors)
    if "tokenizer" in name:
        best = tokenizer.batch_decode(beam.sequences.view(3, 4, -1)[:, 0], skip_special_tokens=True)
        (path / "translations.json").write_text(json.dumps(dict(zip(texts, best)), ensure_ascii=False, indent=1) + "\n")
    print(name, sorted(f"{f.name} {f.stat().st_size:,}" for f in path.iterdir()))
    print("  greedy", greedy.tolist(), "\n  losses", [round(x, 4) for x in tensors["losses"].tolist()])


if __name__ == "__main__":
    for i, (name, options) in enumerate(VARIANTS.items()):
        torch.manual_seed(i)
        if len(sys.argv) < 2 or name in sys.argv:
            make(name, dict(options))
