package dev.sluice.lab.controlplane;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * A TCP proxy on the loopback address in front of a server, which can interrupt its connections for
 * tests, and send new ones to another server as a Service does. Clients that use the server's own
 * address are not affected. Thread-safe.
 */
public final class TcpProxy implements AutoCloseable {

  private static final int BUFFER = 16 * 1024;
  private static final int CONNECT_MILLIS = 5_000;

  private final ServerSocket serverSocket;
  private volatile URI server;
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private volatile boolean disconnected;
  private volatile boolean blackholed;

  private TcpProxy(ServerSocket serverSocket, URI server) {
    this.serverSocket = serverSocket;
    this.server = server;
  }

  /** Starts a proxy to this server on a free port. */
  public static TcpProxy to(URI server) {
    return listening(0, server);
  }

  /** Starts a proxy to this server on a port, or on a free one if it is 0. */
  public static TcpProxy listening(int port, URI server) {
    try {
      TcpProxy tcpProxy =
          new TcpProxy(new ServerSocket(port, 128, InetAddress.getLoopbackAddress()), server);
      tcpProxy.threads.execute(tcpProxy::accept);
      return tcpProxy;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The address of the proxy; the server's certificate must be valid for 127.0.0.1. */
  public URI listenAddress() {
    return URI.create(server.getScheme() + "://127.0.0.1:" + serverSocket.getLocalPort());
  }

  /** A copy of the kubeconfig that connects through this proxy. */
  public String redirect(String kubeconfig) {
    return kubeconfig.replace(server.toString(), listenAddress().toString());
  }

  /** Sends new connections to another server. Those that are open stay where they are. */
  public void redirectTo(URI other) {
    server = other;
  }

  /** Closes all connections and refuses new ones until {@link #restore}. */
  public void disconnect() {
    disconnected = true;
    sockets.forEach(this::end);
  }

  /**
   * Discards all traffic silently until {@link #restore}: connections stay open, new ones are
   * accepted, and no byte is forwarded.
   */
  public void blackhole() {
    blackholed = true;
  }

  /** Accepts and forwards again. Connections that lost bytes meanwhile are closed. */
  public void restore() {
    disconnected = false;
    if (blackholed) {
      blackholed = false;
      sockets.forEach(this::end);
    }
  }

  /** Whether the proxy forwards nothing. */
  public boolean isDisconnected() {
    return disconnected || blackholed;
  }

  private void accept() {
    while (!serverSocket.isClosed()) {
      try {
        Socket from = serverSocket.accept();
        threads.execute(() -> connect(from));
      } catch (IOException e) {
        if (!serverSocket.isClosed()) {
          throw new UncheckedIOException(e);
        }
      }
    }
  }

  private void connect(Socket from) {
    Socket to = new Socket();
    sockets.add(from);
    sockets.add(to);
    try {
      if (!disconnected) {
        URI target = server;
        to.connect(new InetSocketAddress(target.getHost(), target.getPort()), CONNECT_MILLIS);
        threads.execute(() -> forward(from, to));
        forward(to, from);
      }
    } catch (IOException serverIsAway) {
      end(from);
    } finally {
      end(from);
      end(to);
    }
  }

  /** Forwards bytes until either side ends; then closes both sides. */
  private void forward(Socket from, Socket to) {
    byte[] buffer = new byte[BUFFER];
    try {
      InputStream in = from.getInputStream();
      for (int read = in.read(buffer); read >= 0 && !disconnected; read = in.read(buffer)) {
        if (!blackholed) {
          to.getOutputStream().write(buffer, 0, read);
        }
      }
    } catch (IOException eitherSideEnded) {
      end(from);
    } finally {
      end(from);
      end(to);
    }
  }

  private void end(Socket socket) {
    sockets.remove(socket);
    try {
      socket.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Closes all connections for good. */
  @Override
  public void close() {
    try {
      serverSocket.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    disconnect();
    threads.shutdownNow();
  }
}
