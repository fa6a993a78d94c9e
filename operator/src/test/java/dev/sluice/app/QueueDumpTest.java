package dev.sluice.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import dev.sluice.app.module.CacheSyncWaiter;
import dev.sluice.core.engine.FlavorUsage;
import dev.sluice.core.engine.PendingPosition;
import dev.sluice.core.engine.SchedulerQueries;
import dev.sluice.core.model.Explanation.PendingExplanation;
import dev.sluice.core.model.LocalQueueId;
import dev.sluice.core.model.ResourceAmounts;
import dev.sluice.core.model.WorkloadId;
import dev.sluice.metrics.FixedViews;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import sun.misc.Signal;

class QueueDumpTest {

  private final FixedViews views =
      new FixedViews()
          .clusterQueue(
              "main",
              "",
              List.of(),
              new FlavorUsage(
                  "spot",
                  "cpu",
                  4000,
                  ResourceAmounts.UNLIMITED,
                  ResourceAmounts.UNLIMITED,
                  3000,
                  2000))
          .localQueue("team", "lq", "main");

  /** Answers about pending Workloads only. */
  private static final class Pending implements SchedulerQueries {

    private final boolean fails;

    Pending(boolean fails) {
      this.fails = fails;
    }

    @Override
    public CompletableFuture<Optional<List<PendingPosition>>> pendingInClusterQueue(
        String clusterQueue, int offset, int limit) {
      return fails
          ? CompletableFuture.failedFuture(new IllegalStateException("it ended"))
          : CompletableFuture.completedFuture(
              Optional.of(
                  List.of(
                      new PendingPosition(
                          new WorkloadId("1", "team", "first"),
                          "lq",
                          7,
                          Instant.EPOCH,
                          0,
                          0,
                          true))));
    }

    @Override
    public CompletableFuture<Optional<List<PendingPosition>>> pendingInLocalQueue(
        LocalQueueId queue, int offset, int limit) {
      throw new AssertionError("asked");
    }

    @Override
    public CompletableFuture<Optional<PendingReport>> pendingReason(WorkloadId id) {
      throw new AssertionError("asked");
    }

    @Override
    public CompletableFuture<List<PendingExplanation>> unreportedExplanations(int max) {
      throw new AssertionError("asked");
    }
  }

  @Test
  void tellsQuotaUseAndPendingWorkloads() {
    assertThat(new QueueDump(views, new Pending(false)).lines())
        .containsExactly(
            "clusterQueue=main cohort= active=3 inadmissible=4 reserving=2 admitted=1 problems=\"\"",
            "clusterQueue=main flavor=spot resource=cpu nominal=4000 borrowingLimit=unlimited"
                + " lendingLimit=unlimited reserved=3000 admitted=2000",
            "clusterQueue=main position=0 workload=team/first localQueue=lq priority=7"
                + " created=1970-01-01T00:00:00Z inadmissible=true",
            "localQueue=team/lq clusterQueue=main active=3 inadmissible=4 reserving=2 admitted=1"
                + " problems=\"\"");
  }

  @Test
  void anEngineThatDoesNotAnswerIsTold() {
    assertThat(new QueueDump(views, new Pending(true)).lines())
        .anyMatch(line -> line.startsWith("clusterQueue=main pending=unknown reason=\""));
  }

  @Test
  void theSignalWritesItToTheLog() throws Exception {
    List<ILoggingEvent> entries = new CopyOnWriteArrayList<>();
    ListAppender<ILoggingEvent> appender =
        new ListAppender<>() {
          @Override
          protected void append(ILoggingEvent entry) {
            entries.add(entry);
          }
        };
    appender.start();
    Logger log = (Logger) LoggerFactory.getLogger(QueueDump.class);
    log.addAppender(appender);
    try {
      new QueueDump(views, new Pending(false)).start(new CacheSyncWaiter(Duration.ofSeconds(1)));

      Signal.raise(new Signal("USR2"));

      await()
          .atMost(Duration.ofMinutes(1))
          .untilAsserted(
              () ->
                  assertThat(entries)
                      .extracting(ILoggingEvent::getFormattedMessage)
                      .contains(
                          "dump clusterQueue=main cohort= active=3 inadmissible=4 reserving=2"
                              + " admitted=1 problems=\"\""));
    } finally {
      log.detachAppender(appender);
    }
  }
}
