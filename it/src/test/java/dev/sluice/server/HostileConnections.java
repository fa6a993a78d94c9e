package dev.sluice.server;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;

/**
 * Connections to a webhook server that are to use it up: silent, slow, with large, deep, wide and
 * endless bodies. Each sends what it has and then stays open until the server or {@link #close}
 * closes it.
 */
public final class HostileConnections implements AutoCloseable {

  private static final int MIB = 1024 * 1024;
  private static final String CONVERT = "/convert";
  private static final String LOOPBACK = "127.0.0.1";
  private static final byte[] PART = ("{\"a\":\"" + "x".repeat(7 * MIB)).getBytes(UTF_8);
  private static final byte[] DEEP = "{\"a\":".repeat(MIB).getBytes(UTF_8);
  private static final byte[] WIDE = ("{\"a\":[" + "{},".repeat(2 * MIB) + "{}]}").getBytes(UTF_8);

  private final int port;
  private final List<Attack> attacks;
  private final SSLContext trusting;
  private final List<Socket> sockets = Collections.synchronizedList(new ArrayList<>());
  private final ExecutorService attackers = Executors.newVirtualThreadPerTaskExecutor();
  private final AtomicInteger opened = new AtomicInteger();
  private final AtomicInteger underWay = new AtomicInteger();

  /** What a client does with its connection, after which it holds on to it. */
  private interface Attack {
    void on(OutputStream out) throws IOException;
  }

  /**
   * Opens nothing yet.
   *
   * @param port of a server on this machine
   * @param path that takes reviews
   */
  public HostileConnections(int port, String path) throws GeneralSecurityException {
    this.port = port;
    this.attacks = attacks(path);
    this.trusting = SSLContext.getInstance("TLS");
    trusting.init(null, new TrustManager[] {new TrustAll()}, new SecureRandom());
  }

  private static List<Attack> attacks(String path) {
    return List.of(
        out -> {},
        out -> out.write("POST /convert HTTP/1.1\r\nHost: a\r\nX: ".getBytes(UTF_8)),
        out -> out.write(head(path, "Content-Length: 100")),
        out -> body(out, path, 8 * MIB, PART),
        out -> body(out, path, DEEP.length, DEEP),
        out -> body(out, path, WIDE.length, WIDE),
        out -> body(out, CONVERT, 15 * MIB, PART),
        out -> body(out, CONVERT, WIDE.length, WIDE),
        out -> chunks(out, path, 20 * MIB),
        out -> chunks(out, CONVERT, 20 * MIB));
  }

  /** Begins so many attacks of each of the ten kinds, all at the same time. */
  public void attack(int ofEachKind) {
    for (int i = 0; i < ofEachKind; i++) {
      for (Attack attack : attacks) {
        opened.incrementAndGet();
        underWay.incrementAndGet();
        attackers.execute(() -> run(attack));
      }
    }
  }

  /** How many attacks were begun. */
  public int opened() {
    return opened.get();
  }

  /** Whether any attack has still something to send. */
  public boolean isUnderWay() {
    return underWay.get() > 0;
  }

  private void run(Attack attack) {
    try {
      Socket socket = trusting.getSocketFactory().createSocket(LOOPBACK, port);
      sockets.add(socket);
      attack.on(socket.getOutputStream());
      socket.getOutputStream().flush();
    } catch (IOException e) {
      // the server closed the connection, which is what it should do, or doesn't run
    } finally {
      underWay.decrementAndGet();
    }
  }

  private static byte[] head(String path, String length) {
    return "POST %s HTTP/1.1\r\nHost: a\r\n%s\r\n\r\n".formatted(path, length).getBytes(UTF_8);
  }

  private static void body(OutputStream out, String path, int declared, byte[] body)
      throws IOException {
    out.write(head(path, "Content-Length: " + declared));
    out.write(body);
  }

  private static void chunks(OutputStream out, String path, int bytes) throws IOException {
    out.write(head(path, "Transfer-Encoding: chunked"));
    byte[] chunk = ("10000\r\n" + "[".repeat(0x10000) + "\r\n").getBytes(UTF_8);
    for (int sent = 0; sent < bytes; sent += 0x10000) {
      out.write(chunk);
    }
  }

  /** Ends all connections. */
  @Override
  public void close() {
    attackers.shutdownNow();
    for (Socket socket : List.copyOf(sockets)) {
      try {
        socket.close();
      } catch (IOException e) {
        // it is closed
      }
    }
  }
}
