"""The GPU stack: GPU Operator, device plugins, and which of them installs what."""
