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
 * A line to an API server that can be cut: connections to its near end on the loopback address go
 * on to the server, byte by byte. Who uses the server's own address doesn't notice a cut. Its
 * methods may be called from any thread.
 */
public final class TcpProxy implements AutoCloseable {

  private static final int BUFFER = 16 * 1024;
  private static final int CONNECT_MILLIS = 5_000;

  private final ServerSocket near;
  private final URI server;
  private final Set<Socket> sockets = ConcurrentHashMap.newKeySet();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private volatile boolean cut;
  private volatile boolean deaf;

  private TcpProxy(ServerSocket near, URI server) {
    this.near = near;
    this.server = server;
  }

  /** A whole one to this server, on a port that is free. */
  public static TcpProxy to(URI server) {
    try {
      TcpProxy tcpProxy =
          new TcpProxy(new ServerSocket(0, 128, InetAddress.getLoopbackAddress()), server);
      tcpProxy.threads.execute(tcpProxy::accept);
      return tcpProxy;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The address of its near end; the server's certificate has to name 127.0.0.1. */
  public URI nearEnd() {
    return URI.create(server.getScheme() + "://127.0.0.1:" + near.getLocalPort());
  }

  /** A kubeconfig for the server, changed so that it leads through this cable. */
  public String through(String kubeconfig) {
    return kubeconfig.replace(server.toString(), nearEnd().toString());
  }

  /** Ends all connections at once, and lets none come about until it is mended. */
  public void cut() {
    cut = true;
    sockets.forEach(this::end);
  }

  /**
   * Carries nothing from now on until it is mended, and says so to nobody: connections stand, new
   * ones come about, and what is sent into them is swallowed.
   */
  public void swallow() {
    deaf = true;
  }

  /** Lets connections come about again. Those that lost something meanwhile end. */
  public void mend() {
    cut = false;
    if (deaf) {
      deaf = false;
      sockets.forEach(this::end);
    }
  }

  /** Whether it carries nothing. */
  public boolean isCut() {
    return cut || deaf;
  }

  private void accept() {
    while (!near.isClosed()) {
      try {
        Socket from = near.accept();
        threads.execute(() -> connect(from));
      } catch (IOException e) {
        if (!near.isClosed()) {
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
      if (!cut) {
        to.connect(new InetSocketAddress(server.getHost(), server.getPort()), CONNECT_MILLIS);
        threads.execute(() -> carry(from, to));
        carry(to, from);
      }
    } catch (IOException serverIsAway) {
      end(from);
    } finally {
      end(from);
      end(to);
    }
  }

  /** Carries bytes until either side ends; then both end. */
  private void carry(Socket from, Socket to) {
    byte[] buffer = new byte[BUFFER];
    try {
      InputStream in = from.getInputStream();
      for (int read = in.read(buffer); read >= 0 && !cut; read = in.read(buffer)) {
        if (!deaf) {
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

  /** Ends all connections for good. */
  @Override
  public void close() {
    try {
      near.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    cut();
    threads.shutdownNow();
  }
}
