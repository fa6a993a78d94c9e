package dev.sluice.server.http;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpsExchange;
import dev.sluice.server.http.HttpExchangeHandler.BodyBudget.OverloadException;
import dev.sluice.server.http.HttpService.HttpLimits;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.IntFunction;
import java.util.stream.Stream;
import javax.net.ssl.SSLPeerUnverifiedException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads requests within the limits, passes them to the handler, and sends the responses. */
final class HttpExchangeHandler implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(HttpExchangeHandler.class);

  /** The longest body that is read without being taken. */
  private static final long MOST_READ_OVER = 64 * 1024 * 1024;

  private final HttpHandler httpHandler;
  private final IntFunction<Optional<String>> sources;
  private final Duration transfer;
  private final BodyBudget bodies;
  private final BodyReader reader;
  private final ConcurrencyLimiter answers;
  private final ConcurrencyLimiter streams;
  private final ScheduledThreadPoolExecutor deadlines;

  /**
   * A handler of the requests of one server.
   *
   * @param sources the source of the connection that reaches the server from a port; empty if it
   *     came around the front
   */
  HttpExchangeHandler(
      HttpHandler httpHandler, HttpLimits limits, IntFunction<Optional<String>> sources) {
    this.httpHandler = httpHandler;
    this.sources = sources;
    this.transfer = limits.transfer();
    this.bodies = new BodyBudget(limits.bodies());
    this.reader = new BodyReader(limits.queueTimeout());
    this.answers =
        new ConcurrencyLimiter(limits.concurrent(), limits.work() / 3 * 2, limits.queueTimeout());
    this.streams =
        new ConcurrencyLimiter(limits.concurrent() / 8, limits.work() / 3, limits.queueTimeout());
    this.deadlines =
        new ScheduledThreadPoolExecutor(1, Thread.ofPlatform().daemon().name("http-", 0).factory());
    deadlines.setRemoveOnCancelPolicy(true);
  }

  /**
   * Serves one request, on a thread of its own.
   *
   * @throws IOException when the connection must be closed
   */
  void serve(HttpExchange exchange) throws IOException {
    try (BodyBudget.Share share = bodies.open();
        exchange) {
      Head head = head(exchange);
      Optional<Response> atOnce = httpHandler.answerAtOnce(head.known());
      if (atOnce.isPresent()) {
        refuse(exchange, share, atOnce.get());
        return;
      }
      RequestBody requestBody;
      try {
        requestBody = read(exchange, head, share);
      } catch (BodyReader.TooLargeException e) {
        refuseBody(exchange, head, share, Response.text(413, String.valueOf(e.getMessage())));
        return;
      } catch (OverloadException e) {
        refuseBody(exchange, head, share, overload(head, e));
        return;
      }
      answer(exchange, head, requestBody, share);
    }
  }

  private record Head(
      HttpHandler.Head known,
      String query,
      Map<String, List<String>> headers,
      long length,
      List<X509Certificate> certificates,
      String source) {
    Request with(RequestBody requestBody) {
      return new Request(
          known.method(), known.path(), query, headers, requestBody, certificates, source);
    }
  }

  private RequestBody read(HttpExchange exchange, Head head, BodyBudget.Share share)
      throws IOException {
    Future<?> deadline = deadline(share, transfer);
    try {
      int max = httpHandler.maxBody(head.known().path());
      return reader.read(exchange.getRequestBody(), head.length(), max, share);
    } finally {
      deadline.cancel(false);
    }
  }

  /**
   * Refuses a request whose body isn't taken. If the handler has a response of its own for a body
   * of declared length, of which nothing was read yet, the client gets it at once, and the rest of
   * the body is read without keeping it: a connection that is closed before may lose the response.
   * A client that has the response sends no more.
   */
  private void refuseBody(HttpExchange exchange, Head head, BodyBudget.Share share, Response usual)
      throws IOException {
    if (head.length() < 0 || head.length() > MOST_READ_OVER) {
      refuse(exchange, share, usual);
      return;
    }
    InputStream body = exchange.getRequestBody();
    Future<?> deadline = deadline(share, transfer);
    try (exchange) {
      Response response = httpHandler.refusal(head.known().path(), new Unclosed(body), usual);
      write(exchange, refusal(exchange, response));
      if (!response.equals(usual)) {
        body.transferTo(OutputStream.nullOutputStream());
      }
    } finally {
      deadline.cancel(false);
    }
  }

  /** A stream whose reader can't close it: what is left of it is still to be read. */
  private static final class Unclosed extends FilterInputStream {
    Unclosed(InputStream in) {
      super(in);
    }

    @Override
    public void close() {}
  }

  private void answer(
      HttpExchange exchange, Head head, RequestBody requestBody, BodyBudget.Share share)
      throws IOException {
    share.transfers(false);
    Request request = head.with(requestBody);
    if (httpHandler.bounds(head.known().path())) {
      send(exchange, share, answer(request));
      return;
    }
    long cost = httpHandler.cost(request);
    boolean streamed = httpHandler.isStreamed(head.known().path());
    ConcurrencyLimiter gate = streamed ? streams : answers;
    if (!gate.fits(cost)) {
      refuse(
          exchange, share, Response.text(413, "the body would take " + cost + " bytes of memory"));
      return;
    }
    Response response;
    try (ConcurrencyLimiter.Pass pass = gate.enter(cost)) {
      response = answer(request);
      if (streamed) {
        send(exchange, share, response);
        return;
      }
    } catch (OverloadException e) {
      refuse(exchange, share, overload(head, e));
      return;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("the server is closing", e);
    }
    send(exchange, share, response);
  }

  private Response answer(Request request) {
    try {
      return httpHandler.answer(request);
    } catch (OverBudgetException e) {
      return e.response();
    } catch (RuntimeException | StackOverflowError e) {
      log.error("request method={} path={} reason=bug", request.method(), request.path(), e);
      return Response.text(500, "internal error");
    }
  }

  private static Response overload(Head head, OverloadException e) {
    log.warn("request path={} result=refused reason=\"{}\"", head.known().path(), e.getMessage());
    return Response.text(503, String.valueOf(e.getMessage()));
  }

  /** Responds before the whole request was read; the connection must be closed afterwards. */
  private void refuse(HttpExchange exchange, BodyBudget.Share share, Response response)
      throws IOException {
    send(exchange, share, refusal(exchange, response));
  }

  private static Response refusal(HttpExchange exchange, Response response) {
    exchange.getResponseHeaders().set("Connection", "close");
    if (response.status() == 503) {
      exchange.getResponseHeaders().set("Retry-After", "1");
    }
    return response;
  }

  private void send(HttpExchange exchange, BodyBudget.Share share, Response response)
      throws IOException {
    share.transfers(true);
    Future<?> deadline = deadline(share, httpHandler.streamTime(path(exchange)).orElse(transfer));
    try (exchange) {
      write(exchange, response);
    } finally {
      deadline.cancel(false);
    }
  }

  private static void write(HttpExchange exchange, Response response) throws IOException {
    exchange.getResponseHeaders().set("Content-Type", response.contentType());
    response.headers().forEach(exchange.getResponseHeaders()::set);
    long length = response.content().length();
    boolean bodiless = exchange.getRequestMethod().equals("HEAD") || length == 0;
    exchange.sendResponseHeaders(response.status(), bodiless ? -1 : Math.max(0, length));
    if (!bodiless) {
      OutputStream body = exchange.getResponseBody();
      response.content().writeTo(body);
      // Closing may first wait for the rest of the request; the client gets the answer before.
      body.flush();
    }
  }

  private Future<?> deadline(BodyBudget.Share share, Duration limit) {
    return deadlines.schedule(share::cut, limit.toMillis(), TimeUnit.MILLISECONDS);
  }

  private static String path(HttpExchange exchange) {
    String path = exchange.getRequestURI().getPath();
    return path == null ? "" : path;
  }

  private Head head(HttpExchange exchange) throws IOException {
    String source =
        sources
            .apply(exchange.getRemoteAddress().getPort())
            .orElseThrow(() -> new IOException("a connection came around the front"));
    Map<String, List<String>> headers = new HashMap<>();
    Headers sent = exchange.getRequestHeaders();
    sent.forEach((name, values) -> headers.put(name.toLowerCase(Locale.ROOT), List.copyOf(values)));
    String query = exchange.getRequestURI().getRawQuery();
    List<X509Certificate> certificates = certificates(exchange);
    return new Head(
        new HttpHandler.Head(exchange.getRequestMethod(), path(exchange), !certificates.isEmpty()),
        query == null ? "" : query,
        headers,
        length(headers),
        certificates,
        source);
  }

  /**
   * The HTTP server has verified that the value is a number and that only one length is declared.
   */
  private static long length(Map<String, List<String>> headers) {
    return headers.containsKey("transfer-encoding")
        ? -1
        : Long.parseLong(headers.getOrDefault("content-length", List.of("0")).getFirst().strip());
  }

  private static List<X509Certificate> certificates(HttpExchange exchange) {
    try {
      return exchange instanceof HttpsExchange https
          ? Stream.of(https.getSSLSession().getPeerCertificates())
              .filter(X509Certificate.class::isInstance)
              .map(X509Certificate.class::cast)
              .toList()
          : List.of();
    } catch (SSLPeerUnverifiedException e) {
      return List.of();
    }
  }

  @Override
  public void close() {
    deadlines.shutdownNow();
  }

  /**
   * Limits the number and the total memory of concurrent requests; further requests wait in the
   * order of arrival.
   */
  private static final class ConcurrencyLimiter {

    /** Memory is counted in units of this many bytes. */
    private static final int BYTES_PER_UNIT = 1024;

    private final Semaphore places;
    private final Semaphore memory;
    private final int units;
    private final Duration timeout;

    ConcurrencyLimiter(int places, long bytes, Duration timeout) {
      this.places = new Semaphore(places, true);
      this.units = (int) Math.min(Integer.MAX_VALUE, Math.max(1, bytes / BYTES_PER_UNIT));
      this.memory = new Semaphore(units, true);
      this.timeout = timeout;
    }

    /** Permission of one request; closing it admits waiting requests. */
    interface Pass extends AutoCloseable {
      @Override
      void close();
    }

    /** Whether a request of this size can be admitted at all. */
    boolean fits(long bytes) {
      return bytes / BYTES_PER_UNIT <= units;
    }

    /**
     * Waits for a place and for memory.
     *
     * @param bytes a size that {@link #fits fits}
     * @throws OverloadException when the wait times out
     */
    Pass enter(long bytes) throws OverloadException, InterruptedException {
      int needed = (int) (bytes / BYTES_PER_UNIT);
      if (!places.tryAcquire(timeout.toNanos(), TimeUnit.NANOSECONDS)) {
        throw new OverloadException("too many requests at a time");
      }
      boolean entered = false;
      try {
        entered = memory.tryAcquire(needed, timeout.toNanos(), TimeUnit.NANOSECONDS);
      } finally {
        if (!entered) {
          places.release();
        }
      }
      if (!entered) {
        throw new OverloadException("too many large requests at a time");
      }
      return () -> {
        memory.release(needed);
        places.release();
      };
    }
  }

  /** Reads bodies in pieces, each piece only after the budget has room for it. */
  static final class BodyReader {

    private static final int FIRST_PIECE = 8 * 1024;
    private static final int PIECE = 64 * 1024;

    private final Duration timeout;

    BodyReader(Duration timeout) {
      this.timeout = timeout;
    }

    /** Thrown when a body is larger than allowed. */
    static final class TooLargeException extends IOException {
      private static final long serialVersionUID = 1L;

      TooLargeException(int max) {
        super("body is larger than " + max + " bytes");
      }
    }

    /**
     * Reads the whole body.
     *
     * @param declared the declared length in bytes, or -1 if the client does not declare it
     * @param max the maximum length in bytes
     * @throws TooLargeException when the body is larger, as soon as that is known
     * @throws OverloadException when other requests use the budget
     */
    RequestBody read(InputStream in, long declared, int max, BodyBudget.Share share)
        throws IOException {
      if (declared > max) {
        throw new TooLargeException(max);
      }
      if (declared >= 0) {
        share.take(declared, timeout);
      }
      List<RequestBody.Piece> pieces = new ArrayList<>();
      long length = 0;
      while (true) {
        int piece = pieces.isEmpty() ? FIRST_PIECE : PIECE;
        int size = declared < 0 ? piece : (int) Math.min(piece, declared - length);
        if (declared < 0) {
          share.take(size, timeout);
        }
        byte[] bytes = in.readNBytes(size);
        length += bytes.length;
        if (length > max) {
          throw new TooLargeException(max);
        }
        if (bytes.length > 0) {
          pieces.add(new RequestBody.Piece(bytes, bytes.length));
        }
        if (bytes.length < size || length == declared) {
          return RequestBody.of(pieces);
        }
      }
    }
  }

  /**
   * Memory budget that the bodies of all requests share. A request that exceeds the free budget
   * waits. The last quarter is reserved for small bodies, and a small body without room closes the
   * connection of the largest body that is still being transferred: a client that fills the budget
   * and stalls loses its connection first, and a review of usual size always finds room.
   */
  static final class BodyBudget {

    /** Bodies up to this many bytes are small. */
    static final int SMALL = 256 * 1024;

    private final long capacity;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Set<Share> shares = new HashSet<>();
    private long used;

    BodyBudget(long capacity) {
      this.capacity = capacity;
    }

    /** How many bytes are in use. */
    long used() {
      lock.lock();
      try {
        return used;
      } finally {
        lock.unlock();
      }
    }

    /** Opens an empty share for the request of the current thread. */
    Share open() {
      Share share = new Share(Thread.currentThread());
      lock.lock();
      try {
        shares.add(share);
        return share;
      } finally {
        lock.unlock();
      }
    }

    /** The bytes of one request. Used by the thread that opened it only, except {@link #cut}. */
    final class Share implements AutoCloseable {

      private final Thread owner;
      private long held;
      private boolean transfers = true;
      private boolean cut;

      private Share(Thread owner) {
        this.owner = owner;
      }

      /**
       * Takes more bytes.
       *
       * @param timeout the longest time to wait
       * @throws OverloadException when the bytes are not available in time, or exceed the budget
       * @throws IOException when this share was cut meanwhile
       */
      void take(long bytes, Duration timeout) throws IOException {
        lock.lock();
        try {
          long wanted = held + bytes;
          long left = timeout.toNanos();
          while (used + bytes > (wanted > SMALL ? capacity - capacity / 4 : capacity)) {
            requireUncut();
            if (wanted <= SMALL) {
              cutLargest(wanted);
            }
            if (left <= 0) {
              throw new OverloadException("too many bodies at a time");
            }
            left = changed.awaitNanos(left);
          }
          requireUncut();
          used += bytes;
          held = wanted;
        } catch (InterruptedException e) {
          Thread.currentThread().interrupt();
          throw new IOException("cut off while waiting", e);
        } finally {
          lock.unlock();
        }
      }

      /** Sets whether the body is being transferred; otherwise the response is being computed. */
      void transfers(boolean now) throws IOException {
        lock.lock();
        try {
          requireUncut();
          transfers = now;
        } finally {
          lock.unlock();
        }
      }

      /**
       * Ends the transfer by closing its connection. Has no effect while the response is being
       * computed.
       */
      void cut() {
        lock.lock();
        try {
          if (transfers && !cut && shares.contains(this)) {
            cut = true;
            owner.interrupt();
          }
        } finally {
          lock.unlock();
        }
      }

      private void requireUncut() throws IOException {
        if (cut) {
          throw new IOException("the transfer was cut off");
        }
      }

      /** Returns all bytes to the budget. */
      @Override
      public void close() {
        lock.lock();
        try {
          if (shares.remove(this)) {
            used -= held;
            changed.signalAll();
          }
        } finally {
          lock.unlock();
        }
      }
    }

    /**
     * Cuts one share at a time: the next one is cut only if the bytes of the first do not suffice.
     */
    private void cutLargest(long atLeast) {
      if (shares.stream().noneMatch(share -> share.cut)) {
        shares.stream()
            .filter(share -> share.transfers && share.held > atLeast)
            .max(Comparator.comparingLong(share -> share.held))
            .ifPresent(Share::cut);
      }
    }

    /** Thrown when a request cannot be served because other requests use the resources. */
    static final class OverloadException extends IOException {

      private static final long serialVersionUID = 1L;

      OverloadException(String message) {
        super(message);
      }
    }
  }
}
