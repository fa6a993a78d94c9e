package dev.sluice.lab.controlplane;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** One running, or ended, program that a {@link ProcessLauncher} started. */
public final class ManagedProcess {

  private final String name;
  private final long pid;
  private final Instant startedAt;
  private final Path log;
  private final @Nullable ProcessHandle handle;

  /** Kept because its death is the program's: the pipe to it closes with this object. */
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

  /** What runs, such as {@code kube-apiserver}. */
  public String name() {
    return name;
  }

  /** The process id of the program itself. */
  public long pid() {
    return pid;
  }

  /** When it was started; the epoch when it had ended before that could be read. */
  public Instant startedAt() {
    return startedAt;
  }

  /** The file its output goes to. */
  public Path log() {
    return log;
  }

  /** Whether it runs (a suspended process does). */
  public boolean isAlive() {
    return handle != null && handle.isAlive() && !ProcessFiles.isZombie(pid);
  }

  /** Processor time used so far, of all its threads, in user and system mode. */
  public Duration cpuTime() {
    return handle == null ? Duration.ZERO : handle.info().totalCpuDuration().orElse(Duration.ZERO);
  }

  /** Most memory that was resident at a time, in bytes; 0 where the system doesn't say. */
  public long peakResidentBytes() {
    return ProcessFiles.peakResidentBytes(pid);
  }

  /** Stops it from running until {@link #resume}; it keeps its memory and its connections. */
  public void pause() {
    signal("STOP");
  }

  /** Lets it run on after {@link #pause}. */
  public void resume() {
    signal("CONT");
  }

  /** Asks it to end, without waiting. */
  public void terminate() {
    if (handle != null) {
      handle.destroy();
    }
  }

  /** Ends it at once, as a crash would, without waiting. */
  public void kill() {
    if (handle != null) {
      handle.destroyForcibly();
    }
  }

  /** Waits for its end, at most so long; returns whether it has ended. */
  public boolean awaitEnd(Duration limit) {
    try {
      if (shell != null) {
        // The shell ends when the whole program is gone. One that only looks dead, because its
        // first thread has ended, may still hold its port.
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
}
