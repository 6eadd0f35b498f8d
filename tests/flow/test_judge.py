"""A second model's doubt about an unproven change is told, and the work is kept."""

from pathlib import Path

from tests.fakes.llm.turns import TurnLike, call
from tests.flow.script import Request, asked, in_turn
from tests.flow.story import REPO, fix_turns, telling

WISH = "@patchwright please fix the sum, 3 pieces cost 450"
JUDGED = {
    "PATCHWRIGHT_AGENT__JUDGE_MODEL": "second",
    "PATCHWRIGHT_LLM__SECOND__MODEL": "openai/second",
}
DOUBT = "`total` still ignores the pieces."


def _unproven() -> list[TurnLike]:
    """Return what a model does that fixes it and names no test."""
    fix = fix_turns()[2]
    return [fix, call("finish", title="Count every piece", summary="All done!")]


def test_s39_a_doubt_is_stated_on_a_draft_that_holds_all_the_work(
    tmp_path: Path,
) -> None:
    def look_over(request: Request) -> TurnLike:
        told = asked(request)
        assert request["model"] == "second"
        assert "3 pieces cost 450" in told
        assert "+    return sum(p * n for p, n in zip(prices, pieces))" in told
        assert "All done!" not in told
        return f'{{"doubtful": true, "doubt": "{DOUBT}"}}'

    script = in_turn(*_unproven(), look_over)
    with telling(tmp_path, script, settings=JUDGED) as story:
        issue = story.ask(WISH)
        story.work()
        [pull] = story.github.pull_requests(REPO)
        assert pull.draft
        assert DOUBT in pull.body
        assert f"second model that reviewed the change doubts it: `` {DOUBT}" in (
            story.reply(issue)
        )
        assert "**Not proven**" in story.reply(issue)
        # The fix, the end that is told once what its proof lacks, and the doubt.
        assert story.outcome().usage.tokens_in == 400


def test_s39_an_unusable_answer_of_the_judge_loses_no_work(
    tmp_path: Path,
) -> None:
    script = in_turn(*_unproven(), "Looks good to me!")
    with telling(tmp_path, script, settings=JUDGED) as story:
        issue = story.ask(WISH)
        story.work()
        [pull] = story.github.pull_requests(REPO)
        assert pull.draft
        assert "The second model's answer was unreadable" in story.reply(issue)


def test_a_proven_change_needs_no_judge(tmp_path: Path) -> None:
    with telling(tmp_path, fix_turns(), settings=JUDGED) as story:
        issue = story.ask(WISH)
        story.work()
        assert len(story.provider.raw_requests) == len(fix_turns())
        assert "**Proven**" in story.reply(issue)
        assert "second model" not in story.reply(issue)
