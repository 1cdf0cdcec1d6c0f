"""Where an installed package has its configurations: beside this file. In a build folder there are none, and the module knows the source
tree."""

from pathlib import Path

from . import _core

__version__ = _core.__version__

_configs = Path(__file__).parent / "configs"
if _configs.is_dir():
    _core.install_configs(str(_configs))
