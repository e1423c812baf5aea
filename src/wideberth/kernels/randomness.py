"""Secret randomness of releases: streams of random words, each with a key and a purpose of its own.

All of it comes from one key of 256 bits, which the operating system draws, or which follows from a
seed or from a key file (`RootKey`). A keyed hash (BLAKE2b) turns it into a key for each purpose, so
a stream tells nothing of another, and what one draws, or whether it draws at all, changes nothing
in another. The words of a stream are the output of SHAKE-256 on its key and a counter: whoever
knows some of them, as a reader of a release may, can neither continue nor rewind them.

A permutation takes one word for each place and is uniform up to n² / 2^65.

Ties, which show in groups only, may also be broken by hashes of rows under a key of their own: by
what rows hold, so that every part of a table comes to the same ones, or by their numbers, which
takes a tenth of the time that SHAKE-256 takes.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from wideberth.core.codes import Codes
from wideberth.core.exact import Floats
from wideberth.errors import OutputError, ParameterError

#: Where the key of a release comes from.
Origin: TypeAlias = Literal["system", "seed", "key file"]
Words: TypeAlias = npt.NDArray[np.uint64]
_Kind = TypeVar("_Kind", np.uint32, np.uint64)

#: Bytes of a key.
KEY = 32
#: Up to so many rows NumPy finds orders, and the compiler is not called.
MAX_UNCOMPILED_ROWS = 100_000
_CHUNK = 1 << 19  # bytes of a stream that are drawn at a time
_CACHED = 1 << 13  # rows that are hashed at a time, in the cache
_ROUNDS = 8  # of a Feistel network, for which four suffice in theory and domains are small
#: What SipHash begins with.
_START = np.array(
    [0x736F6D6570736575, 0x646F72616E646F6D, 0x6C7967656E657261, 0x7465646279746573], np.uint64
)


def root_key(seed: int | None = None) -> bytes:
    """Draw the key of a release; with a seed, which is for tests only, return the seed's own.

    >>> root_key(1) == root_key(1) != root_key(2)
    True
    """
    if seed is None:
        return os.urandom(KEY)
    return hashlib.blake2b(str(seed).encode(), digest_size=KEY, person=b"wideberth seed").digest()


@dataclass(frozen=True, eq=False, repr=False)
class RootKey:
    """The key of a release, and where it comes from.

    >>> RootKey.of().repeatable, RootKey.of(seed=1).repeatable
    (False, True)
    """

    origin: Origin
    secret: bytes  # the key itself, or what a key file holds

    @classmethod
    def of(cls, seed: int | None = None, key: str | Path | None = None) -> RootKey:
        """Read the key file, create it if it does not exist, or derive the key from a seed."""
        if key is not None:
            if seed is not None:
                raise ParameterError(
                    "a release has either a seed or a key file, not both", hint="leave out the seed"
                )
            if not isinstance(key, str | Path):
                raise ParameterError("the key must be the path of a key file", hint='key="my.key"')
            return cls("key file", read_key(key))
        if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int) or seed < 0):
            raise ParameterError("the seed must be a whole number from 0", hint="leave it out")
        return cls("system" if seed is None else "seed", root_key(seed))

    @property
    def repeatable(self) -> bool:
        """Whether the same table and policy give the same release again."""
        return self.origin != "system"

    def bound(self, parts: Iterable[object]) -> bytes:
        """Return the key of one release, given what it depends on: its policy and its table.

        >>> root = RootKey("key file", bytes(32))
        >>> root.bound(["age", [1, 2]]) == root.bound(["age", [1, 2]]) != root.bound(["age", [3]])
        True
        """
        # Releases of other tables, or under other policies, get unrelated keys, although the key
        # file is the same. Otherwise two releases of as many rows would have their rows in the same
        # order, and anybody could tell which rows belong together.
        if self.origin != "key file":
            return self.secret
        digest = hashlib.blake2b(key=self.secret, digest_size=KEY, person=b"wideberth key")
        for part in parts:
            text = repr(part).encode()
            digest.update(len(text).to_bytes(8, "little") + text)
        return digest.digest()


def read_key(path: str | Path) -> bytes:
    """Read a key file; if there is none, create it with a new key that only its owner may read."""
    try:
        number = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    except FileNotFoundError:
        return _new_key(path)
    except OSError as error:
        raise OutputError(
            f"the key file {path} cannot be read: {error.strerror}", hint="name another file"
        ) from None
    try:
        found = os.fstat(number)
        if not stat.S_ISREG(found.st_mode):
            raise OutputError(f"the key file {path} is not a file", hint="name another file")
        if os.name == "posix" and (found.st_mode & 0o077 or found.st_uid not in _owners()):
            raise OutputError(
                f"the key file {path} is open to other users of this computer: whoever reads it "
                "can undo the shuffling of every release made with it",
                hint=f"chmod 600 {path}; if somebody may have read it, start a new one",
            )
        held = re.fullmatch(rb"wideberth-key-1:([0-9a-f]{64})\r?\n?", os.read(number, 200))
    finally:
        os.close(number)
    if held is None:
        raise OutputError(
            f"{path} is not a key file", hint="name a file that does not exist: it is created"
        )
    return bytes.fromhex(held[1].decode())


def _owners() -> set[int]:
    """Return who may own a key file: the user, or root, who can read everything anyway."""
    return {os.geteuid(), 0}


def _new_key(path: str | Path) -> bytes:
    secret = os.urandom(KEY)
    try:
        number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(number, "wb") as file:
            file.write(b"wideberth-key-1:" + secret.hex().encode() + b"\n")
            file.flush()
            os.fsync(number)
    except OSError as error:
        raise OutputError(
            f"the key file {path} cannot be created: {error.strerror}", hint="name another file"
        ) from None
    return secret


def subkey(key: bytes, purpose: str, part: int = 0) -> bytes:
    """Return the key of a purpose, and of a part of the work that has it."""
    return hashlib.blake2b(f"{purpose} {part}".encode(), key=key, digest_size=KEY).digest()


class Stream:
    """The random numbers of one purpose; what NumPy's generators also have is called as there.

    >>> sorted(Stream(root_key(), "row order").permutation(4).tolist())
    [0, 1, 2, 3]
    """

    def __init__(self, key: bytes, purpose: str, part: int = 0) -> None:
        # Streams of different purposes have nothing to do with each other. part: of work that is
        # done in parts.
        self._key = subkey(key, purpose, part)
        self._drawn = 0

    def bytes(self, length: int) -> bytes:
        """Draw `length` bytes."""
        self._drawn += 1
        return hashlib.shake_256(self._key + self._drawn.to_bytes(8, "little")).digest(length)

    def words(self, many: int, kind: type[_Kind] = np.uint64) -> npt.NDArray[_Kind]:  # type: ignore[assignment]
        """Draw `many` words of 64 bits, or of 32."""
        words = np.empty(many, kind)
        step = _CHUNK // words.itemsize
        for begin in range(0, many, step):
            part = words[begin : begin + step]
            part[:] = np.frombuffer(self.bytes(part.nbytes), kind)
        return words

    def random(self, many: int) -> Floats:
        """Draw `many` numbers from 0 to below 1."""
        return (self.words(many) >> np.uint64(11)).astype(np.float64) * 2.0**-53

    def integers(self, high: int) -> int:
        """Draw a number from 0 to below a bound."""
        return int.from_bytes(self.bytes(16)) % int(high)

    def permutation(self, of: int | npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return the numbers below one, or the entries of an array, in random order."""
        order = np.array(of) if isinstance(of, np.ndarray) else np.arange(of)
        self.shuffle(order)
        return order

    def shuffle(self, array: npt.NDArray[Any]) -> None:
        """Put the entries of an array in random order."""
        words = self.words(len(array))
        if len(array) <= MAX_UNCOMPILED_ROWS:
            array[:] = array[np.argsort(words, kind="stable")]
            return
        from wideberth.kernels.sort import shuffle

        shuffle(array, words)


