"""What the role postgres makes, refuses and decides, by its own tasks."""

from pathlib import PurePath

from role_files import Host, task_of, tasks_of


def test_the_folder_of_the_controllers_password_is_made_before_it():
    *before, writing = tasks_of("postgres", "evaluation_client.yml")
    folder = PurePath(writing["ansible.builtin.copy"]["dest"]).parent
    made = [task["ansible.builtin.file"] for task in before if "ansible.builtin.file" in task]
    assert [(file["path"], file["state"]) for file in made] == [(str(folder), "directory")]


def test_no_password_is_in_the_items_of_a_task_that_is_shown():
    users = [{"name": "app", "password": "secret", "groups": ["pg_monitor"]}]
    host = Host("postgres", "pg1", postgres_users=[*users, {"name": "other"}])
    shown = [task for task in tasks_of("postgres", "objects.yml") if not task.get("no_log")]
    loops = [(task, host.templar(task).template(task["loop"])) for task in shown if "loop" in task]
    assert "secret" not in str([items for _, items in loops])
    [members] = [items for task, items in loops if "members" in task["name"]]
    assert ["app", ["pg_monitor"]] in [list(item) for item in members]
    assert "other" not in str(members)


def test_rows_of_an_upgrade_are_there_as_long_as_its_marker():
    names = [task["name"] for task in tasks_of("postgres", "upgrade_finish.yml")]
    dropping = names.index("Drop the rows that were written before the upgrade")
    assert names.index("Mark the upgrade as done") < dropping
    writing, marking = tasks_of("postgres", "upgrade_begin.yml")
    assert marking["name"] == "Mark the upgrade as begun"
    # What an interrupted run has left.
    query = writing["community.postgresql.postgresql_query"]["query"]
    assert query[0].startswith("DROP TABLE IF EXISTS ")


def test_replaced_data_is_removed_by_a_name_that_the_next_run_clears_too():
    """By its own name it would be gone for that run once PG_VERSION is, and be in the way."""
    host = Host("postgres", "pg2", postgres_data_dir="/srv/17-main", postgres_wal_dir="/wal")
    cloning = tasks_of("postgres", "clone.yml")
    removed = [task["ansible.builtin.file"] for task in cloning if "ansible.builtin.file" in task]
    incoming = "/srv/17-main.incoming"
    assert [host.templar().template(file["path"]) for file in removed] == [incoming]
    renaming = task_of("postgres", "clone.yml", "Give the replaced data that name")
    argv = renaming["ansible.builtin.command"]["argv"]
    assert host.templar().template(argv)[2:] == ["/srv/17-main", incoming]
    names = [task["name"] for task in cloning]
    clearing = names.index("Clear what an interrupted run left")
    assert names.index(renaming["name"]) < clearing
    removing = task_of("postgres", "clear_incoming.yml", "Remove the half-made data directory")
    # What tells the next run of it goes last.
    assert host.templar().template(removing["loop"]) == ["/wal", incoming]


def test_an_upgrade_refuses_what_the_role_does_before_it_begins():
    tasks = tasks_of("postgres", "upgrade_plan.yml")
    included = [task.get("ansible.builtin.include_tasks") for task in tasks]
    checking = included.index("preflight_instance.yml")
    assert checking < min(included.index(file) for file in ("install.yml", "upgrade_begin.yml"))
    upgrading = Host("postgres", "pg1", **tasks[checking]["vars"])
    name = "Refuse to change the build of a running instance"
    running = {"_postgres_recorded": {"unit": "former"}, "_postgres_recorded_running": True}
    task = task_of("postgres", "preflight_instance.yml", name)
    assert upgrading.holds(task, "that", **running)
    assert not Host("postgres", "pg1").holds(task, "that", **running)
