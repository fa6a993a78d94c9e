package dev.sluice.ledger;

import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.UserPrincipalNotFoundException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** A PostgreSQL server on this machine, where its programs are; tests are skipped elsewhere. */
final class PostgresServer implements AutoCloseable {

  private static final String USER = "postgres";

  private final Path directory;
  private final int port;

  private PostgresServer(Path directory, int port) {
    this.directory = directory;
    this.port = port;
  }

  /** A new server in this directory; it does not run as root, which it refuses to. */
  static PostgresServer start(Path directory, String password)
      throws IOException, InterruptedException {
    for (String program : List.of("initdb", "pg_ctl", "postgres", "setpriv")) {
      assumeThat(onPath(program)).as(program + " on the path").isTrue();
    }
    Path data = directory.resolve("data");
    Files.createDirectories(data);
    Path secret = Files.writeString(directory.resolve("password"), password);
    if (isRoot()) {
      try {
        var owner =
            data.getFileSystem().getUserPrincipalLookupService().lookupPrincipalByName(USER);
        Files.setOwner(data, owner);
        Files.setOwner(secret, owner);
        Files.setOwner(directory, owner);
      } catch (UserPrincipalNotFoundException none) {
        assumeThat(false).as("a user " + USER).isTrue();
      }
    }
    int port;
    try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      port = free.getLocalPort();
    }
    PostgresServer server = new PostgresServer(directory, port);
    run(
        directory,
        "initdb",
        "-D",
        data.toString(),
        "-U",
        "ledger",
        "--auth=scram-sha-256",
        "--pwfile=" + secret,
        "-N");
    server.begin();
    return server;
  }

  /** Starts the server, with what it had. */
  void begin() throws IOException, InterruptedException {
    run(
        directory,
        "pg_ctl",
        "-D",
        directory.resolve("data").toString(),
        "-w",
        "-l",
        directory.resolve("data/server.log").toString(),
        "-o",
        "-h 127.0.0.1 -p " + port + " -k " + directory.resolve("data") + " -F",
        "start");
  }

  /** Stops the server at once. */
  void end() throws IOException, InterruptedException {
    run(directory, "pg_ctl", "-D", directory.resolve("data").toString(), "-m", "immediate", "stop");
  }

  String url() {
    return "jdbc:postgresql://127.0.0.1:" + port + "/postgres";
  }

  private static boolean onPath(String program) {
    return Stream.of(Optional.ofNullable(System.getenv("PATH")).orElse("").split(":"))
        .anyMatch(directory -> Files.isExecutable(Path.of(directory).resolve(program)));
  }

  private static boolean isRoot() throws IOException {
    return Files.getOwner(Path.of("/proc/self"), LinkOption.NOFOLLOW_LINKS)
        .getName()
        .equals("root");
  }

  private static void run(Path directory, String... command)
      throws IOException, InterruptedException {
    List<String> line = new ArrayList<>();
    if (isRoot()) {
      line.addAll(List.of("setpriv", "--reuid=" + USER, "--regid=" + USER, "--clear-groups"));
    }
    line.addAll(List.of(command));
    Path output = Files.createTempFile("postgres", ".log");
    Process process =
        new ProcessBuilder(line)
            .directory(directory.toFile())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    int code = process.waitFor();
    String text = Files.readString(output);
    Files.delete(output);
    if (code != 0) {
      throw new IOException(String.join(" ", command) + " ended with " + code + ": " + text);
    }
  }

  @Override
  public void close() throws IOException, InterruptedException {
    end();
  }
}
