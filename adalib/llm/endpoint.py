"""One answer from an OpenAI-compatible endpoint, asked for with patience.

Endpoints fail in two ways. Some failures pass (a busy server, a cut connection, a page where JSON should be): wait
and ask again, longer each time, and as long as the server asks for when it says so. Others do not (a wrong key, a
wrong model): stop at once and say so in one line. The key is in no line of ours, not even when a server repeats it.
"""

from __future__ import annotations

import asyncio
import math
import os
import random
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from ipaddress import ip_address
from urllib.parse import urlsplit

import openai
from openai.types.chat import ChatCompletion

__all__ = ["Answer", "Endpoint", "EndpointError", "backoff", "mean_entropy", "mean_logprob", "retry_after"]

FIRST_WAIT = 1.0  # seconds before the second try; doubled for each try after that
LONGEST_WAIT = 60.0  # no wait is longer, whatever a server asks for
TOP_LOGPROBS = 20  # the most that the OpenAI interface lets one ask for

MENDS = {
    400: "the endpoint does not accept this request: check the model's name, the prompt's length and the settings",
    401: "check the key in {key}",
    403: "check the key in {key} and whether it may use this model",
    404: "check the base URL (it often ends in /v1) and the model's name",
}

Pause = Callable[[float, str], Awaitable[None]]


class EndpointError(RuntimeError):
    """The endpoint refused, or failed too often in a row. The message is one line without secrets."""


