"""What the role postgres makes, refuses and decides, by its own tasks."""

from pathlib import PurePath

from role_files import tasks_of


def test_the_folder_of_the_controllers_password_is_made_before_it():
    *before, writing = tasks_of("postgres", "evaluation_client.yml")
    folder = PurePath(writing["ansible.builtin.copy"]["dest"]).parent
    made = [task["ansible.builtin.file"] for task in before if "ansible.builtin.file" in task]
    assert [(file["path"], file["state"]) for file in made] == [(str(folder), "directory")]
