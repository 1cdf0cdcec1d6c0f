"""Scenarios: everything that a run depends on, typed."""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Union

from . import _core, _html
from ._typed import known_keys
from ._values import Reference, StrPath, quoted, yaml
from .engine import Engine, engine_from
from .errors import ConfigError
from .roofs import Roofs
from .workloads import GeneratedWorkload, Workload, workload_from

__all__ = ["AnyScenario", "Scenario", "names"]

_PLAIN = ("name", "hw", "model", "stack", "seed", "usd_per_gpu_hour")


@known_keys("")
@dataclass(frozen=True, repr=False)
class Scenario:
    """A machine, a model, a stack, engine settings and a workload.

    What is left out is as the base says. Nothing is read before the scenario is opened, by `run` or by a method of its own.

    Parameters
    ----------
    base
        The scenario that the rest is laid over: a shipped name (`names`) or a path. Without one, hw, model, stack and workload are needed.
    name
        What results are labelled with.
    hw, model, stack
        Configurations: a shipped name or alias (``"h200"``, ``"Qwen/Qwen3-8B"``), a path, or a mapping, which may have a ``base`` that
        it is laid over. They replace the base's. A model may be a Hugging Face ``config.json``.
    engine
        Settings of the engine, laid over the base's.
    workload
        What the server has to do. `GeneratedWorkload` is laid over a generated one unless it says everything; others replace the base's.
    seed
        Of everything that is drawn; the same seed gives the same requests.
    usd_per_gpu_hour
        Rent of a GPU, US dollars an hour; by default that of the machine, where it is known.
    overrides
        Any other values by dotted key, as ``--set`` has them: ``{"stack.launch.issue": "20 us"}``. They come last.

    Raises
    ------
    ConfigError
        A keyword is no part of a scenario. What is wrong with a value is said when the scenario is opened.

    Examples
    --------
    >>> import ridgeline as rl
    >>> slow = rl.Scenario("chat_8b", engine=rl.Engine(max_num_seqs=4), hw="h200")
    >>> slow.with_(engine=rl.Engine(enforce_eager=True)).engine
    Engine(max_num_seqs=4, enforce_eager=True)
    >>> slow.resolved().hw["name"]
    'NVIDIA H200 SXM'
    """

    base: StrPath | None = None
    _: KW_ONLY
    name: str | None = None
    hw: Reference | None = None
    model: Reference | None = None
    stack: Reference | None = None
    engine: Engine | Mapping[str, Any] | None = None
    workload: Workload | Mapping[str, Any] | None = None
    seed: int | None = None
    usd_per_gpu_hour: float | None = None
    overrides: Mapping[str, Any] = field(default_factory=dict)

    def with_(self, overrides: Mapping[str, Any] | None = None, **fields: Any) -> Scenario:
        """The same scenario but for some values. What is said later wins: fields undo earlier overrides of what they say.

        Parameters
        ----------
        overrides
            Values by dotted key, on top of those that are there.
        **fields
            Fields of the scenario. An `Engine`, and a `GeneratedWorkload` on a `GeneratedWorkload`, add to what is there; others replace.

        Returns
        -------
        Scenario
            A new one.

        Raises
        ------
        ConfigError
            A keyword is no part of a scenario.
        """
        said = _said(fields)
        for name, kind in (("engine", Engine), ("workload", GeneratedWorkload)):
            before, now = getattr(self, name), fields.get(name)
            if isinstance(before, kind) and isinstance(now, kind):
                fields[name] = _laid_over(before, now)
        if "hw" in fields:
            fields = {"usd_per_gpu_hour": None} | fields  # another machine has another price
        merged = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)} | fields
        merged["overrides"] = _without(merged["overrides"], fields, said) | dict(overrides or {})
        return Scenario(**merged)

    def resolved(self) -> Scenario:
        """The scenario without a base: machine, model and stack as mappings of all their values, in YAML's words.

        Returns
        -------
        Scenario
            One that means the same wherever it is opened; only a request trace is still a file.

        Raises
        ------
        ConfigError
            Something in it is wrong; says where.
        """
        document: dict[str, Any] = json.loads(opened(self).json())
        document["workload"] = workload_from(document["workload"])
        if "engine" in document:
            document["engine"] = engine_from(document["engine"])
        return Scenario(**document)

    def roofs(self) -> Roofs:
        """Peaks of the machine's memory and matrix units, of one GPU.

        Returns
        -------
        Roofs
            From which ridge points follow.

        Raises
        ------
        ConfigError
            Something in the scenario is wrong; says where.
        """
        return Roofs.read(opened(self).roofs())

    def to_yaml(self) -> str:
        """The resolved scenario as a file for ``ridgeline run``.

        Returns
        -------
        str
            YAML that needs no other file but a request trace.

        Raises
        ------
        ConfigError
            Something in it is wrong; says where.
        """
        return opened(self).yaml()

    def __repr__(self) -> str:
        said = [repr(self.base)] if self.base is not None else []
        for f in dataclasses.fields(self)[1:]:
            value = getattr(self, f.name)
            if value is not None and value != {}:
                said.append(f"{f.name}={_short(value)}")
        return f"Scenario({', '.join(said)})"

    def _repr_html_(self) -> str:
        try:
            scenario = opened(self)
        except ConfigError as error:
            return _html.paragraph(f"{self!r}: {error}")
        whole = self.resolved()
        rows = [["machine", scenario.gpu()], ["model", scenario.model()], ["stack", scenario.stack()]]
        for name in ("engine", "workload"):
            part = getattr(whole, name)
            if part is not None:
                said = ((f.name, getattr(part, f.name)) for f in dataclasses.fields(part))
                rows += [[f"{name}.{key}", _short(value)] for key, value in said if value is not None]
        rows += [[name, _short(value)] for name in ("seed", "usd_per_gpu_hour") if (value := getattr(whole, name)) is not None]
        return _html.table(["", scenario.name()], rows, words=True)

    def _pairs(self) -> list[tuple[str, str]]:
        """The fields as overrides of the base, in the order in which they apply."""
        said = [(key, quoted(value)) for key, value in _said({f.name: getattr(self, f.name) for f in dataclasses.fields(self)})]
        return said + [(key, yaml(value)) for key, value in self.overrides.items()]


