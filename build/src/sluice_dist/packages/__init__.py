"""Debian packages: templates, what goes into them, and the build."""
