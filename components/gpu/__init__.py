"""The GPU stack inside a cluster of any cloud: device plugins, GPU Operator, host devices."""
