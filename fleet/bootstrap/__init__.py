"""What the continuous integration of this project needs before its first preview, pure Python.

`spec` is what an administrator writes, `subjects` who a job is to a cloud, `rights` and `policies`
what a role may do, `plan` all of it together.
"""
