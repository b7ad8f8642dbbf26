"""EKS: network, cluster, add-ons, pools and the cluster-autoscaler. Nothing of another cloud."""
