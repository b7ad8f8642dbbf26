"""Serve the program of the working directory to an engine.

This script prints its port on loopback and runs until its standard input is closed, so that it does
not outlive the process that started it. It imports nothing of this project: the working directory
and the environment may belong to another revision.
"""

from __future__ import annotations

import os
import runpy
import sys
from concurrent import futures

import grpc
from pulumi.automation._server import LanguageServer
from pulumi.runtime.proto import language_pb2_grpc

MESSAGE_BYTES = 400 * 1024 * 1024
"""The limit of the SDK (pulumi/pulumi sdk/python/lib/pulumi/runtime/_grpc_settings.py)."""


def main() -> None:
    """Serve until standard input is closed."""
    root = os.getcwd()
    sys.path.insert(0, root)

    def program() -> None:
        runpy.run_path(os.path.join(root, "__main__.py"), run_name="__main__")

    server = grpc.server(
        futures.ThreadPoolExecutor(max_workers=4),
        options=[
            ("grpc.max_receive_message_length", MESSAGE_BYTES),
            ("grpc.max_send_message_length", MESSAGE_BYTES),
        ],
    )
    language_pb2_grpc.add_LanguageRuntimeServicer_to_server(LanguageServer(program), server)
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    sys.stdin.read()
    # Not sys.exit: it would wait for the threads of a program that hangs.
    os._exit(0)


main()
