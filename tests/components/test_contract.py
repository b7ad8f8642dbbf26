"""Rules that every component obeys: parents, names, providers, outputs and secrets.

The test finds components by walking the packages. A new one fails here until it has a maker.
"""

import base64
import importlib
import inspect
import pkgutil

import pulumi
import pulumi_aws as aws
import pulumi_kubernetes as kubernetes

import bootstrap.components
import components
from fleet.catalog.charts import CHARTS
from tests import fleets
from tests.cases import for_each
from tests.components.makers import MAKERS, SECRET, Component, plan_of
from tests.computed import GITLAB_TOKEN, OCI_CALLS
from tests.engine import Registered, Registration, deploy, deploy_both, remembered

RELEASE = kubernetes.helm.v3.Release


def discovered() -> set[Component]:
    modules = [
        importlib.import_module(found.name)
        for package in (components, bootstrap.components)
        for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    ]
    return {
        cls
        for module in modules
        for _, cls in inspect.getmembers(module, inspect.isclass)
        if issubclass(cls, pulumi.ComponentResource) and cls.__module__ == module.__name__
    }


every_variant = for_each("variant", MAKERS)


@remembered
def run(variant: str) -> Registered:
    """Register two instances, with explicit providers."""
    _, make = MAKERS[variant]

    def program() -> None:
        opts = fleets.providers()
        for name in ("one", "two"):
            make(name, plan_of(name), opts)

    return deploy_both(program, calls=OCI_CALLS)


def top(found: Registered, name: str = "one") -> Registration:
    """Return the component that a maker made under that name."""
    (component,) = (
        one for one in found.resources if one.name == name and one.type.startswith("gpu-runners:")
    )
    return component


def below(found: Registered) -> list[Registration]:
    inner = found.within(top(found))
    assert inner, "the component has no child"
    return inner


def test_every_component_has_a_maker_here() -> None:
    assert {cls for cls, _ in MAKERS.values()} == discovered()


@every_variant
def test_the_token_names_package_and_class(variant: str) -> None:
    cls, _ = MAKERS[variant]
    _, module, noun = top(run(variant)).type.split(":")
    packages = cls.__module__.split(".")[:-1]
    expected = "bootstrap" if packages[0] == "bootstrap" else (packages[1:] or ["index"])[0]
    assert module == expected, "the module part is the Python package"
    assert cls.__name__.endswith(noun)


@every_variant
def test_outputs_are_registered_exactly_once(variant: str) -> None:
    found = run(variant)
    for component in found.resources:
        if not component.custom and not component.remote:
            assert len(found.outputs.get(component.urn, [])) == 1, component.urn
            (outputs,) = found.outputs[component.urn]
            assert outputs.data, "a component without outputs has nothing to show in the console"


@every_variant
def test_children_are_parented_and_carry_its_name(variant: str) -> None:
    found = run(variant)
    component = top(found)
    inner = below(found)
    providers = [one for one in found.resources if one.type.startswith("pulumi:providers:")]
    others = found.within(top(found, "two"))
    assert len(found.resources) == len([*inner, *others, *providers]) + 2, (
        "a child without a parent lands under the stack and loses provider and protection"
    )
    for one in inner:
        parent = next(p for p in (component, *inner) if p.urn == one.parent)
        assert one.name == parent.name or one.name.startswith(f"{component.name}-"), one.name


@every_variant
def test_providers_are_inherited(variant: str) -> None:
    found = run(variant)
    given = {one.urn for one in found.resources if one.type.startswith("pulumi:providers:")}
    connects = variant in ("RunnerCluster", "RunnerCluster, OKE")
    own = {"one-kubernetes", "two-kubernetes"} if connects else set()
    built = {one.name for one in found.resources if one.urn in given}
    assert built == {"aws", "gitlab", "kubernetes", "oci"} | own, "no component builds a provider"
    for one in below(found):
        if one.custom:
            assert one.provider_urn in given, f"{one.urn} would use a default provider"
        elif one.remote:
            assert one.providers, f"{one.urn} would use a default provider"


@every_variant
def test_two_instances_have_different_urns(variant: str) -> None:
    found = run(variant)
    one, two = (found.within(top(found, name)) for name in ("one", "two"))
    assert len(one) == len(two) > 0
    assert not {item.urn for item in one} & {item.urn for item in two}


@every_variant
def test_the_callers_options_stay_on_the_component(variant: str) -> None:
    class Elsewhere(pulumi.ComponentResource):
        def __init__(self) -> None:
            super().__init__("test:index:Elsewhere", "elsewhere")
            self.register_outputs({})

    _, make = MAKERS[variant]

    def program() -> None:
        given = fleets.providers()
        before = aws.ec2.Vpc("before")
        opts = pulumi.ResourceOptions(
            parent=Elsewhere(),
            providers=given.providers,
            aliases=[pulumi.Alias(name="old")],
            depends_on=[before],
            ignore_changes=["tags"],
        )
        make("one", plan_of("one"), opts)

    found = deploy(program, calls=OCI_CALLS)
    component, before = top(found), found.one(aws.ec2.Vpc, "before")
    assert component.parent == found.one("test:index:Elsewhere").urn
    assert component.aliases == ("old",)
    assert before.urn in component.depends_on
    for one in below(found):
        assert one.parent != component.parent, f"{one.name} was re-parented to the caller's parent"
        # The SDK's own aliases, of older API versions of a type, have no name.
        assert not any(one.aliases), f"{one.name} is aliased to a resource that never was"
        assert before.urn not in one.depends_on, f"{one.name} took the caller's dependency"
        assert "tags" not in one.ignore_changes


@every_variant
def test_no_secret_is_sent_in_the_clear(variant: str) -> None:
    found = run(variant)
    texts = [SECRET, GITLAB_TOKEN]
    needles = [*texts, *(base64.b64encode(text.encode()).decode() for text in texts)]
    sent = [(one.urn, one.values) for one in found.resources]
    sent += [(urn, values) for urn, several in found.outputs.items() for values in several]
    seen = 0
    for urn, values in sent:
        for path, text in values.texts():
            if any(needle in text for needle in needles):
                seen += 1
                assert values.is_secret(*path), f"{urn} {path} holds a secret in the clear"
    expected = {"ArcController", "GitLabLane, token given"}
    expected |= {"RunnerCluster", "RunnerCluster, existing", "RunnerCluster, OKE"}
    expected.add("GitLabLane, created")
    assert (seen > 0) == (variant in expected), "no resource has the secret"


@every_variant
def test_secrets_stay_out_of_charts(variant: str) -> None:
    for release in run(variant).find(RELEASE):
        assert not release.values.secret_paths, "one secret in the values hides every diff"


@every_variant
def test_every_release_is_pinned_and_named(variant: str) -> None:
    for release in run(variant).find(RELEASE):
        chart = CHARTS[release.inputs["chart"].rpartition("/")[2]]
        assert release.inputs["version"] == chart.version
        assert release.inputs["name"], "Helm's own name changes with each replacement"
        assert release.inputs["namespace"]
        assert release.inputs["timeout"] >= 600
        assert not release.inputs.get("skipAwait")
        assert not release.inputs.get("createNamespace"), "a namespace is a resource of its own"
