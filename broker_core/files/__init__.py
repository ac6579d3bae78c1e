"""The file system as a port, with implementations on a disk, on a read-only disk, and in memory."""

from broker_core.files.disk_files import DiskFiles, checked_root
from broker_core.files.memory_files import MemoryFiles
from broker_core.files.port import AppendFile, Data, FileSystem
from broker_core.files.read_only_files import ReadOnlyFiles
from broker_core.files.wrapped_files import BreakableFiles, ReservedFiles, WrappedFiles

__all__ = [
    "AppendFile",
    "BreakableFiles",
    "Data",
    "DiskFiles",
    "FileSystem",
    "MemoryFiles",
    "ReadOnlyFiles",
    "ReservedFiles",
    "WrappedFiles",
    "checked_root",
]
