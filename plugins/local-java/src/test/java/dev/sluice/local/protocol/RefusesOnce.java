package dev.sluice.local.protocol;

import java.io.IOException;
import java.net.ServerSocket;
import java.net.SocketAddress;
import java.net.SocketOption;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.Set;

/** A socket whose first connection is not taken, as by a process without a file to spare. */
final class RefusesOnce extends ServerSocketChannel {
  private final ServerSocketChannel channel;
  private boolean refused;

  RefusesOnce(ServerSocketChannel channel) {
    super(channel.provider());
    this.channel = channel;
  }

  @Override
  public SocketChannel accept() throws IOException {
    if (!refused) {
      refused = true;
      throw new IOException("Too many open files");
    }
    return channel.accept();
  }

  @Override
  public ServerSocketChannel bind(SocketAddress local, int backlog) throws IOException {
    return channel.bind(local, backlog);
  }

  @Override
  public <T> ServerSocketChannel setOption(SocketOption<T> name, T value) throws IOException {
    return channel.setOption(name, value);
  }

  @Override
  public <T> T getOption(SocketOption<T> name) throws IOException {
    return channel.getOption(name);
  }

  @Override
  public Set<SocketOption<?>> supportedOptions() {
    return channel.supportedOptions();
  }

  @Override
  public ServerSocket socket() {
    return channel.socket();
  }

  @Override
  public SocketAddress getLocalAddress() throws IOException {
    return channel.getLocalAddress();
  }

  @Override
  protected void implCloseSelectableChannel() throws IOException {
    channel.close();
  }

  @Override
  protected void implConfigureBlocking(boolean block) throws IOException {
    channel.configureBlocking(block);
  }
}
