"""What the system tells about its mounts."""

from __future__ import annotations

import os
from pathlib import Path

MOUNTS = Path("/proc/self/mountinfo")
NETWORK = frozenset(
    {"nfs", "nfs4", "cifs", "smb2", "smb3", "smbfs", "9p", "afs", "ceph", "coda", "davfs", "glusterfs", "gpfs", "lustre",
     "beegfs", "ncpfs", "ocfs2", "gfs2", "fuse.sshfs", "fuse.glusterfs", "fuse.ceph", "fuse.s3fs", "fuse.rclone", "fuse.gcsfuse",
     "fuse.curlftpfs", "fuse.davfs2", "fuse.smbnetfs"}
)  # fmt: skip
"""Network file systems. Their locks reach other machines late or never."""


def network_of(path: Path) -> str:
    """Return the network file system that a path is on, or would be on; empty where it is local or unknown."""
    kind = kind_of(next(one for one in (path, *path.parents) if one.exists()))
    return kind if kind in NETWORK else ""


def kind_of(path: Path) -> str:
    """Return the type of the file system under a path; empty if it is unknown."""
    device = path.stat().st_dev
    wanted = f"{os.major(device)}:{os.minor(device)}"
    try:
        lines = MOUNTS.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    for line in lines:
        mount, _, kind = line.partition(" - ")
        if mount.split()[2:3] == [wanted]:
            return kind.split()[0]
    return ""
