"""Sample answers with a model from a GGUF file on a GPU, many at a time.

    python sample_gpu.py --model SmolLM2-135M-Instruct.Q4_1.gguf --samples 96 --out FOLDER \
        --job word-fewshot=data/questions/word.jsonl,data/prompts/word-fewshot.json,0.7,96 ...

A job is NAME=QUESTIONS,PROMPT,TEMPERATURE,MAX_TOKENS. It writes FOLDER/NAME.jsonl.gz, one question
per line, with the text, token count, finish reason, mean token log-probability and mean token
entropy of every answer. Temperature alone shapes the draw: no top-k, no top-p, no penalty. The
log-probability and the entropy (in nats) are those of the model at temperature 1.

Two things make it fast. The worked examples open every prompt, so their keys and values are
computed once and shared by all rows. And a row that has finished its answer is given the next one,
so that a few long answers do not keep the others waiting. For models of the Llama and Qwen2
families. `--check` compares this loop's log-probabilities with the library's own forward pass on a
few questions, and prints the largest difference.

Earlier versions of this script drew the bundled answers made before 17 November 2026: they drew
the same way, in chunks that waited for their longest answer.

Needs torch, transformers and gguf, which the rest of the project does not. `python -m adalib
collect` with `python examples/local_model.py` samples the same way on a CPU, one or two answers per
second.
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

ANSWER_ENDS = ("<|im_end|>", "<|endoftext|>")
ROWS_PER_DRAW = (
    2048  # rows whose next token is drawn together: a row of logits spans the vocabulary
)
STEPS_PER_REFILL = 8  # finished rows wait at most so many tokens for their next answer


def read_jsonl(path: str) -> list[dict]:
    """Read one JSON object per line."""
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


def fill_prompt(messages: list[dict], question: str) -> list[dict]:
    """Put the question into the prompt's messages."""
    return [{**m, "content": m["content"].replace("{question}", question)} for m in messages]


