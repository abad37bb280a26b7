"""The pocket model: a Qwen2 of about three million parameters with a tokenizer of its own, small enough for reinforcement learning on two CPU cores.

It plays the part of the paper's instruct model. Deviation from the paper: that one is pretrained on text; this one is trained by
`training/pretrain.py` on random pages alone, and starts from weights that already hold an induction circuit ("what stood after the last match?"),
without which so small a model does not learn to find an element in the time there is. In the spirit of "Mimetic Initialization of
Self-Attention Layers" (Trockman and Kolter, ICML 2023).
"""

import json
import math

import torch
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

from wr1_utils.web.actions import ACTIONS

IDS = 300                    # " [0]" … " [299]" are single tokens, and `", element="0"` … as they stand in an action
MERGES = 4600                # BPE merges inside words
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
PHRASES = ["<think>", "</think>", "</think>\n<answer>", "<answer>", "</answer>", ')</answer>', '")</answer>', "# Note: ", "# Element:", "# Answer: ",
           ' = "', " | ", 'exit(message="', 'do(action="', '", argument="', '", element="', "** Simplified html **",
           *(f'do(action="{action}' for action in ACTIONS)]
ID_TOKENS = [f" [{i}]" for i in range(IDS)]
ELEMENT_TOKENS = [f'", element="{i}"' for i in range(IDS)]
SPACE = "Ġ"                  # how byte-level BPE writes a space
CHAT_TEMPLATE = ("{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>\\n' }}{% endfor %}"
                 "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}")

HIDDEN, LAYERS, HEADS, HEAD_SIZE, MLP, POSITIONS = 192, 4, 3, 64, 384, 2048
EMBEDDING_STD = 0.3
SUFFIX, MATCH, OUT = 0.3, 10, 3.0  # of the primed circuit: weight of each earlier token, score of a match, strength of what is written
COPY = 0.5                   # strength with which every other head from layer 1 on writes the token that it attends to
SEEN = 0.7                   # weight of what all ids have in common, beside what each has of its own
CONTEXT_OF_INTEREST = 800    # tokens over which a "stable" rotary pair may turn at most half a radian


def build_tokenizer(texts: list[str]) -> PreTrainedTokenizerFast:
    """Byte-level BPE trained on `texts`; decode(encode(x)) == x for any text.

    Every word piece has a twin with a space before it, and both forms of a word are cut into the same pieces: `Lamp` is to be copied from ` Lamp` (a page)
    into `"Lamp` (an argument). So merges are learned inside words only, and joining the space to the first piece is the last merge. A number is cut
    into groups of three digits from its right end, each one token: 1016 and 1017 share a 1 and then differ at once, which single digits do not.
    """
    pieces = Regex(r" ?\p{L}+| ?\p{N}{1,3}(?=(?:\p{N}{3})*(?!\p{N}))| ?[^\s\p{L}\p{N}]|\s")  # punctuation marks stand alone
    learner = Tokenizer(models.BPE())
    learner.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(r"\p{L}+"), "removed", invert=True),
                                                     pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    learner.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=len(alphabet) + MERGES, initial_alphabet=alphabet, show_progress=False))
    state = json.loads(learner.to_str())["model"]
    merges = [tuple(merge) for merge in state["merges"]]
    merges += [(number[:-1], number[-1]) for digits in (2, 3) for number in (f"{n:0{digits}d}" for n in range(10**digits))]
    words = alphabet + [left + right for left, right in merges]
    starts = [piece for piece in words if len(piece) > 1 or "!" <= piece <= "~"]
    tokens = list(dict.fromkeys(SPECIAL + words + [SPACE + piece for piece in starts]))
    merges += [(SPACE, piece) for piece in starts]
    tokenizer = Tokenizer(models.BPE(vocab={token: i for i, token in enumerate(tokens)}, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(pieces, "isolated"),
                                                       pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in SPECIAL])
    tokenizer.add_tokens([AddedToken(text, special=False, normalized=False) for text in PHRASES + ID_TOKENS + ELEMENT_TOKENS])
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|im_end|>", pad_token="<|endoftext|>",
                                   clean_up_tokenization_spaces=False, model_max_length=POSITIONS)
    fast.chat_template = CHAT_TEMPLATE
    return fast


def build_model(tokenizer: PreTrainedTokenizerFast, seed: int) -> Qwen2ForCausalLM:
    """The untrained model, induction-primed. Deterministic for a given seed."""
    config = Qwen2Config(vocab_size=len(tokenizer), hidden_size=HIDDEN, intermediate_size=MLP, num_hidden_layers=LAYERS, num_attention_heads=HEADS,
                         num_key_value_heads=HEADS, head_dim=HEAD_SIZE, max_position_embeddings=POSITIONS, tie_word_embeddings=True,
                         rope_parameters={"rope_type": "default", "rope_theta": 1e6}, bos_token_id=None,
                         eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id)
    torch.manual_seed(seed)
    model = Qwen2ForCausalLM(config)
    prime_induction(model, tokenizer)
    model.generation_config.eos_token_id = tokenizer.eos_token_id
    model.generation_config.pad_token_id = tokenizer.pad_token_id
    return model


