"""Facts about clouds, GPUs, charts and images: frozen tables, each with its source.

The catalog also has plain arithmetic on these facts. It does not read files, the clock or a
network: a newer fact is a reviewed change of a table. It makes no decisions: settings of the
user are in `fleet.config`, decisions in the plan and in `fleet.checks`.

To add an EC2 instance type, add one row to the table in `ec2.py`; for an OCI shape, `oci.py`. A new
GPU model needs a row in `gpus.py`, and one in `mig.py` if it supports MIG. Then run `make schema`.
"""
