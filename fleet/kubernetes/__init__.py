"""What Kubernetes itself defines: pods, quantities, labels, scheduling, Helm releases."""
