package dev.sluice.server.http;

import com.sun.net.httpserver.HttpServer;
import com.sun.net.httpserver.HttpsConfigurator;
import com.sun.net.httpserver.HttpsParameters;
import com.sun.net.httpserver.HttpsServer;
import dev.sluice.api.config.Configuration.BindAddress;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.BindException;
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
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Semaphore;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.locks.ReentrantLock;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLParameters;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A running HTTP/1.1 server that serves each request on a virtual thread of its own. It listens
 * once created and stops when closed. {@link ConnectionFront}, {@link HttpLimits} and {@link
 * PlatformLimits} bound the resources that its clients use.
 */
public final class HttpService implements AutoCloseable {

  private static final int BACKLOG = 1024;
  private static final Duration FIRST_BYTE = Duration.ofSeconds(10);
  private static final Duration IDLE = Duration.ofSeconds(150);
  private static final int RESERVE = 8;

  /** Probes come on connections of their own; each has platform threads. */
  private static final ConnectionFront.Limits PLAIN =
      new ConnectionFront.Limits(64, 32, Duration.ofSeconds(5), Duration.ofSeconds(10));

  private final ConnectionFront front;
  private final HttpServer server;
  private final ExecutorService threads;
  private final Duration grace;
  private final HttpExchangeHandler httpExchangeHandler;

  private HttpService(
      ConnectionFront front,
      HttpServer server,
      ThreadFactory factory,
      HttpHandler httpHandler,
      HttpLimits limits,
      Duration grace) {
    this.front = front;
    this.server = server;
    this.grace = grace;
    this.httpExchangeHandler = new HttpExchangeHandler(httpHandler, limits, front::source);
    this.threads = Executors.newThreadPerTaskExecutor(factory);
    server.setExecutor(threads);
    server.createContext("/", httpExchangeHandler::serve);
    server.start();
    front.start(server.getAddress());
  }

  /**
   * Starts a server without TLS, with the limits of this process, for few and short requests. It
   * runs on platform threads, so that it answers also while virtual threads are busy.
   *
   * @param grace how long closing waits for requests in progress
   * @throws IOException when the address cannot be bound
   */
  public static HttpService plain(BindAddress address, HttpHandler httpHandler, Duration grace)
      throws IOException {
    return plain(address, httpHandler, HttpLimits.ofThisProcess(), grace);
  }

  /** Starts a server without TLS, with the given limits. */
  static HttpService plain(
      BindAddress address, HttpHandler httpHandler, HttpLimits limits, Duration grace)
      throws IOException {
    PlatformLimits.apply();
    ThreadFactory factory = Thread.ofPlatform().daemon().name("plain-", 0).factory();
    ConnectionFront front = front(address, PLAIN, factory);
    HttpServer server = HttpServer.create(behind(), BACKLOG);
    return new HttpService(front, server, factory, httpHandler, limits, grace);
  }

  /**
   * Starts a server with TLS, with the limits of this process.
   *
   * @param context contains the key manager, whose key may change while the server runs
   * @param grace how long closing waits for requests in progress
   * @throws IOException when the address cannot be bound
   * @throws IllegalArgumentException when the platform does not support a setting
   */
  public static HttpService tls(
      BindAddress address,
      SSLContext context,
      TlsSettings settings,
      HttpHandler httpHandler,
      Duration grace)
      throws IOException {
    PlatformLimits.apply();
    SSLParameters checked = settings.parameters(context);
    checked.setWantClientAuth(httpHandler.asksForCertificates());
    ThreadFactory factory = Thread.ofVirtual().name("https-", 0).factory();
    ConnectionFront front = front(address, encrypted(), factory);
    HttpsServer server = HttpsServer.create(behind(), BACKLOG);
    server.setHttpsConfigurator(
        new HttpsConfigurator(context) {
          @Override
          public void configure(HttpsParameters parameters) {
            parameters.setSSLParameters(checked);
          }
        });
    return new HttpService(front, server, factory, httpHandler, HttpLimits.ofThisProcess(), grace);
  }

  /** The port of the server, also if the system chose it. */
  public int port() {
    return front.port();
  }

  /**
   * Accepts no more requests, waits at most the grace period for requests in progress, then closes
   * their connections.
   */
  @Override
  public void close() {
    front.stopAccepting();
    server.stop((int) Math.max(0, grace.toSeconds()));
    front.close();
    threads.shutdownNow();
    httpExchangeHandler.close();
  }

  /** An eighth of the connections is left for others than one source. */
  private static ConnectionFront.Limits encrypted() {
    int connections = PlatformLimits.connections(Runtime.getRuntime().maxMemory());
    return new ConnectionFront.Limits(
        connections, connections - connections / RESERVE, FIRST_BYTE, IDLE);
  }

