"""Sample answers to the authored questions with SmolLM2-135M-Instruct on a GPU, many at a time.

    python data/sample_gpu.py --model SmolLM2-135M-Instruct.Q4_1.gguf --samples 96 --out FOLDER \
        --job word-fewshot=data/questions/word.jsonl,data/prompts/word-fewshot.json,0.7,96 ...

A job is NAME=QUESTIONS,PROMPT,TEMPERATURE,MAX_TOKENS. Each writes FOLDER/NAME.jsonl.gz, one question a line, with every
answer's text, token count, finish reason, mean token log-probability and mean token entropy. Temperature alone shapes
the draw: no top-k, no top-p, no penalty. Log-probability and entropy (in nats) are those of the model at temperature 1.

Needs torch, transformers and gguf, which the rest of the project does not. `python -m adalib collect` against
`python -m adalib serve-llm` repeats the same sampling on a CPU, one answer or two a second.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import time
from pathlib import Path

import torch
import transformers
from transformers import AutoModelForCausalLM, AutoTokenizer

ROWS = 4096  # answers drawn side by side


def read_jsonl(path: str) -> list[dict]:
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


def fill(messages: list[dict], question: str) -> list[dict]:
    return [{**m, "content": m["content"].replace("{question}", question)} for m in messages]


@torch.inference_mode()
def draw(
    model, tokenizer, prompts: list[str], samples: int, temperature: float, max_tokens: int, seed: int
) -> list[list[dict]]:
    """Draw `samples` answers to each prompt; the prompt is read once and shared by its answers."""
    device = model.device
    generator = torch.Generator(device).manual_seed(seed)
    batch = tokenizer(prompts, return_tensors="pt", padding=True, padding_side="left", add_special_tokens=False).to(
        device
    )
    mask = batch.attention_mask
    first = model(**batch, position_ids=(mask.cumsum(1) - 1).clamp(min=0), use_cache=True, logits_to_keep=1)
    cache = first.past_key_values
    cache.batch_repeat_interleave(samples)
    logits = first.logits[:, -1].repeat_interleave(samples, 0)
    mask = mask.repeat_interleave(samples, 0)
    position = mask.sum(1, keepdim=True)
    rows = logits.shape[0]
    tokens = torch.full((rows, max_tokens), tokenizer.eos_token_id, device=device)
    logprob, entropy = (torch.zeros(rows, device=device) for _ in range(2))
    length = torch.zeros(rows, dtype=torch.long, device=device)
    going = torch.ones(rows, dtype=torch.bool, device=device)
    live = torch.arange(rows, device=device)  # which answer each row of the cache belongs to
    for step in range(max_tokens):
        logp = torch.log_softmax(logits.float(), -1)
        choice = torch.multinomial(torch.softmax(logits.float() / temperature, -1), 1, generator=generator)
        here = going[live]
        tokens[live, step] = torch.where(here, choice[:, 0], tokenizer.eos_token_id)
        logprob[live] += here * logp.gather(1, choice)[:, 0]
        entropy[live] += here * -(logp.exp() * logp).sum(-1)
        length[live] += here
        going[live] &= choice[:, 0] != tokenizer.eos_token_id
        if not going.any() or step == max_tokens - 1:
            break
        mask = torch.cat([mask, mask.new_ones(len(live), 1)], 1)
        # Most answers are short and a few ramble: drop the finished rows whenever a quarter of the cache is theirs.
        keep = torch.nonzero(going[live])[:, 0]
        if len(keep) <= 0.75 * len(live):
            cache.batch_select_indices(keep)
            live, mask, position, choice = live[keep], mask[keep], position[keep], choice[keep]
        out = model(
            input_ids=choice,
            attention_mask=mask,
            position_ids=position + step,
            past_key_values=cache,
            use_cache=True,
        )
        logits = out.logits[:, -1]
    texts = tokenizer.batch_decode(tokens, skip_special_tokens=True)
    answers = [
        {
            "text": text.strip(),
            "tokens": n,
            "finish": "length" if cut else "stop",
            "logprob": round(lp / n, 4),
            "entropy": round(h / n, 4),
        }
        for text, n, cut, lp, h in zip(
            texts, length.tolist(), going.tolist(), logprob.tolist(), entropy.tolist(), strict=True
        )
    ]
    return [answers[i : i + samples] for i in range(0, rows, samples)]


def run_job(model, tokenizer, job: str, samples: int, seed: int, out: Path) -> None:
    name, rest = job.split("=", 1)
    questions_path, prompt_path, temperature, max_tokens = rest.split(",")
    questions = read_jsonl(questions_path)
    messages = json.loads(Path(prompt_path).read_text(encoding="utf-8"))["messages"]
    prompts = [
        tokenizer.apply_chat_template(fill(messages, q["question"]), tokenize=False, add_generation_prompt=True)
        for q in questions
    ]
    started, step = time.time(), max(1, ROWS // samples)
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
    print(f"{name}: {len(questions)} x {samples} answers in {time.time() - started:.0f} s", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path, required=True, help="the GGUF file")
    parser.add_argument("--job", action="append", required=True)
    parser.add_argument("--samples", type=int, default=96)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    tokenizer = AutoTokenizer.from_pretrained(args.model.parent, gguf_file=args.model.name)
    model = AutoModelForCausalLM.from_pretrained(args.model.parent, gguf_file=args.model.name, dtype=torch.bfloat16)
    model.to(device).eval()
    tokenizer.pad_token = tokenizer.pad_token or tokenizer.eos_token
    run = {
        "model_file": args.model.name,
        "model_sha256": hashlib.sha256(args.model.read_bytes()).hexdigest(),
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
        "device": "GPU" if device == "cuda" else "CPU",
        "dtype": str(model.dtype).removeprefix("torch."),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "samples": args.samples,
        "seed": args.seed,
        "jobs": args.job,
    }
    for job in args.job:
        run_job(model, tokenizer, job, args.samples, args.seed, args.out)
    (args.out / "run.json").write_text(json.dumps(run, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
