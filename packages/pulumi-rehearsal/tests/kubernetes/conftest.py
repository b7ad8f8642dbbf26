"""Clusters in which tests create one resource at a time, and a monitor for components."""

from collections.abc import Callable
from concurrent import futures
from typing import Any

import grpc
import pytest
from kubernetes_cluster import EKS_SCOPE, GPU_GROUP, SYSTEM_GROUP, Cluster
from pulumi.runtime.proto import resource_pb2, resource_pb2_grpc
from pulumi_rehearsal.standin.kind import Refusal


@pytest.fixture
def cluster() -> Cluster:
    """An existing cluster, whose nodes are not known."""
    return Cluster()


@pytest.fixture
def eks_cluster() -> Cluster:
    """An EKS cluster with one CPU node group and one GPU node group."""
    made = Cluster(EKS_SCOPE)
    made.eks(SYSTEM_GROUP, GPU_GROUP)
    return made


@pytest.fixture
def refused() -> Callable[[str], Any]:
    return lambda message: pytest.raises(Refusal, match=message)


class Monitor(resource_pb2_grpc.ResourceMonitorServicer):
    """A monitor that keeps the requests."""

    def __init__(self):
        self.requests = []

    def RegisterResource(self, request, context):
        if request.name == "refused":
            context.abort(grpc.StatusCode.UNAVAILABLE, "no more")
        self.requests.append(request)
        return resource_pb2.RegisterResourceResponse(
            urn=f"urn::{request.name}", id=f"id-{request.name}"
        )


@pytest.fixture
def monitor():
    servicer = Monitor()
    server = grpc.server(futures.ThreadPoolExecutor(2))
    resource_pb2_grpc.add_ResourceMonitorServicer_to_server(servicer, server)
    servicer.endpoint = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
    server.start()
    yield servicer
    server.stop(None)
