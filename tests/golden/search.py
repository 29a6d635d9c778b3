# The results of `generate()` of transformers for each kind of search and each option. The model is a table: the logits
# of the next token depend on the sentence and the last two tokens. Writes search.safetensors (tables, scores, sampling
# probabilities) and search.jsonl (one case per line: the options with their names in transformers, and the sequences).
import itertools
import json

import torch
from golden import FOLDER, save
from transformers import MarianConfig, MarianMTModel, logging
from transformers.modeling_outputs import BaseModelOutput, Seq2SeqLMOutput

logging.set_verbosity_error()
torch.manual_seed(5)
SENTENCES, WORDS, START, END, OTHER_END = 5, 23, 22, 0, 7

# Different sentences have different probabilities of EOS.
last = 2.2 * torch.randn(SENTENCES, WORDS, WORDS)
before_last = 1.1 * torch.randn(SENTENCES, WORDS, WORDS)
last[:, :, END] += torch.tensor([0.5, -0.5, 1.0, -3.0, 0.0])[:, None]
before_last[:, :, OTHER_END] -= 0.5


class Encoder(torch.nn.Module):
    def forward(self, input_ids, **_):
        return BaseModelOutput(last_hidden_state=input_ids[..., None].float())


class Table(MarianMTModel):
    """The encoder returns the index of the sentence, which is repeated for each beam like other encoder states."""

    def __init__(self, config):
        super().__init__(config)
        self.numbers = Encoder()

    def get_encoder(self, *_, **__):
        return self.numbers

    def forward(self, decoder_input_ids=None, encoder_outputs=None, **_):
        sentence = encoder_outputs[0][:, 0, 0].long()
        logits = last[sentence, decoder_input_ids[:, -1]]
        if decoder_input_ids.shape[1] > 1:
            logits = logits + before_last[sentence, decoder_input_ids[:, -2]]
        return Seq2SeqLMOutput(logits=logits[:, None])


model = Table(MarianConfig(vocab_size=WORDS, d_model=4, encoder_layers=1, decoder_layers=1, encoder_ffn_dim=4,
                           decoder_ffn_dim=4, encoder_attention_heads=1, decoder_attention_heads=1,
                           max_position_embeddings=64, pad_token_id=START, eos_token_id=END,
                           decoder_start_token_id=START, forced_eos_token_id=None)).eval()
model.generation_config.forced_eos_token_id = None
sources = torch.arange(SENTENCES)[:, None]
tensors = {"last": last, "before_last": before_last}
cases = []


def case(prefix=None, **options):
    options = {"decoder_start_token_id": START, "eos_token_id": END, "pad_token_id": START, "max_length": 12} | options
    arguments = {k: v for k, v in options.items()}
    if prefix:
        arguments["decoder_input_ids"] = torch.tensor([[START] + prefix] * SENTENCES)
    name = str(len(cases))
    torch.manual_seed(len(cases))
    with torch.no_grad():
        found = model.generate(sources, use_cache=False, return_dict_in_generate=True, output_scores=True, **arguments)
    ends = options["eos_token_id"] if isinstance(options["eos_token_id"], list) else [options["eos_token_id"]]
    prompt = 1 + len(prefix or [])
    sequences = []
    for row in found.sequences.tolist():
        end = next((i for i in range(prompt, len(row)) if row[i] in ends), len(row) - 1)
        sequences.append(row[1:end + 1])
    if options.get("num_beams", 1) > 1:
        tensors[f"{name}/scores"] = found.sequences_scores
    if options.get("do_sample"):  # [step, sentence, token]
        tensors[f"{name}/chances"] = torch.stack([s.softmax(-1) for s in found.scores])
    cases.append({"name": name, **options, "prefix": prefix or [], "sequences": sequences})


