"""View models are tested with widgets too."""

from tests.widgets.conftest import no_windows_left

__all__ = ["no_windows_left"]
