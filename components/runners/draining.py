"""What `up` says when the wait for a lane fails.

The engine's own message names an object and a time-out. Only a hook can say what to do. It also
runs for a lane that the program no longer has, but not in a `destroy`, which does not run the
program.
"""

from __future__ import annotations

from typing import Any, Final, cast

import pulumi

from components.helm import MANAGER, SCALE_SET

_JOBS: Final = {
    SCALE_SET: (
        "kubectl get ephemeralrunners -n {namespace} -l actions.github.com/scale-set-name={name}"
    ),
    MANAGER: "kubectl get pods -n {namespace} -l gpu-runners/job=true",
}
_START: Final = {
    SCALE_SET: (
        "ARC did not register the scale set {namespace}/{name} at GitHub: the lane takes no jobs.\n"
        "    kubectl logs -n arc-systems deployment/arc-controller-gha-rs-controller says why. "
        "Usual causes: the Secret or its keys, the App or its installation, the url, a runner "
        "group that does not exist. Then run `make up` again."
    ),
    MANAGER: (
        "The runner manager {namespace}/{name} did not start: the lane takes no jobs.\n"
        "    kubectl describe pods -n {namespace} -l app={name} says why. Usual causes: the Secret "
        "of existing_secret or one of its two keys is missing, the token is not a runner's, the "
        "url. Then run `make up` again."
    ),
}
_REMOVAL: Final = (
    "{namespace}/{name} is not gone yet: it waits for its running jobs, and no job was ended. It "
    "takes no new ones; if the lane still exists, its successor does.\n"
    "    {jobs}   shows the jobs. Run `make up` (or the destroy) again: it waits on. "
    "For later changes, raise drain_minutes of the lane."
)


def explained(cluster: str) -> pulumi.ResourceTransform:
    """Return a transform of a cluster's lanes, which adds the hook to what runs their jobs."""
    hook = pulumi.ErrorHook(f"{cluster}-lanes", _explain)

    def transform(args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult | None:
        if args.type_ not in _JOBS:
            return None
        binding = pulumi.ResourceHookBinding(on_error=[hook])
        return pulumi.ResourceTransformResult(
            props=args.props,
            opts=pulumi.ResourceOptions.merge(args.opts, pulumi.ResourceOptions(hooks=binding)),
        )

    return transform


def _explain(args: pulumi.ErrorHookArgs) -> bool:
    """Say what to do; never repeat the operation within one `up`.

    Only a time-out of a deletion, or of a scale set, means what the texts say.
    """
    newest = args.errors[0].casefold() if args.errors else ""
    starts_manager = args.type == MANAGER and args.failed_operation != "delete"
    if "timed out" not in newest and not starts_manager:
        return False
    inputs = cast("dict[str, Any]", args.old_inputs or args.new_inputs or {})
    metadata = inputs.get("metadata", {})
    names = {"namespace": metadata.get("namespace"), "name": metadata.get("name")}
    if args.failed_operation == "delete":
        pulumi.log.error(_REMOVAL.format(jobs=_JOBS[args.type].format(**names), **names))
    else:
        pulumi.log.error(_START[args.type].format(**names))
    return False
