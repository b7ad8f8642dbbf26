"""OKE: network, cluster, add-ons, pools and the autoscaler. Nothing of another cloud."""
