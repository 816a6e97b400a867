"""Sample answers to the authored questions with a model from a GGUF file on a GPU, many at a time.

    python data/sample_gpu.py --model SmolLM2-135M-Instruct.Q4_1.gguf --samples 96 --out FOLDER \
        --job word-fewshot=data/questions/word.jsonl,data/prompts/word-fewshot.json,0.7,96 ...

A job is NAME=QUESTIONS,PROMPT,TEMPERATURE,MAX_TOKENS. Each writes FOLDER/NAME.jsonl.gz, one question a line, with every
answer's text, token count, finish reason, mean token log-probability and mean token entropy. Temperature alone shapes
the draw: no top-k, no top-p, no penalty. Log-probability and entropy (in nats) are those of the model at temperature 1.

The worked examples open every prompt, so their keys and values are computed once and shared by all rows; a row holds
only its own question and what it has written. For models of the Llama and Qwen2 kinds. `--check` compares this loop's
log-probabilities with the library's own forward pass on a few questions, and prints the largest difference.

The answers of SmolLM2 to `word` and `drill` were drawn by an earlier version of this script, which shared nothing.

Needs torch, transformers and gguf, which the rest of the project does not. `python -m adalib collect` against
`python -m adalib serve-llm` repeats the same sampling on a CPU, one answer or two a second.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import os
import time
from pathlib import Path

import torch
import transformers
from transformers import AutoModelForCausalLM, AutoTokenizer

ENDS = ("<|im_end|>", "<|endoftext|>")  # either closes an answer
SLICE = 2048  # rows whose next token is drawn at a time: a row of logits is as long as the vocabulary


def read_jsonl(path: str) -> list[dict]:
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


def fill(messages: list[dict], question: str) -> list[dict]:
    return [{**m, "content": m["content"].replace("{question}", question)} for m in messages]


def turn(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Rotate queries or keys by their position."""
    first, second = x.chunk(2, -1)
    return x * cos + torch.cat([-second, first], -1) * sin


