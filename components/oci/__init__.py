"""OKE: network, cluster, add-ons, node pools and the autoscaler; no other cloud."""
