"""What comes before the first preview: the state's store, and who jobs are to AWS and to OCI."""