class _PassingError(Exception):
    """A reply that is no answer, or a failure that may pass: worth another try, no sooner than ``hint`` seconds."""

    def __init__(self, why: str, hint: float | None = None):
        super().__init__(why)
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back for one request.

    Attributes
    ----------
    text : str
        The model's words; half a character (a cut emoji) reads U+FFFD.
    finish : str
        Why it ended: ``"stop"``, or ``"length"`` when it was cut at the token limit.
    tokens, prompt_tokens : int or None
        Tokens written and read, where the endpoint counts them.
    logprob, entropy : float or None
        Mean log-probability of the tokens and their mean entropy, in nats, where they were asked for.
    """

    text: str
    finish: str
    tokens: int | None = None
    prompt_tokens: int | None = None
    logprob: float | None = None
    entropy: float | None = None


class Endpoint:
    """A model behind an OpenAI-compatible address. Use it as ``async with Endpoint(...) as endpoint``.

    Explained in chapter 0, "One question, many answers".

    Parameters
    ----------
    base_url : str
        The address up to ``/v1``, for example ``http://127.0.0.1:8080/v1``.
    model : str
        The model's name as the endpoint knows it.
    key_env : str
        The environment variable that holds the key; an endpoint on this machine (loopback) needs none.
    timeout : float
        Seconds for one request, from the first byte to the last; a hang or a slow drip ends here.
    tries : int
        Requests for one answer before giving up.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        key_env: str = "OPENAI_API_KEY",
        timeout: float = 120.0,
        tries: int = 8,
    ):
        self.url, self.loopback = _checked_url(base_url)
        if not timeout > 0 or tries < 1:
            raise ValueError(f"need timeout > 0 and tries >= 1, got timeout={timeout}, tries={tries}")
        self.model, self.timeout, self.tries = model, timeout, tries
        self.key_env, self._key = key_env, os.environ.get(key_env, "").strip()
        if not (self._key or self.loopback):
            raise EndpointError(f"{self.url} needs a key: put it into the environment variable {key_env}")
        if not (self._key.isascii() and self._key.isprintable()):
            raise EndpointError(f"the key in {key_env} holds a character that no header can carry: set it again")
        # Retries are ours (the client's own neither see a page instead of JSON nor tell the progress bar), and so is
        # the time limit (the client's counts silence only). A proxy must not stand between us and this machine.
        http = openai.DefaultAsyncHttpxClient(trust_env=False) if self.loopback else None
        self._client = openai.AsyncOpenAI(
            base_url=base_url, api_key=self._key or "none", max_retries=0, timeout=None, http_client=http
        )

    async def __aenter__(self) -> Endpoint:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.close()

    async def sample(
        self,
        messages: Sequence[dict[str, str]],
        *,
        temperature: float = 0.7,
        max_tokens: int = 256,
        seed: int | None = None,
        logprobs: bool = False,
        extra: dict | None = None,
        pause: Pause | None = None,
    ) -> Answer:
        """Ask until there is an answer, a refusal, or no patience left.

        Parameters
        ----------
        messages : sequence of dict
            The conversation, each with ``role`` and ``content``.
        temperature, max_tokens, seed : float, int, int or None
            Passed on; without a seed none is sent.
        logprobs : bool
            Ask for the tokens' log-probabilities too.
        extra : dict, optional
            Whatever else the request's body is to hold.
        pause : coroutine function, optional
            Called as ``pause(seconds, why)`` between tries; sleeps by default.

        Raises
        ------
        EndpointError
            On a refusal (400, 401, 403, 404 and their like), or after ``tries`` failures in a row.
        """
        request: dict = {"temperature": temperature, "max_tokens": max_tokens}
        if seed is not None:
            request["seed"] = seed
        if logprobs:
            request |= {"logprobs": True, "top_logprobs": TOP_LOGPROBS}
        if extra:
            request["extra_body"] = extra
        for attempt in range(1, self.tries + 1):
            try:
                return await self._ask(messages, request)
            except _PassingError as error:
                why, hint = str(error), error.hint
            if attempt < self.tries:
                wait = backoff(attempt, hint)
                await (pause(wait, why) if pause else asyncio.sleep(wait))
        times = "once" if self.tries == 1 else f"{self.tries} times in a row"
        raise EndpointError(f"{self.url} failed {times}, the last time with: {why}")

    async def _ask(self, messages: Sequence[dict[str, str]], request: dict) -> Answer:
        try:
            async with asyncio.timeout(self.timeout):
                reply = await self._client.chat.completions.create(model=self.model, messages=messages, **request)
        except TimeoutError:
            raise _PassingError(f"no answer within {self.timeout:g} s") from None
        except openai.APIStatusError as error:
            raise self._status(error) from None
        except openai.APIConnectionError as error:
            raise _PassingError(f"no connection ({self.clean(str(error.__cause__ or error))})") from None
        except UnicodeError:
            raise _PassingError("the reply is not UTF-8") from None
        except (openai.APIError, ValueError):
            raise _PassingError("the reply is not JSON") from None
        return self._read(reply)

    def _status(self, error: openai.APIStatusError) -> Exception:
        status = error.status_code
        said = error.body.get("message") if isinstance(error.body, dict) else None
        line = f"HTTP {status}" + (f" ({self.clean(said)})" if isinstance(said, str) else "")
        # An empty account is a 429 too, but no waiting fills it.
        if status in (408, 409, 429) or status >= 500:
            if getattr(error, "code", None) != "insufficient_quota":
                return _PassingError(line, retry_after(error.response.headers.get("retry-after")))
            return EndpointError(f"{self.url} answered {line}; the account has no credit left")
        mend = MENDS.get(status, MENDS[400]).format(key=self.key_env)
        return EndpointError(f"{self.url} answered {line}; {mend}")

    def _read(self, reply: object) -> Answer:
        if not isinstance(reply, ChatCompletion):
            raise _PassingError("the reply is a page or a bare value, not a chat completion")
        if not reply.choices:
            said = getattr(reply, "error", None)
            raise _PassingError("the reply holds no choices" + (f" ({self.clean(str(said))})" if said else ""))
        # The client does not check what it parses, so nothing here has to have the shape that its types promise.
        choice, usage = reply.choices[0], reply.usage
        try:
            text, finish = choice.message.content or "", self.clean(choice.finish_reason or "unknown")
            # JSON can carry half of a surrogate pair, which no UTF-8 file can.
            text = self._without_key(text.encode("utf-16", "surrogatepass").decode("utf-16", "replace"))
        except (AttributeError, TypeError):
            raise _PassingError("the reply is JSON but no chat completion") from None
        try:
            tokens = (choice.logprobs and choice.logprobs.content) or []
            logprob = mean_logprob([token.logprob for token in tokens])
            entropy = mean_entropy([[top.logprob for top in token.top_logprobs] for token in tokens])
        except (AttributeError, TypeError):
            logprob = entropy = None
        written, read = _count(usage, "completion_tokens"), _count(usage, "prompt_tokens")
        return Answer(text, finish, written, read, logprob, entropy)

    def clean(self, text: str) -> str:
        """Make text from outside fit to show: one short printable line without the key."""
        text = self._without_key(text)
        text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
        return text if len(text) <= 200 else text[:200] + "..."

    def _without_key(self, text: str) -> str:
        if len(self._key) >= 6:  # "none" or "EMPTY" is no secret, and an ordinary word
            text = text.replace(self._key, "[key]")
        return re.sub(r"\bsk-[\w*-]{6,}", "[key]", text)  # half-masked keys, as some endpoints repeat them


