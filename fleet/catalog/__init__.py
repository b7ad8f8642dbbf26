"""Facts about clouds, GPUs, charts and images: frozen tables, each with its source.

The catalog also has plain arithmetic on these facts. It does not read files, the clock or a
network: a newer fact is a reviewed change of a table. It decides nothing: what a user wants is in
`fleet.config`, the plan and `fleet.checks` draw the conclusions.

To add an EC2 instance type, add one row to the table in `ec2.py`; for an OCI shape, `oci.py`. A new
GPU model needs a row in `gpus.py`, and one in `mig.py` if it supports MIG. Then run `make schema`.
"""
