package dev.sluice.checks.multikueue;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** A proxy for encrypted connections that keeps what it was asked (RFC 9110, CONNECT). */
final class ConnectProxy implements AutoCloseable {

  private final ServerSocket listener;
  private final List<String> asked = new CopyOnWriteArrayList<>();
  private final List<Socket> sockets = new CopyOnWriteArrayList<>();

  private ConnectProxy(ServerSocket listener) {
    this.listener = listener;
  }

  static ConnectProxy start() throws IOException {
    ConnectProxy proxy =
        new ConnectProxy(new ServerSocket(0, 50, InetAddress.getLoopbackAddress()));
    Thread.ofVirtual().start(proxy::accept);
    return proxy;
  }

  int port() {
    return listener.getLocalPort();
  }

  /** The requests, each with its headers. */
  List<String> asked() {
    return asked;
  }

  private void accept() {
    while (!listener.isClosed()) {
      try {
        Socket client = listener.accept();
        sockets.add(client);
        Thread.ofVirtual().start(() -> serve(client));
      } catch (IOException closed) {
        return;
      }
    }
  }

  private void serve(Socket client) {
    try {
      StringBuilder request = new StringBuilder();
      InputStream in = client.getInputStream();
      while (request.indexOf("\r\n\r\n") < 0) {
        int next = in.read();
        if (next < 0) {
          return;
        }
        request.append((char) next);
      }
      asked.add(request.toString());
      String[] target = request.toString().split(" ", 3)[1].split(":", 2);
      Socket server = new Socket(target[0], Integer.parseInt(target[1]));
      sockets.add(server);
      client.getOutputStream().write("HTTP/1.1 200 OK\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
      Thread.ofVirtual().start(() -> copy(server, client));
      copy(client, server);
    } catch (IOException closed) {
      close(client);
    }
  }

  private static void copy(Socket from, Socket to) {
    try {
      from.getInputStream().transferTo(to.getOutputStream());
    } catch (IOException closed) {
      close(from);
    }
    close(to);
  }

  private static void close(Socket socket) {
    try {
      socket.close();
    } catch (IOException alreadyGone) {
      throw new java.io.UncheckedIOException(alreadyGone);
    }
  }

  @Override
  public void close() throws IOException {
    listener.close();
    for (Socket each : sockets) {
      each.close();
    }
  }
}
