"""EKS: network, cluster, add-ons, node groups and the cluster-autoscaler; no other cloud."""
