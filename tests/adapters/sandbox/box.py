"""Short words for what tests do in a sandbox."""

from patchwright.core.events.actions import (
    ControlAct,
    ControlCommand,
    Edit,
    EditFile,
    ReadFile,
    RunCommand,
    SearchFiles,
    WriteFile,
)
from patchwright.core.events.observations import (
    CommandOutput,
    ErrorObservation,
    FileContent,
    FileEdited,
    SearchResult,
)
from patchwright.core.events.types import SandboxAction, SandboxObservation
from patchwright.core.runtime import Runtime
from patchwright.core.types.base import RandomIds

IDS = RandomIds()


class Box:
    """A runtime, and a shell session that no other test uses."""

    def __init__(self, runtime: Runtime) -> None:
        self.runtime = runtime
        self.session = IDS.new()
        self.folder = IDS.new()

    def do(self, action: SandboxAction) -> SandboxObservation:
        return self.runtime.run(action, IDS.new())

    def sh(
        self,
        command: str,
        *,
        timeout_s: float | None = None,
        stdin: str = "",
        interactive: bool = False,
    ) -> CommandOutput:
        action = RunCommand(
            command=command,
            session=self.session,
            timeout_s=timeout_s,
            stdin=stdin,
            interactive=interactive,
        )
        output = self.do(action)
        assert isinstance(output, CommandOutput), output
        return output

    def poll(self, running: CommandOutput, timeout_s: float = 20) -> CommandOutput:
        return self._control(running, ControlAct.POLL, timeout_s=timeout_s)

    def write(self, running: CommandOutput, text: str) -> CommandOutput:
        return self._control(running, ControlAct.WRITE, text=text, timeout_s=10)

    def kill(self, running: CommandOutput) -> CommandOutput:
        return self._control(running, ControlAct.KILL)

    def put(self, name: str, data: bytes) -> str:
        """Put a file into this test's folder of the repository; return its path."""
        path = f"{self.folder}/{name}"
        self.runtime.upload(f"/workspace/repo/{path}", data)
        return path

    def bytes_of(self, path: str) -> bytes:
        return self.runtime.download(f"/workspace/repo/{path}", 1 << 20)

    def read(self, path: str, start: int = 1, end: int | None = None) -> FileContent:
        found = self.do(ReadFile(path=path, start_line=start, end_line=end))
        assert isinstance(found, FileContent), found
        return found

    def write_file(self, path: str, content: str) -> FileEdited:
        edited = self.do(WriteFile(path=path, content=content))
        assert isinstance(edited, FileEdited), edited
        return edited

    def edit(self, path: str, *edits: Edit) -> FileEdited:
        edited = self.do(EditFile(path=path, edits=edits))
        assert isinstance(edited, FileEdited), edited
        return edited

    def search(self, pattern: str, path: str = "", glob: str = "") -> SearchResult:
        action = SearchFiles(pattern=pattern, path=path or self.folder, glob=glob)
        result = self.do(action)
        assert isinstance(result, SearchResult), result
        return result

    def refusal(self, action: SandboxAction) -> ErrorObservation:
        refused = self.do(action)
        assert isinstance(refused, ErrorObservation), refused
        return refused

    def _control(
        self,
        running: CommandOutput,
        act: ControlAct,
        *,
        text: str = "",
        timeout_s: float | None = None,
    ) -> CommandOutput:
        action = ControlCommand(
            handle=running.handle, act=act, text=text, timeout_s=timeout_s
        )
        output = self.do(action)
        assert isinstance(output, CommandOutput), output
        return output
