package dev.sluice.local.protocol;

import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.OverlappingFileLockException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Where a socket is made: a stale one is taken over, one that is served is left alone. */
class SocketPlace {
  private static final String MODE = "rw-rw----";
  // Java has no flock: those who may compete for this folder are Java programs all of them.
  private static final String LOCK_NAME = ".lock";
  private static final int LOCK_ATTEMPTS = 50;
  private static final long LOCK_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  private final Path path;
  private Object fileKey;

  SocketPlace(Path path) {
    this.path = path;
  }

  Path path() {
    return path;
  }

  /** Makes the socket, and gives it its mode before it has its name. */
  ServerSocketChannel listen() throws IOException {
    Path folder = path.getParent();
    Files.createDirectories(folder);
    // Others of this process are waited for here, and those of other processes at the lock.
    synchronized (SocketPlace.class) {
      try (FileChannel lockFile =
              FileChannel.open(
                  folder.resolve(LOCK_NAME), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
          FileLock lock = lockSoon(lockFile)) {
        assert lock.isValid();
        refuseServed();
        return bind();
      }
    }
  }

  /**
   * Who has the lock keeps it for an instant; one that was stopped meanwhile must not keep a store
   * from starting.
   */
  private FileLock lockSoon(FileChannel lockFile) throws IOException {
    for (int attempt = 0; attempt < LOCK_ATTEMPTS; attempt++) {
      FileLock lock = tryLock(lockFile);
      if (lock != null) {
        return lock;
      }
      LockSupport.parkNanos(LOCK_PAUSE_NANOS);
    }
    throw new IOException(
        path.resolveSibling(LOCK_NAME)
            + " stays locked: find who has it by fuser, and end that process");
  }

  private static FileLock tryLock(FileChannel lockFile) throws IOException {
    try {
      return lockFile.tryLock();
    } catch (OverlappingFileLockException e) {
      // Another class loader's copy of this class has it.
      return null;
    }
  }

  private void refuseServed() throws IOException {
    if (!Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
      return;
    }
    BasicFileAttributes attributes = attributes(path);
    if (attributes.isRegularFile() || attributes.isDirectory() || attributes.isSymbolicLink()) {
      throw new IOException(
          path + " is not a socket: remove it, or give the instance another name");
    }
    removeStale();
  }

  /** Refuses one whose process is there, also if it takes no connections: it is not waited for. */
  private void removeStale() throws IOException {
    try (SocketChannel probe = SocketChannel.open(StandardProtocolFamily.UNIX)) {
      probe.configureBlocking(false);
      probe.connect(UnixDomainSocketAddress.of(path));
      throw served(null);
    } catch (ConnectException refused) {
      // Its process is gone; the new socket takes its name.
      Files.deleteIfExists(path);
    } catch (SocketException other) {
      // As many wait for it as may; or it is another user's, whose process may be gone.
      throw served(other);
    }
  }

  private IOException served(SocketException why) {
    return new IOException(
        path + " is served by another process: stop it, or give the instance another name", why);
  }

  private ServerSocketChannel bind() throws IOException {
    Path unnamed = path.resolveSibling("." + path.getFileName() + ".new");
    Files.deleteIfExists(unnamed);
    ServerSocketChannel channel = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
    try {
      channel.bind(UnixDomainSocketAddress.of(unnamed));
      Files.setPosixFilePermissions(unnamed, PosixFilePermissions.fromString(MODE));
      fileKey = attributes(unnamed).fileKey();
      Files.move(unnamed, path, StandardCopyOption.ATOMIC_MOVE);
      return channel;
    } catch (IOException | RuntimeException e) {
      channel.close();
      Files.deleteIfExists(unnamed);
      throw e;
    }
  }

  /** Removes the socket, unless it is another process's by now. */
  void remove() throws IOException {
    if (Files.exists(path, LinkOption.NOFOLLOW_LINKS)
        && attributes(path).fileKey().equals(fileKey)) {
      Files.deleteIfExists(path);
    }
  }

  private static BasicFileAttributes attributes(Path path) throws IOException {
    return Files.readAttributes(path, BasicFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
  }
}
