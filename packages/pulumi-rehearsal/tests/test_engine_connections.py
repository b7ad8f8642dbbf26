"""The SDK's connections: each engine of a process gets its own."""

from __future__ import annotations

import time
from concurrent import futures

import grpc
import pytest
from pulumi.runtime import _grpc_settings
from pulumi_rehearsal import engine


class Answers(grpc.GenericRpcHandler):
    def service(self, handler_call_details):
        return grpc.unary_unary_rpc_method_handler(lambda request, context: b"yes")


def listening(port: int) -> tuple[grpc.Server, int]:
    server = grpc.server(futures.ThreadPoolExecutor(1))
    server.add_generic_rpc_handlers((Answers(),))
    bound = server.add_insecure_port(f"127.0.0.1:{port}")
    server.start()
    return server, bound


def asked(port: int) -> bytes:
    options = _grpc_settings._GRPC_CHANNEL_OPTIONS
    channel = grpc.insecure_channel(f"127.0.0.1:{port}", options=options)
    return channel.unary_unary("/any/thing")(b"?")


def test_an_engine_on_the_port_of_one_that_is_gone_is_reached_at_once() -> None:
    engine._separate_connections()
    engine._separate_connections.cache_clear()
    engine._separate_connections()
    assert len([one for one in _grpc_settings._GRPC_CHANNEL_OPTIONS if "pool" in one[0]]) == 1
    first, port = listening(0)
    assert asked(port) == b"yes"
    first.stop(0).wait()
    with pytest.raises(grpc.RpcError):
        asked(port)
    time.sleep(0.1)
    second, again = listening(port)
    try:
        assert again == port
        assert asked(port) == b"yes"
    finally:
        second.stop(0)
