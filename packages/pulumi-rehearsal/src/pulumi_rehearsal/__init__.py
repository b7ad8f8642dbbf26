"""Run a Pulumi program through the real engine against stand-in clouds, without an account."""
