"""A job of GitLab's runner, from what started it to what it leaves."""

from pathlib import Path
from xml.etree import ElementTree as ET

from tests.fakes.llm.turns import call
from tests.flow.action.gitlab_job import PROJECT, Pipelines, pipelines
from tests.flow.story import MODEL_KEY, fix_turns

ANSWER = call("finish", summary="x", answer="It adds the prices.")
WISH = "@patchwright please fix the sum"


def open_issue(scene: Pipelines, **more: object) -> int:
    return scene.gitlab.open_issue(
        PROJECT, "alice", "Wrong sum", "The total is wrong.", **more
    )


def test_a_note_ends_in_a_merge_request_and_every_fact_is_an_output(
    tmp_path: Path,
) -> None:
    with pipelines(tmp_path, fix_turns()) as scene:
        number = open_issue(scene)
        scene.gitlab.comment(PROJECT, number, "alice", WISH)
        ended = scene.deliver()
        assert (ended.end, ended.code) == (("resolved", ""), 0)
        [merge_request] = scene.gitlab.merge_requests(PROJECT)
        assert merge_request.draft
        outputs = ended.outputs
        assert outputs["pr-number"] == str(merge_request.number)
        assert outputs["pr-url"].endswith(f"/-/merge_requests/{merge_request.number}")
        assert outputs["branch"] == f"patchwright/{number}-wrong-sum"
        assert outputs["head-sha"] == merge_request.head_sha
        assert (outputs["tests-before"], outputs["tests-after"]) == (
            "failed (exit 1)",
            "passed",
        )
        notes = scene.gitlab.comments(PROJECT, number)
        [status] = [one for one in notes if "patchwright:state=" in one.body]
        assert outputs["comment-url"].endswith(f"/issues/{number}#note_{status.id}")
        assert ended.dotenv["PATCHWRIGHT_OUTPUT_PROOF"] == "proven"
        assert ended.dotenv["PATCHWRIGHT_OUTPUT_PATCH_FILE"] == (
            ".patchwright-run/change.patch"
        )
        root = ET.parse(ended.folder / "junit.xml").getroot()
        assert not list(root.iter("failure"))
        assert len(list(root.iter("testcase"))) >= 3
        for file in ended.folder.iterdir():
            text = file.read_text("utf-8")
            assert scene.token not in text
            assert MODEL_KEY not in text
