package dev.sluice.server.http;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Accepts the connections of a port and passes their bytes on to an HTTP server of this process,
 * which listens at a loopback address. It bounds connections, which that server can't: a new one is
 * always accepted, and the one that was idle for the longest time, of the source with the most
 * connections, is closed for it when there are too many. So who opens many connections closes their
 * own, and everybody else is served. A source is an IPv4 address, or the first 64 bits of an IPv6
 * address.
 */
final class ConnectionFront implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(ConnectionFront.class);
  private static final int BACKLOG = 1024;
  private static final int BUFFER = 16 * 1024;

  /** For those who send much at a time: fewer calls of the operating system for a long body. */
  private static final int LARGE = 128 * 1024;

  private static final int MOST_LARGE = 16;
  private static final int SMALL = 256;
  private static final int NETWORK_BYTES = 8;
  private static final long LOG_EVERY = Duration.ofMinutes(1).toNanos();

  private final ServerSocket listening;
  private final Limits limits;
  private final ThreadFactory threads;
  private final Semaphore largeBuffers = new Semaphore(MOST_LARGE);
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<String, Set<Connection>> bySource = new HashMap<>();
  private final Map<Integer, Connection> byBackendPort = new ConcurrentHashMap<>();
  private int open;
  private long closedForOthers;
  private long loggedAt = System.nanoTime() - LOG_EVERY;
  private volatile InetSocketAddress backend = new InetSocketAddress(0);

  /**
   * What clients of one port may have.
   *
   * @param connections of all sources together
   * @param perSource connections of one source
   * @param first how long a new connection may be silent
   * @param idle how long a connection may be silent later, in both directions
   */
  record Limits(int connections, int perSource, Duration first, Duration idle) {}

  /**
   * Listens, without accepting anything yet.
   *
   * @param threads make two threads for each connection
   * @throws IOException when the address cannot be bound
   */
  ConnectionFront(InetSocketAddress address, Limits limits, ThreadFactory threads)
      throws IOException {
    this.limits = limits;
    this.threads = threads;
    this.listening = new ServerSocket();
    try {
      listening.bind(address, BACKLOG);
    } catch (IOException e) {
      listening.close();
      throw e;
    }
  }

  /** Passes connections on to this server from now on. */
  void start(InetSocketAddress server) {
    backend = server;
    Thread.ofPlatform().name("accept-" + port()).daemon().start(this::accept);
  }

  int port() {
    return listening.getLocalPort();
  }

  /**
   * The source of the connection that reaches the server from this port of the loopback address;
   * empty if it didn't come through this front.
   */
  Optional<String> source(int backendPort) {
    return Optional.ofNullable(byBackendPort.get(backendPort)).map(found -> found.source);
  }

  private void accept() {
    while (!listening.isClosed()) {
      try {
        begin(listening.accept());
      } catch (IOException e) {
        if (!listening.isClosed()) {
          log.warn("port={} accepted=false reason=\"{}\"", port(), e.toString());
          pause();
        }
      }
    }
  }

  /** Without free file descriptors accepting fails at once, again and again. */
  private static void pause() {
    try {
      Thread.sleep(Duration.ofMillis(50));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void begin(Socket client) {
    Connection connection = new Connection(client, source(client.getInetAddress()));
    victims(connection).forEach(Connection::close);
    threads.newThread(connection::run).start();
  }

  static String source(InetAddress address) {
    byte[] bytes = address.getAddress();
    return HexFormat.of()
        .formatHex(address instanceof Inet6Address ? Arrays.copyOf(bytes, NETWORK_BYTES) : bytes);
  }

  /** Adds a connection, and takes out those that are to be closed for it. */
  private List<Connection> victims(Connection added) {
    lock.lock();
    try {
      Set<Connection> same = bySource.computeIfAbsent(added.source, any -> new HashSet<>());
      Optional<Connection> victim = Optional.empty();
      if (same.size() >= limits.perSource()) {
        victim = idlest(same);
      } else if (open >= limits.connections()) {
        victim =
            bySource.values().stream()
                .max(Comparator.comparingInt(Set::size))
                .flatMap(ConnectionFront::idlest);
      }
      victim.ifPresent(this::remove);
      bySource.computeIfAbsent(added.source, any -> new HashSet<>()).add(added);
      open++;
      if (victim.isPresent()) {
        closedForOthers++;
        logSometimes(victim.get());
      }
      return victim.stream().toList();
    } finally {
      lock.unlock();
    }
  }

  private void logSometimes(Connection victim) {
    long now = System.nanoTime();
    if (now - loggedAt >= LOG_EVERY) {
      loggedAt = now;
      log.warn(
          "port={} open={} closedForOthers={} source={} reason=\"too many connections\"",
          port(),
          open,
          closedForOthers,
          victim.client.getInetAddress().getHostAddress());
    }
  }

  private static Optional<Connection> idlest(Set<Connection> connections) {
    long now = System.nanoTime();
    return connections.stream().max(Comparator.comparingLong(each -> now - each.active));
  }

  private void remove(Connection connection) {
    lock.lock();
    try {
      Set<Connection> same = bySource.get(connection.source);
      if (same != null && same.remove(connection)) {
        open--;
        if (same.isEmpty()) {
          bySource.remove(connection.source);
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /** How many connections are open. */
  int open() {
    lock.lock();
    try {
      return open;
    } finally {
      lock.unlock();
    }
  }

  /** Accepts nothing more; what is open goes on. */
  void stopAccepting() {
    closeQuietly(listening);
  }

  @Override
  public void close() {
    stopAccepting();
    List<Connection> all;
    lock.lock();
    try {
      all = bySource.values().stream().flatMap(Set::stream).toList();
    } finally {
      lock.unlock();
    }
    all.forEach(Connection::close);
  }

  private static void closeQuietly(AutoCloseable closed) {
    try {
      closed.close();
    } catch (Exception e) {
      log.debug("close failed", e);
    }
  }

  /** A connection of a client, and the one to the server. */
  private final class Connection {

    private final Socket client;
    private final Socket server = new Socket();
    private final String source;
    private volatile long active = System.nanoTime();
    private volatile boolean heard;
    private volatile int backendPort;

    Connection(Socket client, String source) {
      this.client = client;
      this.source = source;
    }

    void run() {
      boolean answering = false;
      try {
        client.setTcpNoDelay(true);
        server.setTcpNoDelay(true);
        client.setSoTimeout((int) limits.first().toMillis());
        int first = awaited();
        if (first < 0) {
          return;
        }
        server.connect(backend);
        // The server sees nothing of the request before its source is known.
        backendPort = server.getLocalPort();
        byBackendPort.put(backendPort, this);
        threads.newThread(this::answer).start();
        answering = true;
        requests(first);
      } catch (IOException e) {
        log.debug("connection of {} ended", source, e);
      } finally {
        if (!answering) {
          close();
        }
      }
    }

    /** The next byte of the client; -1 at the end, or when nothing came for too long. */
    private int awaited() throws IOException {
      while (true) {
        try {
          return client.getInputStream().read();
        } catch (SocketTimeoutException e) {
          Duration allowed = heard ? limits.idle() : limits.first();
          if (System.nanoTime() - active >= allowed.toNanos()) {
            return -1;
          }
        }
      }
    }

    private void requests(int firstByte) throws IOException {
      OutputStream out = server.getOutputStream();
      InputStream in = client.getInputStream();
      client.setSoTimeout((int) Math.max(1, limits.idle().toMillis()));
      for (int next = firstByte; next >= 0; next = awaited()) {
        heard = true;
        pass(next, in, out);
      }
      if (!server.isClosed()) {
        server.shutdownOutput();
      }
    }

    private void answer() {
      try {
        InputStream in = server.getInputStream();
        OutputStream out = client.getOutputStream();
        for (int next = in.read(); next >= 0; next = in.read()) {
          pass(next, in, out);
        }
      } catch (IOException e) {
        log.debug("connection of {} ended", source, e);
      } finally {
        close();
      }
    }

    /** Passes on what is there; while nothing comes, no buffer is held. */
    private void pass(int first, InputStream in, OutputStream out) throws IOException {
      int there = in.available();
      boolean large = there > BUFFER && largeBuffers.tryAcquire();
      try {
        byte[] buffer = new byte[Math.clamp(1 + there, SMALL, large ? LARGE : BUFFER)];
        buffer[0] = (byte) first;
        int length = 1;
        do {
          length += there > 0 ? Math.max(0, in.read(buffer, length, buffer.length - length)) : 0;
          active = System.nanoTime();
          out.write(buffer, 0, length);
          active = System.nanoTime();
          length = 0;
          there = in.available();
        } while (there > 0);
      } finally {
        if (large) {
          largeBuffers.release();
        }
      }
    }

    void close() {
      remove(this);
      byBackendPort.remove(backendPort, this);
      closeQuietly(client);
      closeQuietly(server);
    }
  }
}
