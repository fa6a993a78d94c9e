package dev.sluice.lab.controlplane;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;

/** Finds loopback ports for servers that may be restarted. */
public final class FreePorts {

  /**
   * Below the range of ephemeral ports, so that a port stays free while its server is restarted.
   */
  private static final int FIRST = 20_000;

  private static final int LAST = 32_000;

  private FreePorts() {}

  /** The given number of different ports that are free now. */
  public static List<Integer> choose(int count, RandomGenerator random) {
    List<Integer> ports = new ArrayList<>();
    while (ports.size() < count) {
      int candidate = random.nextInt(FIRST, LAST);
      if (!ports.contains(candidate) && isFree(candidate)) {
        ports.add(candidate);
      }
    }
    return List.copyOf(ports);
  }

  private static boolean isFree(int port) {
    InetAddress loopback = InetAddress.getLoopbackAddress();
    try (ServerSocket socket = new ServerSocket(port, 1, loopback)) {
      return socket.isBound();
    } catch (BindException taken) {
      return false;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
