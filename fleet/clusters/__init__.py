"""EKS, OKE and existing clusters: networks, node pools, autoscaling."""
