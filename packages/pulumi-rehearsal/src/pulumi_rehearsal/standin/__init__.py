"""Stand-in clouds: what the engine talks to instead of AWS, Kubernetes, GitLab and random."""