#: What algorithms draw from: a stream in a release, a generator in tests and measurements.
Chance: TypeAlias = Stream | np.random.Generator


def hashed(key: bytes, lines: Sequence[Codes] | Sequence[Words]) -> Words:
    """Hash every row of a table, given column by column, with a secret key: SipHash-2-4.

    >>> rows = hashed(bytes(16), [np.array([7, 8, 7]), np.array([1, 2, 1])])
    >>> bool(rows[0] == rows[2] != rows[1])
    True
    """
    # Equal rows have equal hashes; of other rows nobody can tell without the key which has the
    # smaller one (Aumasson and Bernstein 2012).
    rows = len(lines[0])
    absorb = _absorbed
    if rows > MAX_UNCOMPILED_ROWS:
        from wideberth.kernels.sort import siphash_absorb as absorb
    start = _started(key)
    found = np.empty(rows, np.uint64)
    for begin in range(0, rows, _CACHED):
        part = slice(begin, begin + _CACHED)
        many = len(found[part])
        state = np.repeat(start[:, None], many, axis=1)
        for line in lines:
            absorb(state, line[part].astype(np.uint64))
        absorb(state, np.full(many, (8 * len(lines) & 0xFF) << 56, np.uint64))
        state[2] ^= np.uint64(0xFF)
        for _ in range(2):  # which makes the last four rounds
            absorb(state, np.zeros(many, np.uint64))
        found[part] = np.bitwise_xor.reduce(state)
    return found


def permuted(key: bytes, numbers: Words, bits: int) -> Words:
    """Apply a secret permutation of all numbers of an even number of bits.

    >>> sorted(permuted(bytes(16), np.arange(16, dtype=np.uint64), 4).tolist()) == list(range(16))
    True
    """
    # Different numbers stay different, and nobody can go back without the key: a Feistel network
    # (Luby and Rackoff 1988) with SipHash as its round function.
    half = np.uint64(bits // 2)
    low = np.uint64((1 << (bits // 2)) - 1)
    left, right = numbers >> half, numbers & low
    for number in range(_ROUNDS):
        left, right = right, left ^ (hashed(subkey(key, "round", number), [right]) & low)
    return left << half | right


def hash_row_numbers(key: bytes, rows: int) -> Words:
    """Hash the numbers of the rows of a large table: `hashed`, in a third of the time.

    >>> bool((hash_row_numbers(bytes(16), 9) == hashed(bytes(16), [np.arange(9)])).all())
    True
    """
    from wideberth.kernels import sort

    words = np.empty(rows, np.uint64)
    sort.siphash_numbers(_started(key), words)
    return words


def _started(key: bytes) -> Words:
    halves = np.frombuffer(key[:16], "<u8")
    return np.concatenate([halves, halves]) ^ _START


def _absorbed(state: Words, words: Words) -> None:
    """Take a word of each row into its state, as the kernel of the same name does."""
    high = np.empty_like(words)

    def turned(word: Words, bits: int) -> None:
        np.left_shift(word, np.uint64(bits), out=high)
        word >>= np.uint64(64 - bits)
        word |= high

    state[3] ^= words
    for _ in range(2):
        for a, b, bits in ((0, 1, 13), (2, 3, 16), (0, 3, 21), (2, 1, 17)):
            state[a] += state[b]
            turned(state[b], bits)
            state[b] ^= state[a]
            if bits in (13, 17):
                turned(state[a], 32)
    state[0] ^= words