#: A shipped name, a path, or a `Scenario`.
AnyScenario = Union[Scenario, StrPath]


def names(kind: str) -> list[str]:
    """The shipped configurations of a kind.

    Parameters
    ----------
    kind
        ``"hw"``, ``"models"``, ``"stacks"``, ``"scenarios"`` or ``"cases"``.

    Returns
    -------
    list of str
        Their names, sorted.

    Raises
    ------
    ConfigError
        There is no such kind.

    Examples
    --------
    >>> import ridgeline as rl
    >>> "chat_8b" in rl.names("scenarios")
    True
    """
    kinds = ["cases", "hw", "models", "scenarios", "stacks"]
    if kind not in kinds:
        raise ConfigError(f"names: unknown kind '{kind}'{_core.suggestion(kind, kinds)}")
    return _core.names(kind)


def opened(scenario: AnyScenario, overrides: Mapping[str, Any] | None = None) -> _core.Scenario:
    """Read a scenario and check everything in it."""
    more = [(key, yaml(value)) for key, value in (overrides or {}).items()]
    if isinstance(scenario, Scenario):
        base = None if scenario.base is None else os.fspath(scenario.base)
        return _core.open_scenario(base, scenario._pairs() + more)
    if not isinstance(scenario, (str, os.PathLike)):
        raise TypeError(f"expected a Scenario, a path, or the name of a shipped scenario, got {type(scenario).__name__}")
    return _core.open_scenario(os.fspath(scenario), more)


def _said(fields: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """What fields of a scenario say, by dotted key, in the order in which it applies."""
    said = [(key, value) for key in _PLAIN if (value := fields.get(key)) is not None]
    engine, workload = fields.get("engine"), fields.get("workload")
    if engine is not None:
        settings = engine.as_dict() if isinstance(engine, Engine) else engine
        said += [(f"engine.{key}", value) for key, value in settings.items()]
    if isinstance(workload, GeneratedWorkload):
        parts = workload.as_dict()
        whole = {"requests", "arrivals", "prompt_tokens", "output_tokens"} <= parts.keys()
        said += [("workload", parts)] if whole else [(f"workload.{key}", value) for key, value in parts.items()]
    elif workload is not None:
        said.append(("workload", workload))
    return said


def _without(overrides: Mapping[str, Any], fields: Mapping[str, Any], said: list[tuple[str, Any]]) -> dict[str, Any]:
    """Earlier overrides, less those of what fields now say, which would otherwise come after it."""
    undone = {key for key, _ in said} | {key for key in _PLAIN if key in fields}
    kept = {key: value for key, value in overrides.items() if not any(f"{key}.".startswith(f"{new}.") for new in undone)}
    # An override of a whole part stays, and what is now said of the part is said again after it.
    return kept | {key: quoted(value) for key, value in said if any(key.startswith(f"{old}.") for old in kept)}


def _laid_over(before: Any, now: Any) -> Any:
    """One typed part with what another says on top."""
    return dataclasses.replace(before, **{f.name: v for f in dataclasses.fields(now) if (v := getattr(now, f.name)) is not None})


def _short(value: Any) -> str:
    """A value as a person wants to see it: of a whole configuration its name."""
    if isinstance(value, Mapping) and len(repr(value)) > 100:
        return f"{{'name': {value.get('name', '...')!r}, ...}}"
    return repr(value)
