"""`ropewalk VERB ...`: finds the verb, and turns whatever goes wrong into one sentence and an exit code."""

import importlib
import logging
import os
import signal
import sys
import traceback
from types import FrameType

import click

from ropewalk import __version__
from ropewalk.cli import options
from ropewalk.cli.doctor import DASHBOARD, LAB
from ropewalk.cli.talk import say
from ropewalk.errors import RopewalkError, UsageError

# A verb's module is imported only when the verb is called: the base install lacks what most of them need.
VERBS = {
    "check": "Say whether stores are sound.",
    "cluster": "Run the nodes of a workload as real nodes on this machine.",
    "dashboard": "Show running nodes, or a recorded run, in the browser.",
    "demo": "Generate a universe, align it with StaN on embedded Spark, and write a report.",
    "describe": "Say what a universe looks like: how subscriptions are spread, correlated and shared.",
    "doctor": "Say what this machine has, and what to do about what is missing.",
    "generate": "Make a workload up.",
    "ingest": "Read a trace.",
    "node": "Run a node until it is told to stop.",
    "publish": "Publish every line of standard input as an event.",
    "reproduce": "Measure what papers claim, and say what holds.",
    "simulate": "Run a protocol on a workload.",
    "subscribe": "Write every event to standard output.",
    "universe": "Cut a self-contained universe out of a trace.",
}
EXTRAS = dict.fromkeys((*LAB, "py4j"), "lab") | dict.fromkeys(DASHBOARD, "dashboard")
WORDS: dict[int, str] = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}


class Verbs(click.Group):
    """The verbs, each loaded when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's signature)
        """All verbs, none of them loaded."""
        return sorted(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Load one verb, or say what it lacks."""
        if cmd_name not in VERBS:
            raise UsageError(f"verb {cmd_name!r} is not known; choose one of: {', '.join(sorted(VERBS))}.")
        try:
            command = importlib.import_module(f"ropewalk.cli.{cmd_name}").command
        except ModuleNotFoundError as error:
            extra = EXTRAS.get((error.name or "").partition(".")[0])
            if extra is None:
                raise
            raise UsageError(
                f"{cmd_name} needs {error.name}, which is in the extra `{extra}`; pip install 'ropewalk[{extra}]'."
            ) from error
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """The verbs with their sentences, none of them loaded."""
        with formatter.section("Verbs"):
            formatter.write_dl(sorted(VERBS.items()))


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="ropewalk %(version)s")
@options.debug
def ropewalk() -> None:
    """Interest-aware publish/subscribe: overlays that share their links. Start with `ropewalk demo`."""


class Signals:
    """A signal ends the command by an exception, so that everything is tidied; a second one ends it at once."""

    def __init__(self) -> None:
        self.received: int | None = None

    def install(self) -> None:
        """Catch Ctrl-C and a polite kill."""
        for number in WORDS:
            signal.signal(number, self._receive)

    def _receive(self, number: int, _frame: FrameType | None) -> None:
        if self.received is not None:
            os._exit(128 + number)
        self.received = number
        say("stopping, and tidying up; once more to leave at once.")
        raise KeyboardInterrupt


def main(arguments: list[str], signals: Signals | None = None) -> int:
    """Run one command line; the answer is its exit code."""
    debug = "--debug" in arguments
    if not debug:  # libraries that log what they also raise would say everything twice
        logging.basicConfig(handlers=[logging.NullHandler()])
    try:
        left_with = ropewalk.main(arguments, prog_name="ropewalk", standalone_mode=False)
    except BaseException as error:  # noqa: BLE001 (the last line of defence: whatever it is, it is said in one sentence)
        if debug:
            traceback.print_exc()
        received = signals.received if signals is not None else None
        return _said(error, received)
    return left_with if isinstance(left_with, int) else 0


def _said(error: BaseException, received: int | None) -> int:
    """Say what ended the command; the answer is its exit code."""
    if isinstance(error, (KeyboardInterrupt, click.Abort)) or received is not None:
        number = received or signal.SIGINT  # what a library made of a signal is of no interest
        say(f"{WORDS[number]}: nothing half-written was left behind.")
        return 128 + number
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        print(error.ctx.get_help(), file=sys.stderr)
        return UsageError.exit_code
    if isinstance(error, click.ClickException):
        hint = f" See `{error.ctx.command_path} --help`." if isinstance(error, click.UsageError) and error.ctx else ""
        said = error.format_message()
        error = UsageError((said if said.endswith((".", "?")) else f"{said}.") + hint)
    if isinstance(error, RopewalkError):
        say(f"error: {error}")
        return error.exit_code
    say(f"error: unexpected {type(error).__name__}: {error}; run again with --debug to see where.")
    return RopewalkError.exit_code


def run() -> None:
    """The console script."""
    signals = Signals()
    signals.install()
    sys.exit(main(sys.argv[1:], signals))
