"""State, key and roles for CI: load what the administrator wrote, register it, export variables."""

import sys
from pathlib import Path

# The engine starts a program in its own folder; what it imports is in the one above.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bootstrap.deploy import deploy, export
from bootstrap.load import from_config


def main() -> None:
    """Run once per `pulumi preview` or `pulumi up`."""
    plan = from_config()
    export(plan, deploy(plan))


main()
