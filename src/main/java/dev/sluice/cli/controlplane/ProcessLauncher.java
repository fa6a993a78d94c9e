package dev.sluice.cli.controlplane;

import dev.sluice.cli.controlplane.binaries.Program;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Starts programs so that they outlive this process only when that is wished. A small shell stands
 * between: it holds a pipe to this process, and kills the program when the pipe breaks, which it
 * does even when this process is killed.
 */
final class ProcessLauncher {

  private final Lifetime lifetime;

  ProcessLauncher(Lifetime lifetime) {
    this.lifetime = lifetime;
  }

  /** Starts a program whose output is appended to a log file. */
  ManagedProcess start(Program program, List<String> command, Path log) {
    List<String> line = new ArrayList<>();
    ownSession().ifPresent(line::add);
    line.addAll(List.of("sh", "-c", script(), "sh", log.toString()));
    line.addAll(command);
    try {
      Process shell =
          new ProcessBuilder(line).redirectError(ProcessBuilder.Redirect.DISCARD).start();
      long pid = readPid(shell, program);
      return switch (lifetime) {
        case WITH_THIS_PROCESS -> ManagedProcess.supervised(program, pid, log, shell);
        case UNTIL_STOPPED -> ManagedProcess.found(program, pid, log);
      };
    } catch (IOException e) {
      throw new ControlPlaneException("can't start " + program.file() + ": " + e, e);
    }
  }

  private static long readPid(Process shell, Program program) throws IOException {
    BufferedReader reader = shell.inputReader(StandardCharsets.US_ASCII);
    String line = reader.readLine();
    if (line == null) {
      throw new ControlPlaneException("can't start " + program.file() + ": the shell said nothing");
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

  /** Keeps the terminal's Ctrl-C away from the programs, where the system has the means. */
  private static Optional<String> ownSession() {
    return List.of("/usr/bin/setsid", "/bin/setsid").stream()
        .filter(file -> Files.isExecutable(Path.of(file)))
        .findFirst();
  }
}
