"""Find the containers of a run in the engine itself."""

import docker


def find(client: docker.DockerClient, run_id: str) -> list[str]:
    found = client.containers.list(
        all=True, filters={"label": f"patchwright.run={run_id}"}
    )
    return [str(one.id) for one in found]
