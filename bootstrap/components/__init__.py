"""The components of the bootstrap: state store, AWS identity and OCI identity of CI jobs."""
