"""Where an installed package has its configurations: beside its module. In a build folder there are none, and the module knows the source
tree."""

from pathlib import Path

from . import _core

__version__ = _core.__version__

_configs = Path(_core.__file__).parent / "configs"
if _configs.is_dir():
    _core.install_configs(str(_configs))
