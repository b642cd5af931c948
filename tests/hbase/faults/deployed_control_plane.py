"""Agents and controller of a deployed cluster, which get the policy of the faults for a while."""

from __future__ import annotations

import json

import yaml
from control_plane import POLICY
from deployed_cluster import DeployedCluster
from unit_daemon import UnitDaemon

# The master's plug-in takes no hold of compactions.
DEPLOYED_POLICY = POLICY | {"targets": POLICY["targets"] | {"instances": ["regionserver"]}}

CONFIGURATION = "/etc/sluice/controller/controller.yml"
# As the role does it: what the controller would refuse never takes the place of what is there.
CONFIGURE = """
umask 077
cat > "$1.new"
chgrp sluice "$1.new"
chmod 0640 "$1.new"
sluice controller check "$1.new"
mv "$1.new" "$1"
systemctl restart "$2"
"""


class DeployedControlPlane:
    """Both kinds of daemons run before the context and after it; the policies are exchanged."""

    def __init__(self, cluster: DeployedCluster):
        controllers = list(cluster.of_kind("controller").values())
        self._agents = {agent.node.name: agent for agent in cluster.of_kind("agent").values()}
        self._cluster = cluster
        if len(controllers) != 1 or not self._agents:
            raise RuntimeError("the faults need an agent on each node, and a single controller")
        self.controller: UnitDaemon = controllers[0]
        self._before = ""

    def __enter__(self) -> DeployedControlPlane:
        self._before = self.controller.node.run("cat", CONFIGURATION)
        self._configure(with_policy(self._before))
        return self

    def __exit__(self, *_: object) -> None:
        self._configure(self._before)
        self.start()

    def start(self) -> None:
        """Start what does not run."""
        for daemon in (*self._agents.values(), self.controller):
            if not daemon.running:
                daemon.start()

    def kill(self) -> None:
        """End all of it at once."""
        for daemon in (self.controller, *self._agents.values()):
            daemon.kill()

    def agent_of(self, server: str) -> UnitDaemon:
        """The agent that gives a region server its orders: that of its node."""
        return self._agents[self._cluster.daemons[server].node.name]

    def _configure(self, text: str) -> None:
        node = self.controller.node
        node.script(CONFIGURE, CONFIGURATION, self.controller.unit, input=text)


def with_policy(configuration: str) -> str:
    """A controller's configuration with no policy but that of the faults."""
    told = yaml.safe_load(configuration)
    if told.get("policies") == [DEPLOYED_POLICY]:
        raise RuntimeError(f"{CONFIGURATION} is as an interrupted test left it: run site.yml")
    return json.dumps(told | {"policies": [DEPLOYED_POLICY]}) + "\n"
