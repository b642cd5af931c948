package dev.sluice.ycsb.contract;

import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;

/** Ports of the loopback interface that nobody listens on, for servers of tests. */
public final class FreePorts {
  /** Below those that the kernel gives to others, who could have one before the server does. */
  private static final int FIRST = 20_000;

  private static final int END = 32_000;

  private FreePorts() {}

  /** Gives one; fails when none is free. */
  public static int one() throws IOException {
    return some(1).get(0);
  }

  /** Gives so many that differ; fails when fewer are free. */
  public static List<Integer> some(int count) throws IOException {
    List<Integer> candidates = new ArrayList<>(IntStream.range(FIRST, END).boxed().toList());
    Collections.shuffle(candidates);
    List<Integer> free = new ArrayList<>();
    for (int port : candidates) {
      if (free.size() == count) {
        return free;
      }
      try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
        free.add(socket.getLocalPort());
      } catch (BindException e) {
        // Somebody listens there.
      }
    }
    throw new IOException("fewer than " + count + " ports are free on the loopback interface");
  }
}
