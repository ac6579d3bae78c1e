"""The file system as a port, with two sides to it: a disk, and memory."""

from broker_core.files.disk_files import DiskFiles
from broker_core.files.memory_files import MemoryFiles
from broker_core.files.port import AppendFile, Data, FileLock, FileSystem

__all__ = ["AppendFile", "Data", "DiskFiles", "FileLock", "FileSystem", "MemoryFiles"]
