package dev.sluice.endtoend;

import dev.sluice.cli.process.OperatorProcess;
import dev.sluice.cli.process.OperatorSettings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;
import org.awaitility.core.ConditionTimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Keeps an operator running as a kubelet would: when it has ended, it is started again. */
final class Restarts implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(Restarts.class);
  private static final Duration INTERVAL = Duration.ofMillis(100);

  private final Path kubeconfig;
  private final OperatorSettings settings;
  private final Path directory;
  private OperatorProcess operator;
  private int kills;
  private boolean closed;

  /** Starts the first one. */
  Restarts(Path kubeconfig, OperatorSettings settings, Path directory) {
    this.kubeconfig = kubeconfig;
    this.settings = settings;
    this.directory = directory;
    this.operator = start();
  }

  private OperatorProcess start() {
    return OperatorProcess.start("operator", kubeconfig, settings, directory, List.of());
  }

  /** Starts it again if it has ended by itself. */
  synchronized void watch() {
    if (!closed && !operator.isAlive()) {
      operator = start();
    }
  }

  /** Kills it as {@code kill -9} does, and starts it again. */
  synchronized void kill() {
    if (operator.isAlive()) {
      operator.kill();
      kills++;
    }
    watch();
  }

  /** Returns when it is ready, or has not become so within the limit: faults may be in its way. */
  void awaitReady(Duration limit) {
    try {
      Awaitility.await().atMost(limit).pollInterval(INTERVAL).until(() -> current().isReady());
    } catch (ConditionTimeoutException e) {
      LOG.info("not ready within {}", limit, e);
    }
  }

  private synchronized OperatorProcess current() {
    return operator;
  }

  /** How often one that was alive was killed. */
  synchronized int kills() {
    return kills;
  }

  /** The log of all of them. */
  Path log() {
    return directory.resolve("operator.log");
  }

  @Override
  public synchronized void close() {
    closed = true;
    operator.close();
  }
}