def backoff(attempt: int, hint: float | None = None, jitter: float | None = None) -> float:
    """Seconds to wait after failure number ``attempt`` (from 1): doubled each time, spread, capped.

    Between half and all of ``FIRST_WAIT * 2 ** (attempt - 1)``; with a server's ``hint``, never less than the hint.
    Never more than ``LONGEST_WAIT``: a server that asks for a day is asked again, and given up on, sooner. The
    spread keeps sixteen refused requests from coming back at one moment. ``jitter`` in [0, 1] replaces the random
    draw.
    """
    jitter = random.random() if jitter is None else jitter
    # The exponent is bounded, or the wait after failure 2000 would be no float.
    wait = min(FIRST_WAIT * 2 ** min(attempt - 1, 16), LONGEST_WAIT) * (1 + jitter) / 2
    return wait if hint is None else min(hint + FIRST_WAIT * jitter / 4, LONGEST_WAIT)


def retry_after(value: str | None, now: datetime | None = None) -> float | None:
    """Seconds that a ``Retry-After`` header asks for, given as seconds or as an HTTP date; None if it says nothing."""
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            date = parsedate_to_datetime(value)
        except ValueError:
            return None
        date = date if date.tzinfo else date.replace(tzinfo=UTC)
        seconds = (date - (now or datetime.now(UTC))).total_seconds()
    return max(seconds, 0.0) if math.isfinite(seconds) else None


def mean_logprob(tokens: Sequence[float]) -> float | None:
    """Mean log-probability of an answer's tokens, in nats; None without tokens or with one of probability zero."""
    mean = math.fsum(tokens) / len(tokens) if tokens else -math.inf
    return round(mean, 6) if math.isfinite(mean) else None


def mean_entropy(tokens: Sequence[Sequence[float]]) -> float | None:
    """Mean entropy of an answer's tokens, in nats, from the log-probabilities of the likeliest candidates of each.

    An endpoint returns the 20 likeliest candidates at most, and the sum of ``-p log p`` stops there, without scaling
    them up to one: every term left out is positive, so the value is a lower bound on the entropy, close when the 20
    hold nearly all of the probability.
    """
    if not tokens or not all(tokens):
        return None
    total = math.fsum(-math.exp(logprob) * logprob for top in tokens for logprob in top if logprob > -math.inf)
    return round(total / len(tokens), 6) if math.isfinite(total) else None


def _count(usage: object, name: str) -> int | None:
    count = getattr(usage, name, None)
    return count if isinstance(count, int) and count >= 0 else None


def _checked_url(base_url: str) -> tuple[str, bool]:
    """The address without user, password and query (fit to be shown and stored), and whether it is this machine's."""
    try:
        parts = urlsplit(base_url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = None
    if not host or parts.scheme not in ("http", "https"):
        raise ValueError("the base URL must look like http://127.0.0.1:8080/v1 or https://host/v1")
    try:
        loopback = ip_address(host).is_loopback
    except ValueError:
        loopback = host == "localhost"
    where = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{where}{f':{port}' if port else ''}{parts.path.rstrip('/')}", loopback