def rotate(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Rotate queries or keys by their position."""
    first, second = x.chunk(2, -1)
    return x * cos + torch.cat([-second, first], -1) * sin


def products(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Multiply batches of matrices in float32: rounded scores would move log-probabilities."""
    if a.is_cuda:
        return torch.bmm(a, b, out_dtype=torch.float32)
    return torch.bmm(a.float(), b.float())


class Prompts:
    """The prefilled prompts: the shared opening once, and what is each question's own."""

    def __init__(self, model, prompts: list[list[int]], at_once: int = 64):
        lengths = [len(prompt) for prompt in prompts]
        # The last token of a prompt is never shared: its logits open the answer.
        self.shared = min(len(os.path.commonprefix(prompts)), min(lengths) - 1)
        self.width = max(lengths) - self.shared
        self.lengths = torch.tensor(lengths, device=model.device)
        first_logits = []
        own_keys_values = []
        for start in range(0, len(prompts), at_once):
            out, last = self._prefill(model, prompts[start : start + at_once], max(lengths))
            first_logits.append(model.lm_head(last))
            layers = [(layer.keys, layer.values) for layer in out.past_key_values.layers]
            if start == 0:
                self.opening = [
                    [x[0, :, : self.shared].contiguous() for x in pair] for pair in layers
                ]
            own_keys_values.append([[x[:, :, self.shared :] for x in pair] for pair in layers])
        self.logits = torch.cat(first_logits)
        self.own = [
            [torch.cat([chunk[layer][kind] for chunk in own_keys_values]) for kind in (0, 1)]
            for layer in range(len(self.opening))
        ]
        places = torch.arange(self.width, device=model.device)
        self.mask = places < (self.lengths - self.shared)[:, None]

    @staticmethod
    def _prefill(model, prompts: list[list[int]], longest: int):
        """Run the model over padded prompts; also return the hidden state of each last token."""
        ids = torch.tensor([p + [0] * (longest - len(p)) for p in prompts], device=model.device)
        lengths = torch.tensor([len(p) for p in prompts], device=model.device)
        mask = torch.arange(longest, device=model.device) < lengths[:, None]
        out = model.model(input_ids=ids, attention_mask=mask.long(), use_cache=True)
        rows = torch.arange(len(prompts), device=model.device)
        return out, out.last_hidden_state[rows, lengths - 1]


class Rows:
    """Answers in the making, one per row, each as far along as it is."""

    def __init__(self, model, prompts: Prompts, rows: int, max_tokens: int):
        self.model = model
        self.prompts = prompts
        self.heads = prompts.own[0][0].shape[1]
        width = prompts.width + max_tokens
        head_size = prompts.own[0][0].shape[-1]
        new = prompts.own[0][0].new_zeros
        self.own = [
            [new(rows, self.heads, width, head_size) for _ in (0, 1)] for _ in prompts.opening
        ]
        # A question shorter than the longest leaves slots before its answer: they stay masked.
        self.mask = torch.full((rows, width), -torch.inf, dtype=model.dtype, device=model.device)
        self.length = torch.zeros(rows, dtype=torch.long, device=model.device)
        self.written = torch.zeros(rows, dtype=torch.long, device=model.device)

    def begin(self, rows: torch.Tensor, questions: torch.Tensor) -> torch.Tensor:
        """Give these rows new questions; return the logits of their first tokens."""
        width = self.prompts.width
        for mine, prefilled in zip(self.own, self.prompts.own, strict=True):
            for kind in (0, 1):
                mine[kind][rows, :, :width] = prefilled[kind][questions]
        self.mask[rows] = -torch.inf
        question_mask = torch.zeros(len(rows), width, dtype=self.mask.dtype, device=rows.device)
        question_mask.masked_fill_(~self.prompts.mask[questions], -torch.inf)
        self.mask[rows, :width] = question_mask
        self.length[rows] = self.prompts.lengths[questions]
        self.written[rows] = 0
        return self.prompts.logits[questions]

    def step(self, tokens: torch.Tensor, longest: int) -> torch.Tensor:
        """Write one token to every row, none with more than ``longest``; return the next logits."""
        x = self.model.model.embed_tokens(tokens)
        position = (self.length + self.written)[:, None]
        cos, sin = (y[:, 0, None] for y in self.model.model.rotary_emb(x[:, None], position))
        slot = self.prompts.width + self.written
        every = torch.arange(len(slot), device=slot.device)
        self.mask[every, slot] = 0
        self.written += 1
        reach = self.prompts.width + longest
        layers = zip(self.model.model.layers, self.prompts.opening, self.own, strict=True)
        for layer, opening, own in layers:
            normed = layer.input_layernorm(x)
            x = x + self._attend(layer.self_attn, normed, opening, own, slot, reach, cos, sin)
            x = x + layer.mlp(layer.post_attention_layernorm(x))
        return self.model.lm_head(self.model.model.norm(x))

    def _attend(self, attention, x, opening, own, slot, reach, cos, sin):
        """Attend to the shared opening and to each row's own question and answer."""
        rows = len(x)
        width = attention.head_dim
        q = rotate(attention.q_proj(x).view(rows, -1, width), cos, sin)
        k = rotate(attention.k_proj(x).view(rows, -1, width), cos, sin)
        v = attention.v_proj(x).view(rows, -1, width)
        every = torch.arange(rows, device=x.device)
        own[0][every, :, slot] = k
        own[1][every, :, slot] = v
        keys = own[0][:, :, :reach].flatten(0, 1)
        values = own[1][:, :, :reach].flatten(0, 1)
        q = q.view(rows, self.heads, -1, width)
        group = q.shape[2]
        by_head = q.transpose(0, 1).reshape(self.heads, rows * group, width)
        far = products(by_head, opening[0].transpose(1, 2))
        far = far.view(self.heads, rows, group, -1).transpose(0, 1)
        near = products(q.reshape(rows * self.heads, group, width), keys.transpose(1, 2))
        near = near.view(rows, self.heads, group, -1) + self.mask[:, None, None, :reach]
        weights = (torch.cat([far, near], -1) * attention.scaling).softmax(-1).to(x.dtype)
        far = weights[..., : self.prompts.shared].transpose(0, 1)
        near = weights[..., self.prompts.shared :]
        far = torch.bmm(far.reshape(self.heads, rows * group, -1), opening[1])
        near = torch.bmm(near.reshape(rows * self.heads, group, -1), values)
        out = far.view(self.heads, rows, group, width).transpose(0, 1)
        out = out + near.view(rows, self.heads, group, width)
        return attention.o_proj(out.reshape(rows, -1))


def next_tokens(
    logits: torch.Tensor, temperature: float, generator: torch.Generator
) -> tuple[torch.Tensor, ...]:
    """Draw one token per row; its log-probability and the entropy, both at temperature 1."""
    drawn = []
    for rows in logits.split(ROWS_PER_DRAW):
        logp = torch.log_softmax(rows.float(), -1)
        entropy = -(logp.exp() * logp).sum(-1)
        # The smallest of exponential times with these rates is a draw from the probabilities.
        log_times = torch.empty_like(logp).exponential_(generator=generator).log_()
        choice = (logp / temperature).sub_(log_times).argmax(-1, keepdim=True)
        drawn.append((choice[:, 0], logp.gather(1, choice)[:, 0], entropy))
    return tuple(torch.cat(column) for column in zip(*drawn, strict=True))


@torch.inference_mode()
def draw(
    model,
    tokenizer,
    prompts: list[list[int]],
    samples: int,
    temperature: float,
    max_tokens: int,
    rows: int,
    seed: int,
    report=lambda finished: None,
) -> list[list[dict]]:
    """Draw ``samples`` answers to each prompt, ``rows`` of them at a time."""
    device = model.device
    generator = torch.Generator(device).manual_seed(seed)
    end_ids = [i for i in map(tokenizer.convert_tokens_to_ids, ANSWER_ENDS) if i is not None]
    ends = torch.tensor(end_ids, device=device)
    prefilled = Prompts(model, prompts)
    total = len(prompts) * samples
    rows = min(rows, total)
    state = Rows(model, prefilled, rows, max_tokens)
    tokens = torch.full((total, max_tokens), tokenizer.eos_token_id, device=device)
    logprob = torch.zeros(total, device=device)
    entropy = torch.zeros(total, device=device)
    length = torch.zeros(total, dtype=torch.long, device=device)
    cut = torch.ones(total, dtype=torch.bool, device=device)
    answer = torch.arange(rows, device=device)  # which answer each row writes
    going = torch.ones(rows, dtype=torch.bool, device=device)
    logits = state.begin(answer, answer // samples)
    begun = rows
    finished = 0
    for step in range(total * max_tokens):
        choice, logp, spread = next_tokens(logits, temperature, generator)
        mine = answer[going]
        tokens[mine, state.written[going]] = choice[going]
        logprob[mine] += logp[going]
        entropy[mine] += spread[going]
        length[mine] += 1
        ended = torch.isin(choice, ends) & going
        cut[answer[ended]] = False
        going &= ~torch.isin(choice, ends) & (state.written < max_tokens - 1)
        # A finished row repeats its last slot until it is given a new answer.
        longest = int(state.written.max()) + 1
        logits = state.step(choice, longest)
        state.written -= (~going).long()
        if step % STEPS_PER_REFILL == 0:
            idle = torch.nonzero(~going)[:, 0]
            fresh = idle[: total - begun]
            finished = begun - int(going.sum())
            report(finished)
            if len(fresh):
                answer[fresh] = torch.arange(begun, begun + len(fresh), device=device)
                logits[fresh] = state.begin(fresh, answer[fresh] // samples)
                going[fresh] = True
                begun += len(fresh)
            elif not going.any():
                break
    texts = tokenizer.batch_decode(tokens, skip_special_tokens=True)
    answers = [
        {
            "text": text.strip(),
            "tokens": n,
            "finish": "length" if was_cut else "stop",
            "logprob": round(min(lp / n, 0.0), 4),
            "entropy": round(h / n, 4),
        }
        for text, n, was_cut, lp, h in zip(
            texts, length.tolist(), cut.tolist(), logprob.tolist(), entropy.tolist(), strict=True
        )
    ]
    return [answers[i : i + samples] for i in range(0, total, samples)]


@torch.inference_mode()
def check(model, prompts: list[list[int]], steps: int = 24) -> float:
    """Return the largest difference in log-probability from the library's own forward pass.

    Greedy answers are written by rows that begin at different times, as in a real draw.
    """
    state = Rows(model, Prompts(model, prompts), len(prompts), 2 * steps)
    every = torch.arange(len(prompts), device=model.device)
    logits = state.begin(every, every)
    written: list[list[int]] = [[] for _ in prompts]
    worst = 0.0
    for step in range(2 * steps):
        if step == steps // 2:  # every other row starts again
            again = every[::2]
            logits[again] = state.begin(again, again)
            for row in again.tolist():
                written[row] = []
        choice = logits.argmax(-1)
        for row, token in zip(written, choice.tolist(), strict=True):
            row.append(token)
        if step % 8 == 7:
            for i, row in enumerate(written):
                ids = torch.tensor([prompts[i] + row[:-1]], device=model.device)
                plain = model(ids).logits[0, -1]
                difference = torch.log_softmax(plain.float(), -1) - torch.log_softmax(
                    logits[i].float(), -1
                )
                worst = max(worst, float(difference[plain.topk(5).indices].abs().max()))
        logits = state.step(choice, int(state.written.max()) + 1)
    return worst


def read_job(tokenizer, job: str) -> tuple[list[dict], list[list[int]]]:
    """Return the questions of a job and the tokens of their prompts."""
    questions_path, prompt_path, _, _ = job.split("=", 1)[1].split(",")
    questions = read_jsonl(questions_path)
    messages = json.loads(Path(prompt_path).read_text(encoding="utf-8"))["messages"]
    prompts = [
        tokenizer.apply_chat_template(
            fill_prompt(messages, question["question"]), tokenize=False, add_generation_prompt=True
        )
        for question in questions
    ]
    return questions, tokenizer(prompts, add_special_tokens=False)["input_ids"]


def run_job(model, tokenizer, job: str, samples: int, rows: int, seed: int, out: Path) -> None:
    """Draw the answers of one job, and write them."""
    name, settings = job.split("=", 1)
    _, _, temperature, max_tokens = settings.split(",")
    questions, prompts = read_job(tokenizer, job)
    started = time.time()
    last_report = started

    def report(finished: int) -> None:
        nonlocal last_report
        if time.time() - last_report > 10:
            last_report = time.time()
            seconds = last_report - started
            print(f"{name}: {finished} of {len(questions) * samples}, {seconds:.0f} s", flush=True)

    digest = hashlib.sha256(f"{seed}/{name}".encode()).digest()
    drawn = draw(
        model,
        tokenizer,
        prompts,
        samples,
        float(temperature),
        int(max_tokens),
        rows,
        int.from_bytes(digest[:4], "big"),
        report,
    )
    out.mkdir(parents=True, exist_ok=True)
    with gzip.open(out / f"{name}.jsonl.gz", "wt", encoding="utf-8") as file:
        for question, answers in zip(questions, drawn, strict=True):
            columns = {key: [answer[key] for answer in answers] for key in answers[0]}
            columns["texts"] = columns.pop("text")
            file.write(json.dumps(question | columns, ensure_ascii=False) + "\n")
    print(f"{name}: done, {time.time() - started:.0f} s", flush=True)


def main() -> None:
    """Read the arguments, load the model, run the jobs, and note how."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path, required=True, help="the GGUF file")
    parser.add_argument("--job", action="append", required=True)
    parser.add_argument("--samples", type=int, default=96)
    parser.add_argument("--rows", type=int, default=2304, help="answers written side by side")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    folder = args.model.parent
    name = args.model.name
    tokenizer = AutoTokenizer.from_pretrained(folder, gguf_file=name)
    model = AutoModelForCausalLM.from_pretrained(folder, gguf_file=name, dtype=torch.bfloat16)
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
        worst = check(model, read_job(tokenizer, args.job[0])[1][::50])
        print(f"largest difference from the library's own pass: {worst:.4f}", flush=True)
    args.out.mkdir(parents=True, exist_ok=True)
    for job in args.job:
        run_job(model, tokenizer, job, args.samples, args.rows, args.seed, args.out)
    (args.out / "run.json").write_text(json.dumps(run, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
