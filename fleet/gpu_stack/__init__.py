"""What turns a card into `nvidia.com/gpu`: GPU Operator, device plugins, and who owns which part."""
