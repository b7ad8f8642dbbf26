"""GPU CI runners: load the stack file, check it, register the fleet, export what users need."""

from stacks.deploy import deploy, export, from_config


def main() -> None:
    """Run once per `pulumi preview` or `pulumi up`."""
    loaded = from_config()
    clusters = deploy(loaded)
    export(loaded, clusters)


main()
