"""The commands of the phone's shell."""

from __future__ import annotations

from pipeline.handset.commands.activity_commands import ACTIVITY_COMMANDS
from pipeline.handset.commands.call import Commands
from pipeline.handset.commands.file_commands import FILE_COMMANDS
from pipeline.handset.commands.input_commands import INPUT_COMMANDS
from pipeline.handset.commands.package_commands import PACKAGE_COMMANDS
from pipeline.handset.commands.setting_commands import SETTING_COMMANDS
from pipeline.handset.commands.window_commands import WINDOW_COMMANDS

COMMANDS: Commands = {
    **ACTIVITY_COMMANDS,
    **FILE_COMMANDS,
    **INPUT_COMMANDS,
    **PACKAGE_COMMANDS,
    **SETTING_COMMANDS,
    **WINDOW_COMMANDS,
}
SERVICES = frozenset({*ACTIVITY_COMMANDS, *INPUT_COMMANDS, *PACKAGE_COMMANDS, *WINDOW_COMMANDS, "content", "ime"})
"""Commands that answer only once the phone has booted."""
