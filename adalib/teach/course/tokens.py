"""Tokens: what a student hands in, sealed so that nobody can change it on the way or hand it in as somebody else.

The class has a secret, which only the teacher knows. Each student gets a key made from it, and can seal answers with
that key; the teacher makes the same key again and checks the seal. The seal protects who handed in what. It does not
say that the answers are right: those are in the token, and the teacher's side grades them anew.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from typing import Any

__all__ = ["open_token", "read_owner", "seal", "student_key"]

_MARK = "adalib1"


def student_key(secret: str, student: str) -> str:
    """The key of one student, made from the class's secret; it tells nothing about the secret or another's key.

    Explained in the page "Homework and exams".

    Examples
    --------
    >>> student_key("our secret", "ada") == student_key("our secret", "ben"), len(student_key("our secret", "ada"))
    (False, 32)
    """
    if not secret:
        raise ValueError("the class's secret is empty; give a long random text that only the teacher has")
    return hmac.new(secret.encode(), f"student:{student}".encode(), hashlib.sha256).hexdigest()[:32]


def seal(content: dict[str, Any], key: str) -> str:
    """Write a token: the content, readable by anyone, and a seal that only the key's owner can make."""
    body = _text(json.dumps(content, sort_keys=True, ensure_ascii=False).encode())
    return f"{_MARK}.{body}.{_mac(body, key)}"


def open_token(token: str, key: str) -> dict[str, Any]:
    """Read a token that was sealed with this key.

    Raises
    ------
    ValueError
        If it is no token, or its seal was not made with this key for this content.

    Examples
    --------
    >>> open_token(seal({"student": "ada"}, "k"), "k")
    {'student': 'ada'}
    """
    body, mac = _parts(token)
    if not hmac.compare_digest(mac, _mac(body, key)):
        raise ValueError("the seal does not fit: it was changed, or sealed with another key")
    return _content(body)


def read_owner(token: str) -> str:
    """Whose token it says it is; the seal is not looked at."""
    return str(_content(_parts(token)[0]).get("student", ""))


def _parts(token: str) -> tuple[str, str]:
    mark, _, rest = token.strip().partition(".")
    body, _, mac = rest.partition(".")
    if mark != _MARK or not body or not mac:
        raise ValueError(f"this is no token; one starts with {_MARK}. and has three parts")
    return body, mac


def _content(body: str) -> dict[str, Any]:
    try:
        content = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    except (ValueError, RecursionError):  # no base64, no text, no JSON, or nested without end
        raise ValueError("the token cannot be read; copy all of it") from None
    if not isinstance(content, dict):
        raise ValueError("the token cannot be read; copy all of it")
    return content


def _mac(body: str, key: str) -> str:
    return _text(hmac.new(key.encode(), body.encode(), hashlib.sha256).digest())


def _text(raw: bytes) -> str:
    return base64.urlsafe_b64encode(raw).decode().rstrip("=")
