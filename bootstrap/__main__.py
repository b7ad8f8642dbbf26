"""Load the stack file, register state store and CI identities, export the variables of CI."""

import sys
from pathlib import Path

# The engine starts a program in its own folder; the packages are in the folder above.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from bootstrap.deploy import deploy
from bootstrap.load import from_config

deploy(from_config())