def products(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Batched matrix products in float32: scores rounded to bfloat16 would move log-probabilities."""
    return torch.bmm(a, b, out_dtype=torch.float32) if a.is_cuda else torch.bmm(a.float(), b.float())


class Rows:
    """The keys and values of many answers in the making: one shared opening, and what is each row's own."""

    def __init__(self, model, prompts: list[list[int]], samples: int, max_tokens: int):
        self.model, self.layers = model, model.model.layers
        device = model.device
        lengths = torch.tensor([len(p) for p in prompts], device=device)
        shared = len(os.path.commonprefix(prompts))
        self.shared = min(shared, int(lengths.min()) - 1)
        longest = int(lengths.max())
        ids = torch.tensor([p + [0] * (longest - len(p)) for p in prompts], device=device)
        mask = torch.arange(longest, device=device) < lengths[:, None]
        out = model.model(input_ids=ids, attention_mask=mask.long(), use_cache=True)
        last = out.last_hidden_state[torch.arange(len(prompts), device=device), lengths - 1]
        self.logits = model.lm_head(last).repeat_interleave(samples, 0)
        self.base, self.written = longest - self.shared, 0
        self.length = lengths.repeat_interleave(samples)
        rows, self.heads = len(self.length), out.past_key_values.layers[0].keys.shape[1]
        # A question shorter than the longest leaves slots between itself and its answer: they are masked for ever.
        own = torch.cat([mask[:, self.shared :], mask.new_ones(len(prompts), max_tokens)], 1)
        self.mask = torch.zeros(own.shape, dtype=model.dtype, device=device).masked_fill(~own, -torch.inf)
        self.mask = self.mask.repeat_interleave(samples, 0)
        self.opening, self.own = [], []
        for layer in out.past_key_values.layers:
            pair = (layer.keys, layer.values)
            self.opening.append([x[0, :, : self.shared].contiguous() for x in pair])
            self.own.append([])
            for x in pair:
                buffer = x.new_empty(rows, self.heads, self.base + max_tokens, x.shape[-1])
                buffer[:, :, : self.base] = x[:, :, self.shared :].repeat_interleave(samples, 0)
                self.own[-1].append(buffer.flatten(0, 1))

    def keep(self, rows: torch.Tensor) -> None:
        """Drop all other rows."""
        self.length, self.mask = self.length[rows], self.mask[rows]
        flat = (rows[:, None] * self.heads + torch.arange(self.heads, device=rows.device)).flatten()
        for pair in self.own:
            for i in (0, 1):
                pair[i] = pair[i][flat]

    def step(self, tokens: torch.Tensor) -> torch.Tensor:
        """Write one token to every row; the logits of the next."""
        x = self.model.model.embed_tokens(tokens)
        position = (self.length + self.written)[:, None]
        cos, sin = (y[:, 0, None] for y in self.model.model.rotary_emb(x[:, None], position))
        slot = self.base + self.written
        self.written += 1
        for layer, opening, own in zip(self.layers, self.opening, self.own, strict=True):
            x = x + self._attend(layer.self_attn, layer.input_layernorm(x), opening, own, slot, cos, sin)
            x = x + layer.mlp(layer.post_attention_layernorm(x))
        return self.model.lm_head(self.model.model.norm(x))

    def _attend(self, attention, x, opening, own, slot, cos, sin):
        rows, width = len(x), attention.head_dim
        q = turn(attention.q_proj(x).view(rows, -1, width), cos, sin)
        k = turn(attention.k_proj(x).view(rows, -1, width), cos, sin)
        v = attention.v_proj(x).view(rows, -1, width)
        own[0][:, slot], own[1][:, slot] = k.flatten(0, 1), v.flatten(0, 1)
        keys, values = own[0][:, : slot + 1], own[1][:, : slot + 1]
        q = q.view(rows, self.heads, -1, width)
        group = q.shape[2]
        by_head = q.transpose(0, 1).reshape(self.heads, rows * group, width)
        far = products(by_head, opening[0].transpose(1, 2)).view(self.heads, rows, group, -1).transpose(0, 1)
        near = products(q.reshape(rows * self.heads, group, width), keys.transpose(1, 2))
        near = near.view(rows, self.heads, group, -1) + self.mask[:, None, None, : slot + 1]
        weights = (torch.cat([far, near], -1) * attention.scaling).softmax(-1).to(x.dtype)
        far, near = weights[..., : self.shared], weights[..., self.shared :]
        far = torch.bmm(far.transpose(0, 1).reshape(self.heads, rows * group, -1), opening[1])
        near = torch.bmm(near.reshape(rows * self.heads, group, -1), values).view(rows, self.heads, group, width)
        out = far.view(self.heads, rows, group, width).transpose(0, 1) + near
        return attention.o_proj(out.reshape(rows, -1))


def next_tokens(logits: torch.Tensor, temperature: float, generator: torch.Generator) -> tuple[torch.Tensor, ...]:
    """Draw a token a row; its log-probability and the entropy, both at temperature 1."""
    found = []
    for part in logits.split(SLICE):
        logp = torch.log_softmax(part.float(), -1)
        entropy = -(logp.exp() * logp).sum(-1)
        # The smallest of exponential times with these rates is a draw from the probabilities.
        race = torch.empty_like(logp).exponential_(generator=generator).log_()
        choice = (logp / temperature).sub_(race).argmax(-1, keepdim=True)
        found.append((choice[:, 0], logp.gather(1, choice)[:, 0], entropy))
    return tuple(torch.cat(column) for column in zip(*found, strict=True))


@torch.inference_mode()
def draw(
    model, tokenizer, prompts: list[list[int]], samples: int, temperature: float, max_tokens: int, seed: int
) -> list[list[dict]]:
    """Draw `samples` answers to each prompt."""
    device = model.device
    generator = torch.Generator(device).manual_seed(seed)
    ends = torch.tensor([i for i in map(tokenizer.convert_tokens_to_ids, ENDS) if i is not None], device=device)
    state = Rows(model, prompts, samples, max_tokens)
    logits, rows = state.logits, len(state.length)
    tokens = torch.full((rows, max_tokens), tokenizer.eos_token_id, device=device)
    logprob, entropy = (torch.zeros(rows, device=device) for _ in range(2))
    length = torch.zeros(rows, dtype=torch.long, device=device)
    going = torch.ones(rows, dtype=torch.bool, device=device)
    live = torch.arange(rows, device=device)  # which answer each row of the state belongs to
    for step in range(max_tokens):
        choice, logp, spread = next_tokens(logits, temperature, generator)
        here = going[live]
        tokens[live, step] = torch.where(here, choice, tokenizer.eos_token_id)
        logprob[live] += here * logp
        entropy[live] += here * spread
        length[live] += here
        going[live] &= ~torch.isin(choice, ends)
        if step == max_tokens - 1:
            break
        # Most answers are short and a few ramble: drop the finished rows whenever a fifth of the state is theirs.
        left = torch.nonzero(going[live])[:, 0]
        if len(left) == 0:
            break
        if len(left) <= 0.8 * len(live):
            state.keep(left)
            live, choice = live[left], choice[left]
        logits = state.step(choice)
    texts = tokenizer.batch_decode(tokens, skip_special_tokens=True)
    answers = [
        {
            "text": text.strip(),
            "tokens": n,
            "finish": "length" if cut else "stop",
            "logprob": round(min(lp / n, 0.0), 4),
            "entropy": round(h / n, 4),
        }
        for text, n, cut, lp, h in zip(
            texts, length.tolist(), going.tolist(), logprob.tolist(), entropy.tolist(), strict=True
        )
    ]
    return [answers[i : i + samples] for i in range(0, rows, samples)]


@torch.inference_mode()
def check(model, prompts: list[list[int]], steps: int = 24) -> float:
    """The largest difference from the library's own forward pass, over greedy answers, in log-probability."""
    state = Rows(model, prompts, 1, steps)
    logits, written, worst = state.logits, [[] for _ in prompts], 0.0
    for step in range(steps):
        choice = logits.argmax(-1)
        for row, token in zip(written, choice.tolist(), strict=True):
            row.append(token)
        for i, row in enumerate(written):
            if step % 8 == 7:
                plain = model(torch.tensor([prompts[i] + row[:-1]], device=model.device)).logits[0, -1]
                apart = torch.log_softmax(plain.float(), -1) - torch.log_softmax(logits[i].float(), -1)
                worst = max(worst, float(apart[plain.topk(5).indices].abs().max()))
        logits = state.step(choice)
    return worst


def asked(tokenizer, job: str) -> tuple[list[dict], list[list[int]]]:
    """The questions of a job, and the tokens of their prompts."""
    questions_path, prompt_path, _, _ = job.split("=", 1)[1].split(",")
    questions = read_jsonl(questions_path)
    messages = json.loads(Path(prompt_path).read_text(encoding="utf-8"))["messages"]
    prompts = [
        tokenizer.apply_chat_template(fill(messages, q["question"]), tokenize=False, add_generation_prompt=True)
        for q in questions
    ]
    return questions, tokenizer(prompts, add_special_tokens=False)["input_ids"]


def run_job(model, tokenizer, job: str, samples: int, rows: int, seed: int, out: Path) -> None:
    name, rest = job.split("=", 1)
    _, _, temperature, max_tokens = rest.split(",")
    questions, prompts = asked(tokenizer, job)
    started, step = time.time(), max(1, rows // samples)
    out.mkdir(parents=True, exist_ok=True)
    with gzip.open(out / f"{name}.jsonl.gz", "wt", encoding="utf-8") as file:
        for start in range(0, len(questions), step):
            chunk = slice(start, start + step)
            # A seed of its own for every chunk: the draw does not depend on what was drawn before it.
            digest = hashlib.sha256(f"{seed}/{name}/{start}".encode()).digest()
            drawn = draw(
                model,
                tokenizer,
                prompts[chunk],
                samples,
                float(temperature),
                int(max_tokens),
                int.from_bytes(digest[:4], "big"),
            )
            for question, answers in zip(questions[chunk], drawn, strict=True):
                columns = {key: [a[key] for a in answers] for key in answers[0]}
                columns["texts"] = columns.pop("text")
                file.write(json.dumps(question | columns, ensure_ascii=False) + "\n")
            print(f"{name}: {start + len(drawn)} of {len(questions)}, {time.time() - started:.0f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path, required=True, help="the GGUF file")
    parser.add_argument("--job", action="append", required=True)
    parser.add_argument("--samples", type=int, default=96)
    parser.add_argument("--rows", type=int, default=4096, help="answers drawn side by side")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    tokenizer = AutoTokenizer.from_pretrained(args.model.parent, gguf_file=args.model.name)
    model = AutoModelForCausalLM.from_pretrained(args.model.parent, gguf_file=args.model.name, dtype=torch.bfloat16)
    model.to(device).eval()
    run = {
        "model_file": args.model.name,
        "model_bytes": args.model.stat().st_size,
        "model_sha256": hashlib.sha256(args.model.read_bytes()).hexdigest(),
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "device": "GPU" if device == "cuda" else "CPU",
        "dtype": str(model.dtype).removeprefix("torch."),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "samples": args.samples,
        "rows": args.rows,
        "seed": args.seed,
        "jobs": args.job,
    }
    if args.check:
        worst = check(model, asked(tokenizer, args.job[0])[1][::50])
        print(f"largest difference from the library's own pass: {worst:.4f}", flush=True)
    for job in args.job:
        run_job(model, tokenizer, job, args.samples, args.rows, args.seed, args.out)
    (args.out / "run.json").write_text(json.dumps(run, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
