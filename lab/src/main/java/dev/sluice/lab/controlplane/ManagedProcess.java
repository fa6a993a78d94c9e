package dev.sluice.lab.controlplane;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** A running or ended program that {@link ProcessLauncher} started. */
public final class ManagedProcess {

  private final String name;
  private final long pid;
  private final Instant startedAt;
  private final Path log;
  private final @Nullable ProcessHandle handle;

  /**
   * Must stay reachable: the pipe to the shell closes with this object, and the shell then kills
   * the program.
   */
  private final @Nullable Process shell;

  private ManagedProcess(String name, long pid, Path log, @Nullable Process shell) {
    this.name = name;
    this.pid = pid;
    this.log = log;
    this.shell = shell;
    this.handle = ProcessHandle.of(pid).orElse(null);
    this.startedAt =
        handle == null ? Instant.EPOCH : handle.info().startInstant().orElse(Instant.EPOCH);
  }

  static ManagedProcess supervised(String name, long pid, Path log, Process shell) {
    return new ManagedProcess(name, pid, log, shell);
  }

  static ManagedProcess found(String name, long pid, Path log) {
    return new ManagedProcess(name, pid, log, null);
  }

  /** The name of the program, such as {@code kube-apiserver}. */
  public String name() {
    return name;
  }

  /** The process id of the program itself. */
  public long pid() {
    return pid;
  }

  /** When it was started; the epoch if it had ended before the time could be read. */
  public Instant startedAt() {
    return startedAt;
  }

  /** The log file of its output. */
  public Path log() {
    return log;
  }

  /** Whether the process exists; a suspended process does. */
  public boolean isAlive() {
    return handle != null && handle.isAlive() && !ProcessFiles.isZombie(pid);
  }

  /** Processor time so far, of all its threads, in user and system mode. */
  public Duration cpuTime() {
    return handle == null ? Duration.ZERO : handle.info().totalCpuDuration().orElse(Duration.ZERO);
  }

  /** Peak resident memory in bytes; 0 where the system does not report it. */
  public long peakResidentBytes() {
    return ProcessFiles.peakResidentBytes(pid);
  }

  /** Suspends the process until {@link #resume}; it keeps its memory and its connections. */
  public void pause() {
    signal("STOP");
  }

  /** Resumes the process after {@link #pause}. */
  public void resume() {
    signal("CONT");
  }

  /** Requests termination without waiting. */
  public void terminate() {
    if (handle != null) {
      handle.destroy();
    }
  }

  /** Kills the process, as a crash would, without waiting. */
  public void kill() {
    if (handle != null) {
      handle.destroyForcibly();
    }
  }

  /** Waits for the end of the process; returns whether it has ended within the limit. */
  public boolean awaitEnd(Duration limit) {
    try {
      if (shell != null) {
        // The shell ends when the whole program is gone. A process whose first thread has ended may
        // look dead and still hold its port.
        return shell.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS);
      }
      if (!isAlive()) {
        return true;
      }
      if (handle != null) {
        handle.onExit().get(limit.toMillis(), TimeUnit.MILLISECONDS);
      }
      return true;
    } catch (TimeoutException e) {
      return !isAlive();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ControlPlaneException("interrupted while waiting for " + name, e);
    } catch (ExecutionException e) {
      throw new IllegalStateException("waiting for " + name + " failed", e);
    }
  }

  /**
   * The exit code of a program that has ended.
   *
   * @return 128 and the number of the signal if one has ended it; empty if it runs, or was started
   *     by a process that is gone
   */
  public OptionalInt exitCode() {
    return shell == null || shell.isAlive()
        ? OptionalInt.empty()
        : OptionalInt.of(shell.exitValue());
  }

  /** Completes when the process has ended, in whatever way. */
  public CompletableFuture<ManagedProcess> onEnd() {
    if (shell != null) {
      return shell.onExit().thenApply(ended -> this);
    }
    return handle == null
        ? CompletableFuture.completedFuture(this)
        : handle.onExit().thenApply(ended -> this);
  }

  /** The same, with a message that has the end of its log. */
  public CompletableFuture<String> onEndTold() {
    return onEnd()
        .thenApply(
            ended -> "%s ended; the end of %s:%n%s".formatted(ended, log(), Poller.tail(log())));
  }

  private void signal(String signal) {
    try {
      Process kill = new ProcessBuilder("sh", "-c", "kill -" + signal + " " + pid).start();
      if (kill.waitFor() != 0) {
        throw new ControlPlaneException(
            "can't send %s to %s, process %d".formatted(signal, name, pid));
      }
    } catch (IOException e) {
      throw new ControlPlaneException("can't run a shell", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new ControlPlaneException("interrupted while signalling " + name, e);
    }
  }

  @Override
  public String toString() {
    return name + "(" + pid + ")";
  }

  /** Process information of Linux from {@code /proc}; empty on other systems. */
  static final class ProcessFiles {

    private static final String PEAK = "VmHWM:";

    private ProcessFiles() {}

    /** Whether the process has ended and its parent has not reaped it. */
    static boolean isZombie(long pid) {
      String stat = read(pid, "stat");
      // format: pid (name, which may contain any character) state ...
      int end = stat.lastIndexOf(')');
      return end >= 0 && stat.startsWith(" Z", end + 1);
    }

    static long peakResidentBytes(long pid) {
      return read(pid, "status")
          .lines()
          .filter(line -> line.startsWith(PEAK))
          .map(line -> line.substring(PEAK.length()).replace("kB", "").strip())
          .mapToLong(kilobytes -> Long.parseLong(kilobytes) * 1024)
          .findFirst()
          .orElse(0);
    }

    private static String read(long pid, String file) {
      try {
        return Files.readString(Path.of("/proc", Long.toString(pid), file));
      } catch (NoSuchFileException e) {
        return "";
      } catch (IOException e) {
        // a process that ends during the read causes "No such process"
        if (!Files.exists(Path.of("/proc", Long.toString(pid)))) {
          return "";
        }
        throw new UncheckedIOException(e);
      }
    }
  }
}
