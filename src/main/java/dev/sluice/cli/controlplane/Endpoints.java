package dev.sluice.cli.controlplane;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;

/**
 * The loopback ports of one control plane.
 *
 * @param apiServer serves HTTPS
 * @param store serves the API server
 * @param storePeer is there because etcd insists on one
 */
record Endpoints(int apiServer, int store, int storePeer) {

  /**
   * Below the ports that operating systems hand out for outgoing connections, so that a port stays
   * free while its server is restarted.
   */
  private static final int FIRST = 20_000;

  private static final int LAST = 32_000;

  /** Three different ports that are free now. */
  static Endpoints free(RandomGenerator random) {
    List<Integer> ports = new ArrayList<>();
    while (ports.size() < 3) {
      int candidate = random.nextInt(FIRST, LAST);
      if (!ports.contains(candidate) && isFree(candidate)) {
        ports.add(candidate);
      }
    }
    return new Endpoints(ports.get(0), ports.get(1), ports.get(2));
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

  URI server() {
    return URI.create("https://127.0.0.1:" + apiServer);
  }

  URI storeUri() {
    return URI.create("http://127.0.0.1:" + store);
  }

  URI storePeerUri() {
    return URI.create("http://127.0.0.1:" + storePeer);
  }
}
