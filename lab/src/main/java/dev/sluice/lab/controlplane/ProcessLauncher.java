package dev.sluice.lab.controlplane;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Starts programs that outlive this process only on request. A small shell runs in between: it
 * holds a pipe to this process and kills the program when the pipe breaks, which happens even when
 * this process is killed.
 */
public final class ProcessLauncher {

  private final Lifetime lifetime;

  /** Creates a launcher for programs of this lifetime. */
  public ProcessLauncher(Lifetime lifetime) {
    this.lifetime = lifetime;
  }

  /**
   * Starts a program whose output is appended to a log file.
   *
   * @param name name of the program in messages
   * @throws ControlPlaneException when it cannot be started
   */
  public ManagedProcess start(String name, List<String> command, Path log) {
    return start(name, command, log, Map.of());
  }

  /**
   * The same with variables that are added to this process's environment, or replace those of the
   * same name.
   *
   * @throws ControlPlaneException when it cannot be started
   */
  public ManagedProcess start(
      String name, List<String> command, Path log, Map<String, String> environment) {
    List<String> line = new ArrayList<>();
    ownSession().ifPresent(line::add);
    line.addAll(List.of("sh", "-c", script(), "sh", log.toString()));
    line.addAll(command);
    try {
      ProcessBuilder builder =
          new ProcessBuilder(line).redirectError(ProcessBuilder.Redirect.DISCARD);
      builder.environment().putAll(environment);
      Process shell = builder.start();
      long pid = readPid(shell, name);
      return switch (lifetime) {
        case WITH_THIS_PROCESS -> ManagedProcess.supervised(name, pid, log, shell);
        case UNTIL_STOPPED -> ManagedProcess.found(name, pid, log);
      };
    } catch (IOException e) {
      throw new ControlPlaneException("can't start " + name + ": " + e, e);
    }
  }

  private static long readPid(Process shell, String name) throws IOException {
    BufferedReader reader = shell.inputReader(StandardCharsets.US_ASCII);
    String line = reader.readLine();
    if (line == null) {
      throw new ControlPlaneException("can't start " + name + ": the shell said nothing");
    }
    return Long.parseLong(line);
  }

  private String script() {
    String file =
        switch (lifetime) {
          case WITH_THIS_PROCESS -> "supervise.sh";
          case UNTIL_STOPPED -> "detach.sh";
        };
    try (InputStream in = ProcessLauncher.class.getResourceAsStream(file)) {
      if (in == null) {
        throw new IllegalStateException(file + " is not on the class path");
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Runs the program in its own session, where the system supports it, so that the terminal's
   * Ctrl-C does not reach it.
   */
  private static Optional<String> ownSession() {
    return List.of("/usr/bin/setsid", "/bin/setsid").stream()
        .filter(file -> Files.isExecutable(Path.of(file)))
        .findFirst();
  }
}
