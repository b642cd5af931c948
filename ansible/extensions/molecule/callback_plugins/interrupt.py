"""Callback that kills the playbook before a task: a lost control host, as nodes see it."""

import os
import signal

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = """
name: interrupt
type: aggregate
short_description: Kill the playbook before a task
description: Ends ansible-playbook with SIGKILL before the task named by INTERRUPT_BEFORE begins.
"""


class CallbackModule(CallbackBase):
    """Does nothing unless INTERRUPT_BEFORE is set."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "aggregate"
    CALLBACK_NAME = "interrupt"
    CALLBACK_NEEDS_ENABLED = True

    def v2_playbook_on_task_start(self, task, is_conditional):
        """Called before the task runs on the first host."""
        if task.name == os.environ.get("INTERRUPT_BEFORE"):
            os.kill(os.getpid(), signal.SIGKILL)