def _orthonormal(rows: int, columns: int) -> torch.Tensor:
    """[rows, columns] with orthonormal rows (rows <= columns)."""
    return torch.linalg.qr(torch.randn(columns, rows))[0].T


@torch.no_grad()
def prime_induction(model: Qwen2ForCausalLM, tokenizer: PreTrainedTokenizerFast) -> None:
    """Writes an induction circuit into layers 0 and 1, in place: "what stood after the last place where the text was as it is now?"

    Layer 0, head j attends to the token j + 1 places back and writes down which it was, for j = 0, 1, 2, each in a subspace of its own. Layer 1, head 0
    looks for positions whose three tokens before are the current one and the two before that; the first counts most, so where no three match, one does. It
    writes the token that stands there where the tied unembedding reads it. Rotary pairs that hardly turn over the context carry content, those that turn
    fast carry the offset. A token and its twin with a space before it start with embeddings that differ by one common vector; so do an id as a page
    prints it and the same id in an action. Every other head from layer 1 on copies what it attends to, so that only where to look is left to learn.
    """
    width, size = model.config.hidden_size, model.config.head_dim
    turn = model.config.rope_parameters["rope_theta"] ** (-torch.arange(0, size, 2) / size)          # [size / 2] radians a token
    stable = torch.nonzero(turn < 0.5 / CONTEXT_OF_INTEREST).flatten()
    fast = torch.nonzero(turn > 0.05).flatten()
    fast = fast[:len(fast) // 2]
    stable = torch.cat([stable, stable + size // 2])                                                 # both dimensions of each pair
    n = len(stable)
    norm = EMBEDDING_STD * math.sqrt(width)

    embedding = model.model.embed_tokens.weight                                                      # [vocabulary, width]
    embedding.normal_(0.0, EMBEDDING_STD)
    space = torch.randn(width) * EMBEDDING_STD * 0.7
    vocabulary = tokenizer.get_vocab()
    for token, i in vocabulary.items():
        if token.startswith(SPACE) and token[1:] in vocabulary:
            embedding[i] = (embedding[vocabulary[token[1:]]] + space) / math.sqrt(1.49)
    seen, used = torch.randn(2, width) * EMBEDDING_STD
    for id_token, element_token in zip(ID_TOKENS, ELEMENT_TOKENS):
        own = embedding[vocabulary[id_token]].clone()
        embedding[vocabulary[id_token]] = (own + SEEN * seen) / math.sqrt(1 + SEEN**2)
        embedding[vocabulary[element_token]] = (own + 0.7 * used) / math.sqrt(1.49)
    for layer in model.model.layers:
        layer.self_attn.o_proj.weight *= 0.1
        layer.mlp.down_proj.weight *= 0.1

    first, second = model.model.layers[0].self_attn, model.model.layers[1].self_attn
    read, *written = _orthonormal(4 * n, width).split(n)                                             # four matrices [n, width]
    key = torch.zeros(size)
    key[fast] = 9 * 1.6 * size ** 0.25 / math.sqrt(len(fast))
    for j in range(3):
        head = slice(j * size, (j + 1) * size)
        query = torch.zeros(size)                                                                    # the key turned back by j + 1 positions
        query[fast] = key[fast] * torch.cos((j + 1) * turn[fast])
        query[fast + size // 2] = -key[fast] * torch.sin((j + 1) * turn[fast])
        for projection, bias in ((first.q_proj, query), (first.k_proj, key)):
            projection.weight[head] = 0.0
            projection.bias[head] = bias
        first.v_proj.weight[head] = 0.0
        first.v_proj.weight[j * size:j * size + n] = read
        first.v_proj.bias[head] = 0.0
        first.o_proj.weight[:, head] = 0.0
        first.o_proj.weight[:, j * size:j * size + n] = written[j].T * norm / math.sqrt(n)           # what is written has an embedding's norm

    # After three such writes RMSNorm halves everything. A match of the current token scores about 8, each earlier one SUFFIX times that.
    strength = math.sqrt(MATCH * math.sqrt(size) * 4 / math.sqrt(width * n))
    earlier = math.sqrt(SUFFIX / math.sqrt(width / n))
    turns = [torch.eye(n), earlier * _orthonormal(n, n), earlier * _orthonormal(n, n)]
    head = slice(0, size)
    for projection, sources in ((second.q_proj, [read, *written[:2]]), (second.k_proj, written)):
        projection.weight[head] = 0.0
        projection.weight[stable] = strength * sum(matrix @ source for matrix, source in zip(turns, sources))
        projection.bias[head] = 0.0
    for number, layer in enumerate(model.model.layers[1:], 1):
        attention = layer.self_attn
        for j, content in enumerate(_orthonormal(HEADS * size, width).split(size)):                  # each [size, width]: copies what it attends to
            head = slice(j * size, (j + 1) * size)
            strength = OUT if number == 1 and j == 0 else COPY
            attention.v_proj.weight[head] = content
            attention.v_proj.bias[head] = 0.0
            attention.o_proj.weight[:, head] = strength * content.T * norm / math.sqrt(size)
