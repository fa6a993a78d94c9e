package dev.sluice.endtoend;

import dev.sluice.lab.process.OperatorProcess;
import dev.sluice.lab.process.OperatorSettings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Keeps an operator running as a kubelet would: when it has ended, it is started again. */
final class Restarts implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(Restarts.class);
  private static final Duration INTERVAL = Duration.ofMillis(250);

  private final Path kubeconfig;
  private final OperatorSettings settings;
  private final Path directory;
  private final List<String> jvmOptions;
  private final ScheduledExecutorService keeper =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().daemon().name("keeper").factory());
  private OperatorProcess operator;
  private int kills;
  private int ends;
  private long peak;
  private volatile long ledAtKill;
  private boolean closed;

  /** Starts the first one. */
  Restarts(Path kubeconfig, OperatorSettings settings, Path directory) {
    this(kubeconfig, settings, directory, List.of());
  }

  /** Starts the first one; each gets these options of the Java virtual machine. */
  Restarts(Path kubeconfig, OperatorSettings settings, Path directory, List<String> jvmOptions) {
    this.kubeconfig = kubeconfig;
    this.settings = settings;
    this.directory = directory;
    this.jvmOptions = jvmOptions;
    this.operator = start();
    keeper.scheduleWithFixedDelay(
        this::keep, INTERVAL.toMillis(), INTERVAL.toMillis(), TimeUnit.MILLISECONDS);
  }

  private OperatorProcess start() {
    return OperatorProcess.start(
        "operator", kubeconfig, settings, directory, List.of(), jvmOptions);
  }

  private void keep() {
    try {
      watch();
    } catch (RuntimeException e) {
      LOG.warn("the operator was not started again", e);
    }
  }

  /**
   * Starts it again if it has ended by itself, as one does that couldn't renew its lease. It is
   * watched all the time; who calls this doesn't wait for that.
   */
  synchronized void watch() {
    peak = Math.max(peak, operator.peakResidentBytes());
    if (!closed && !operator.isAlive()) {
      ends++;
      operator = start();
    }
  }

  /** Kills it as {@code kill -9} does, and starts it again. */
  synchronized void kill() {
    watch();
    operator.kill();
    kills++;
    ledAtKill = led();
    if (!closed) {
      operator = start();
    }
  }

  /**
   * Returns when one leads that was started after the last kill, or when none came to that within
   * the limit: faults may be in its way.
   */
  void awaitLeading(Duration limit) {
    try {
      Awaitility.await().atMost(limit).pollInterval(INTERVAL).until(() -> led() > ledAtKill);
    } catch (ConditionTimeoutException e) {
      LOG.info("none leads within {}", limit, e);
    }
  }

  /** How often one began to lead. */
  private long led() {
    try (Stream<String> lines = Files.lines(log())) {
      return lines.filter(line -> line.contains("operator leading=true")).count();
    } catch (NoSuchFileException notYet) {
      // The first process makes the file.
      return 0;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** How often one was killed. */
  synchronized int kills() {
    return kills;
  }

  /** How often {@link #watch} and {@link #kill} found one that had ended by itself. */
  synchronized int ends() {
    return ends;
  }

  /** The most resident memory of any of them in bytes, as seen by {@link #watch}. */
  synchronized long peakResidentBytes() {
    return peak;
  }

  /** The log of all of them. */
  Path log() {
    return directory.resolve("operator.log");
  }

  @Override
  public synchronized void close() {
    closed = true;
    keeper.shutdownNow();
    operator.close();
  }
}
