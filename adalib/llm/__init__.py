"""Any OpenAI-compatible endpoint: sample one answer, or collect many and resume; and a local model to try it on.

`client` asks for one answer with patience, `store` keeps answers whatever happens, `inputs` reads questions and
prompts, `collect` joins the three, and `local` serves a small real model on this machine.
"""

from adalib.llm.collect import collect, export
from adalib.llm.endpoint import Answer, Endpoint, EndpointError
from adalib.llm.local import LocalModel, LocalModelError, local_model
from adalib.llm.questions import Plan, Prompt, load_prompt, load_questions, plan

__all__ = [
    "Answer",
    "Endpoint",
    "EndpointError",
    "LocalModel",
    "LocalModelError",
    "Plan",
    "Prompt",
    "collect",
    "export",
    "load_prompt",
    "load_questions",
    "local_model",
    "plan",
]