BAD = [[START]]
extras = [
    {},
    {"bad_words_ids": BAD},
    {"bad_words_ids": [[START], [3], [5, 9], [9, 2, 11], [END], [4, 4], [START, 6]]},
    {"bad_words_ids": [[i] for i in range(1, 23, 3)], "renormalize_logits": True},
    {"forced_eos_token_id": END, "bad_words_ids": BAD},
    {"forced_bos_token_id": 13, "bad_words_ids": BAD, "forced_eos_token_id": END},
    {"min_new_tokens": 4, "bad_words_ids": BAD},
    {"min_length": 4, "bad_words_ids": BAD},
    {"max_length": 3, "bad_words_ids": BAD},
    {"max_new_tokens": 1, "bad_words_ids": BAD},
    {"max_new_tokens": 30, "bad_words_ids": BAD, "no_repeat_ngram_size": 2},
    {"no_repeat_ngram_size": 1, "bad_words_ids": BAD},
    {"no_repeat_ngram_size": 3, "bad_words_ids": BAD, "max_length": 16},
    {"repetition_penalty": 1.7, "bad_words_ids": BAD},
    {"repetition_penalty": 0.6, "bad_words_ids": BAD, "no_repeat_ngram_size": 2, "renormalize_logits": True},
    {"eos_token_id": [END, OTHER_END], "bad_words_ids": BAD},
    {"eos_token_id": [END, OTHER_END, 3], "bad_words_ids": [[START], [3]], "min_new_tokens": 2},
    {"prefix": [4, 8], "bad_words_ids": BAD},
    {"prefix": [13], "bad_words_ids": BAD, "max_new_tokens": 5, "forced_bos_token_id": 2, "no_repeat_ngram_size": 2,
     "repetition_penalty": 1.2, "forced_eos_token_id": END},
    {"suppress_tokens": [START, 3, 9], "begin_suppress_tokens": [END, 12]},
    {"suppress_tokens": [START], "forced_bos_token_id": 4, "begin_suppress_tokens": [END, 12]},
]
for extra in extras:
    case(**extra)
case(forced_eos_token_id=[OTHER_END, END], max_length=5)  # greedy only: in beam search this is a tie, and the result of transformers is not deterministic
for beams in (2, 3, 4, 5):
    for extra in extras:
        case(num_beams=beams, num_return_sequences=beams, **extra)
lengths = (0.0, 0.6, 2.0, -1.0)
for beams, stop, penalty in itertools.product((2, 3, 4, 5), (False, True, "never"), lengths):
    for extra in ({"bad_words_ids": BAD}, {"bad_words_ids": BAD, "max_length": 6}, {"prefix": [1, 2, 3], "bad_words_ids": BAD},
                  {"bad_words_ids": BAD, "eos_token_id": [END, OTHER_END], "renormalize_logits": True}):
        case(num_beams=beams, num_return_sequences=beams - 1, early_stopping=stop, length_penalty=penalty, **extra)
samples = [
    {},
    {"temperature": 0.7, "top_k": 0},
    {"temperature": 1.9, "top_k": 5},
    {"top_k": 0, "top_p": 0.8},
    {"top_k": 0, "min_p": 0.1},
    {"top_k": 12, "top_p": 0.9, "min_p": 0.05, "temperature": 1.3},
    {"top_k": 7, "repetition_penalty": 1.4, "no_repeat_ngram_size": 2, "bad_words_ids": BAD, "min_new_tokens": 3},
    {"top_k": 0, "top_p": 0.01},
    {"forced_eos_token_id": END, "max_length": 5, "renormalize_logits": True, "top_p": 0.5},
]
for extra in samples:
    case(do_sample=True, **extra)

save("search", tensors)
(FOLDER / "search.jsonl").write_text("".join(json.dumps(c, separators=(",", ":")) + "\n" for c in cases))
lengths = sorted({len(s) for c in cases for s in c["sequences"]})
print(f"search.jsonl: {len(cases)} cases, {sum(len(c['sequences']) for c in cases)} sequences, lengths {lengths}")
