"""`ropewalk VERB ...`: finds the verb, and turns whatever goes wrong into one sentence and an exit code."""

import importlib
import logging
import signal
import sys
import traceback
from types import FrameType

import click

from ropewalk import __version__
from ropewalk.cli.talk import say
from ropewalk.errors import RopewalkError, UsageError

# A verb's module is imported only when the verb is called: the base install lacks what most of them need.
VERBS = {
    "demo": "Generate a universe, align it with StaN on embedded Spark, and write a report.",
    "doctor": "Say what this machine has, and what to do about what is missing.",
    "generate": "Make a workload up.",
    "simulate": "Run a protocol on a workload.",
}
LAB = ("pyspark", "numba", "numpy", "pyarrow", "pandas", "matplotlib", "jinja2")
INTERRUPTED, TERMINATED = 130, 143


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
            if error.name is None or error.name.partition(".")[0] not in LAB:
                raise
            raise UsageError(
                f"{cmd_name} needs {error.name}, which is in the extra `lab`; pip install 'ropewalk[lab]'."
            ) from error
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """The verbs with their sentences, none of them loaded."""
        with formatter.section("Verbs"):
            formatter.write_dl(sorted(VERBS.items()))


@click.group(cls=Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, message="ropewalk %(version)s")
def ropewalk() -> None:
    r"""Interest-aware publish/subscribe: overlays that share their links.

    \b
    Start with:   ropewalk demo
    Then:         ropewalk generate grid --set G --out universe
                  ropewalk simulate stan universe
    """


def main(arguments: list[str]) -> int:
    """Run one command line; the answer is its exit code."""
    debug = "--debug" in arguments
    if not debug:  # libraries that log what they also raise would say everything twice
        logging.basicConfig(handlers=[logging.NullHandler()])
    try:
        ropewalk.main(arguments, prog_name="ropewalk", standalone_mode=False)
    except click.exceptions.Exit as leaving:
        return leaving.exit_code
    except click.ClickException as error:
        return _failed(UsageError(error.format_message()), debug=debug)
    except RopewalkError as error:
        return _failed(error, debug=debug)
    except (KeyboardInterrupt, click.Abort):
        say("interrupted: nothing half-written was left behind.")
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 (the last line of defence: a bug is said in one sentence, too)
        sentence = f"unexpected {type(error).__name__}: {error}; run again with --debug to see where."
        return _failed(RopewalkError(sentence), debug=debug)
    return 0


def _failed(error: RopewalkError, *, debug: bool) -> int:
    if debug:
        traceback.print_exc()
    say(f"error: {error}")
    return error.exit_code


def _terminated(signum: int, frame: FrameType | None) -> None:  # noqa: ARG001 (the signature of a handler)
    sys.exit(TERMINATED)


def run() -> None:
    """The console script."""
    signal.signal(signal.SIGTERM, _terminated)
    sys.exit(main(sys.argv[1:]))
