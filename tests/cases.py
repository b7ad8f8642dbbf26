"""Many small cases in one test: a large table costs the set-up of one test."""

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any


def for_each(
    names: str | tuple[str, ...], cases: Iterable[Any], ids: Callable[[Any], object] = str
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Call the test with each case, as `pytest.mark.parametrize` does, but as one test.

    Raises every failure in one group. A note of each names its case.
    """

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def all_cases(**fixtures: Any) -> None:
            failures: list[Exception] = []
            for case in every:
                values = (case,) if isinstance(names, str) else case
                try:
                    test(**dict(zip(given, values, strict=True)), **fixtures)
                except Exception as error:
                    error.add_note(f"case: {ids(case)}")
                    failures.append(error)
            if failures:
                raise ExceptionGroup(f"{len(failures)} of {len(every)} cases fail", failures)

        every = list(cases)
        assert every, "a test of no case shows nothing"
        signature = inspect.signature(test)
        others = [one for name, one in signature.parameters.items() if name not in given]
        all_cases.__signature__ = signature.replace(parameters=others)
        return all_cases

    given = (names,) if isinstance(names, str) else names
    return decorate
