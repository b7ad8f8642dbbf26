"""The GPU stack inside a cluster of any cloud: GPU Operator, device plugin, EFA plugin."""
