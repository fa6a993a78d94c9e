package dev.sluice.endtoend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sluice.lab.audit.AuditReport;
import dev.sluice.lab.audit.AuditReport.Rule;
import dev.sluice.lab.audit.AuditedKind;
import dev.sluice.lab.audit.DuplicateRunDetector;
import dev.sluice.lab.audit.StoreHistory;
import dev.sluice.lab.audit.WatchRecorder;
import dev.sluice.testing.Workload;
import io.fabric8.kubernetes.api.model.Condition;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Two worker clusters of an installation under attack. One of them is cut off while Jobs run there,
 * and its operator is killed meanwhile. What happens in both is recorded by ways that are never
 * cut.
 */
final class WorkersUnderAttack implements AutoCloseable {

  /** In all clusters; the Jobs of its LocalQueue run in the workers. */
  static final String NAMESPACE = MultiClusterLoad.NAMESPACE;

  private static final Logger LOG = LoggerFactory.getLogger(WorkersUnderAttack.class);
  private static final int WORKERS = 2;

  private final KubernetesClient manager;
  private final Duration limit;
  private final MultiClusterLoad load;
  private final DuplicateRunDetector runs = new DuplicateRunDetector();
  private final List<WatchRecorder> recorders = new ArrayList<>();

  /**
   * Starts the workers, and connects the manager to them.
   *
   * @param manager has an operator that leads
   * @param limit for whatever is waited for
   */
  WorkersUnderAttack(KubernetesClient manager, Duration limit) {
    this.manager = manager;
    this.limit = limit;
    this.load = new MultiClusterLoad(manager, WORKERS, StoreHistory.AS_JSON, StoreHistory.KEPT);
    load.setUp();
    for (MultiClusterLoad.Worker worker : load.workers()) {
      recorders.add(
          new WatchRecorder(
                  worker.client(),
                  InstantSource.system(),
                  change -> runs.seen(worker.name(), change),
                  Set.of(AuditedKind.POD))
              .start());
    }
  }

  private MultiClusterLoad.Worker victim() {
    return load.worker(0);
  }

  /** Cuts a worker off in which a Job runs, and kills and starts its operator. */
  void partition() {
    eventually("a Job in " + victim().name(), this::victimRunsSomething);
    victim().cut();
    victim().restartOperator();
  }

  private boolean victimRunsSomething() {
    return victim().client().pods().inNamespace(NAMESPACE).list().getItems().stream()
        .anyMatch(pod -> "Running".equals(pod.getStatus().getPhase()));
  }

  /** Joins the two again once the manager has given up all that ran in the worker. */
  void mend() {
    eventually("the manager to give up " + victim().name(), () -> !isTrusted(victim().name()));
    victim().mend();
  }

  /** Whether a Workload that is not finished is said to run there. */
  private boolean isTrusted(String worker) {
    return manager.resources(Workload.class).inNamespace(NAMESPACE).list().getItems().stream()
        .flatMap(it -> Optional.ofNullable(it.getStatus()).stream())
        .filter(status -> status.conditions().stream().noneMatch(WorkersUnderAttack::isFinished))
        .anyMatch(status -> worker.equals(status.clusterName()));
  }

  private static boolean isFinished(Condition condition) {
    return condition.getType().equals("Finished") && condition.getStatus().equals("True");
  }

  /**
   * Asserts, once all Jobs are complete, that nothing is left in the workers, that no Job ran in
   * both at once, that each kept these rules, and that no operator there ended by itself.
   */
  void judge(Set<Rule> rules) {
    eventually("nothing left in workers", () -> MultiClusterAudit.leftovers(load).isEmpty());
    assertThat(runs.violations()).isEmpty();
    assertThat(recorders).allMatch(recorder -> recorder.gap().isEmpty());
    for (MultiClusterLoad.Worker worker : load.workers()) {
      AuditReport report = worker.history().audit();
      LOG.info("{}: {}", worker.name(), report.summary());
      assertThat(report.jobs()).isNotEmpty();
      assertThat(report.violations())
          .filteredOn(violation -> rules.contains(violation.rule()))
          .isEmpty();
    }
    assertThat(load.workers()).allMatch(MultiClusterLoad.Worker::hasOperator);
  }

  private void eventually(String what, Callable<Boolean> condition) {
    await(what)
        .atMost(limit)
        .pollInterval(Duration.ofMillis(500))
        .ignoreExceptionsInstanceOf(KubernetesClientException.class)
        .until(condition);
  }

  @Override
  public void close() {
    recorders.forEach(WatchRecorder::close);
    load.close();
  }
}