  /** Where a server listens that is reached through a front. */
  private static InetSocketAddress behind() {
    return new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);
  }

  private static InetSocketAddress socketAddress(BindAddress address) {
    return address.host().isEmpty()
        ? new InetSocketAddress(address.port())
        : new InetSocketAddress(address.host(), address.port());
  }

  private static String reason(IOException failure) {
    String message = String.valueOf(failure.getMessage());
    return failure instanceof BindException && message.contains("in use")
        ? "the port is taken; does another operator run on this machine?"
        : message;
  }

  private static ConnectionFront front(
      BindAddress address, ConnectionFront.Limits limits, ThreadFactory factory)
      throws IOException {
    try {
      return new ConnectionFront(socketAddress(address), limits, factory);
    } catch (IOException e) {
      String host = address.host().isEmpty() ? "all addresses" : address.host();
      throw new IOException(
          "can't listen on port %d of %s: %s".formatted(address.port(), host, reason(e)), e);
    }
  }

  /**
   * Limits that the JDK's HTTP server enforces before this package sees a request. The server reads
   * them once from system properties; properties that are set already are kept.
   */
  static final class PlatformLimits {

    /** Memory of an open TLS connection in bytes, mostly buffers. */
    private static final long BYTES_PER_CONNECTION = 128L * 1024;

    private static final long MIN_CONNECTIONS = 256;
    private static final long MAX_CONNECTIONS = 2048;

    /** Connections that the front has closed, and the server has not yet. */
    private static final int CLOSING = 2;

    private PlatformLimits() {}

    /** Sets the properties that are not set. */
    static void apply() {
      of(Runtime.getRuntime().maxMemory())
          .forEach(
              (name, value) -> {
                if (System.getProperty(name) == null) {
                  System.setProperty(name, value);
                }
              });
    }

    /** How many connections one port may have with a heap of this many bytes. */
    static int connections(long heap) {
      return (int) Math.clamp(heap / 4 / BYTES_PER_CONNECTION, MIN_CONNECTIONS, MAX_CONNECTIONS);
    }

    /**
     * The properties for a heap of this many bytes.
     *
     * <p>Open connections take at most a quarter of the heap; {@link ConnectionFront} keeps their
     * number, and the server would close new ones instead of idle ones. Idle connections must
     * outlast the idle connections of the API server's client, and as many are kept as there may
     * be: a server that closes them drops requests under load. Headers are read before the request
     * is known, so their size limit is small. The time limits end stalled handshakes and headers;
     * bodies have a shorter limit, see {@link HttpLimits}.
     */
    static Map<String, String> of(long heap) {
      int connections = connections(heap);
      return Map.of(
          "jdk.httpserver.maxConnections", String.valueOf(CLOSING * connections),
          "sun.net.httpserver.maxIdleConnections", String.valueOf(connections),
          "sun.net.httpserver.maxReqHeaderSize", String.valueOf(32 * 1024),
          "sun.net.httpserver.maxReqHeaders", "100",
          "sun.net.httpserver.nodelay", "true",
          "sun.net.httpserver.idleInterval", "150",
          "sun.net.httpserver.maxReqTime", "30",
          "sun.net.httpserver.maxRspTime", "60");
    }
  }

  /**
   * Accepts the connections of a port and passes their bytes on to an HTTP server of this process,
   * which listens at a loopback address. It bounds connections, which that server can't: a new one
   * is always accepted, and the one that was idle for the longest time, of the source with the most
   * connections, is closed for it when there are too many. So who opens many connections closes
   * their own, and everybody else is served. A source is an IPv4 address, or the first 64 bits of
   * an IPv6 address.
   */
  static final class ConnectionFront implements AutoCloseable {

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

  /**
   * Limits on the resources that all clients of one server use together. A request over a limit
   * waits for a while and then gets status 503.
   *
   * @param bodies bytes of all bodies that are being read or processed
   * @param work estimated bytes for computing all responses; a third of it is for streamed
   *     responses
   * @param concurrent number of requests processed concurrently; in addition, an eighth of it is
   *     streamed
   * @param transfer how long a client may take to send a body, and to read the response
   * @param queueTimeout how long a request waits for other requests to end
   */
  public record HttpLimits(
      long bodies, long work, int concurrent, Duration transfer, Duration queueTimeout) {

    private static final int CONCURRENT = 512;
    private static final Duration TRANSFER = Duration.ofSeconds(20);
    private static final Duration QUEUE_TIMEOUT = Duration.ofSeconds(8);

    /** Limits for a heap of this many bytes: an eighth for bodies, a quarter for work. */
    public static HttpLimits forHeap(long heap) {
      return new HttpLimits(heap / 8, heap / 4, CONCURRENT, TRANSFER, QUEUE_TIMEOUT);
    }

    /** Limits for this process. */
    public static HttpLimits ofThisProcess() {
      return forHeap(Runtime.getRuntime().maxMemory());
    }
  }
}
