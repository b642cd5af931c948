package dev.sluice.local.protocol;

import java.io.IOException;
import java.net.ConnectException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;

/** Where a socket is made: a stale one is taken over, one that is served is left alone. */
class SocketPlace {
  private static final String MODE = "rw-rw----";
  // Java has no flock: those who may compete for this folder are Java programs all of them.
  private static final String LOCK_NAME = ".lock";

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
    // Within one process the lock of a file is refused, not waited for.
    synchronized (SocketPlace.class) {
      try (FileChannel lockFile =
              FileChannel.open(
                  folder.resolve(LOCK_NAME), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
          FileLock lock = lockFile.lock()) {
        assert lock.isValid();
        refuseServed();
        return bind();
      }
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
    try (SocketChannel channel = SocketChannel.open(UnixDomainSocketAddress.of(path))) {
      throw new IOException(
          path
              + (channel.isConnected() ? " is served by another process" : " is in use")
              + ": stop it, or give the instance another name");
    } catch (ConnectException refused) {
      // Its process is gone; the new socket takes its name.
      Files.deleteIfExists(path);
    }
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
