package dev.sluice.endtoend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sluice.lab.controlplane.ControlPlane;
import dev.sluice.lab.process.OperatorSettings;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.api.model.batch.v1.JobBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Jobs go to workers while links are cut, the manager is killed and Secrets are changed, at moments
 * that a seed chooses. No Job runs twice at once, none is lost, each finishes once and alike on
 * both sides, and nothing is left in workers.
 */
final class MultiClusterFaults {

  private static final Logger LOG = LoggerFactory.getLogger(MultiClusterFaults.class);
  private static final Duration LOST_TIMEOUT = Duration.ofSeconds(20);
  private static final Duration QUIET = Duration.ofMinutes(6);
  private static final long SEED = 20_26;

  /** What happens; each of them once before any of them again. */
  private enum Fault {
    /** Longer than it takes to give a worker up. */
    LONG_CUT,
    /** Shorter. */
    SHORT_CUT,
    /** Of the manager's operator. */
    KILL,
    /** Of a Secret with a kubeconfig. */
    ROTATION,
    /** Of a worker's API server; not in the short run. */
    RESTART
  }

  private MultiClusterFaults() {}

  /** How much is done. */
  record Size(int workers, int jobs, Duration duration, boolean apiServersToo) {}

  /** Has it all happen in a control plane that nothing else happens in, and looks at what came. */
  static void endure(Size size, ControlPlane controlPlane, TestCluster cluster) throws Exception {
    long seed = Long.getLong("sluice.seed", SEED);
    LOG.info("seed={} {}", seed, size);
    OperatorSettings settings =
        OperatorSettings.onFreePorts(new SecureRandom())
            .withLeases(Duration.ofSeconds(4), Duration.ofSeconds(3), Duration.ofMillis(500))
            .with(
                """
                multiKueue:
                  workerLostTimeout: %ds
                  gcInterval: 5s
                  dispatcherName: sluice.dev/multikueue-dispatcher-best-fit
                """
                    .formatted(LOST_TIMEOUT.toSeconds()));
    try (Restarts manager = new Restarts(cluster.kubeconfig(), settings, controlPlane.logs())) {
      manager.awaitLeading(Duration.ofMinutes(1));
      try (MultiClusterLoad multiClusterLoad =
              new MultiClusterLoad(cluster.client(), size.workers()).setUp();
          MultiClusterAudit audit = new MultiClusterAudit(cluster.client(), multiClusterLoad);
          ScheduledExecutorService timer = Executors.newScheduledThreadPool(4)) {
        timer.scheduleWithFixedDelay(manager::watch, 1, 1, TimeUnit.SECONDS);
        submit(cluster.client(), size, new Random(seed), timer);
        disturb(multiClusterLoad, manager, size, new Random(seed + 1), timer);
        multiClusterLoad.workers().forEach(MultiClusterLoad.Worker::mend);

        await("all Jobs to be complete")
            .atMost(QUIET)
            .pollInterval(Duration.ofSeconds(1))
            .untilAsserted(() -> assertThat(audit.complete()).isEqualTo(size.jobs()));
        await("nothing to be left in workers")
            .atMost(QUIET)
            .pollInterval(Duration.ofSeconds(1))
            .untilAsserted(
                () -> assertThat(MultiClusterAudit.leftovers(multiClusterLoad)).isEmpty());
        timer.shutdownNow();
        LOG.info(
            "kills={} ran again after they had ended unseen: {}",
            manager.kills(),
            audit.endedTwice());
        assertThat(audit.faults(size.jobs())).isEmpty();
      }
    }
  }

  /** Spread over two thirds of the time. */
  private static void submit(
      KubernetesClient manager, Size size, Random random, ScheduledExecutorService timer) {
    for (int i = 0; i < size.jobs(); i++) {
      Job job = job(i, 1 + random.nextInt(3), 1 + random.nextInt(6));
      long at = size.duration().toMillis() * 2 / 3 * i / size.jobs();
      var unused =
          timer.schedule(
              () ->
                  await("submission")
                      .atMost(Duration.ofMinutes(5))
                      .pollDelay(Duration.ZERO)
                      .pollInterval(Duration.ofMillis(500))
                      .ignoreExceptions()
                      .until(() -> isThere(manager, job)),
              at,
              TimeUnit.MILLISECONDS);
    }
  }

  /** The webhook is away while the manager is. */
  private static boolean isThere(KubernetesClient manager, Job job) {
    if (manager.resource(job).get() == null) {
      manager.resource(job).create();
    }
    return true;
  }

  private static Job job(int number, int pods, int seconds) {
    return new JobBuilder()
        .withNewMetadata()
        .withName("job-" + number)
        .withNamespace(MultiClusterLoad.NAMESPACE)
        .addToLabels("kueue.x-k8s.io/queue-name", "main")
        .endMetadata()
        .withNewSpec()
        .withParallelism(pods)
        .withCompletions(pods)
        .withNewTemplate()
        .withNewMetadata()
        .addToAnnotations("sluice.dev/run-for", seconds + "s")
        .endMetadata()
        .withNewSpec()
        .withRestartPolicy("Never")
        .withTerminationGracePeriodSeconds(1L)
        .addNewContainer()
        .withName("main")
        .withImage("registry.example/test/image:1")
        .withNewResources()
        .addToRequests("cpu", new Quantity("1"))
        .endResources()
        .endContainer()
        .endSpec()
        .endTemplate()
        .endSpec()
        .build();
  }

  private static void disturb(
      MultiClusterLoad multiClusterLoad,
      Restarts manager,
      Size size,
      Random random,
      ScheduledExecutorService timer)
      throws InterruptedException, ExecutionException {
    Instant end = InstantSource.system().instant().plus(size.duration());
    List<Fault> faults = new ArrayList<>();
    while (InstantSource.system().instant().isBefore(end)) {
      pause(timer, 2_000 + random.nextInt(5_000));
      if (faults.isEmpty()) {
        faults.addAll(List.of(Fault.values()));
        Collections.shuffle(faults, random);
      }
      Fault fault = faults.removeFirst();
      MultiClusterLoad.Worker worker = multiClusterLoad.worker(random.nextInt(size.workers()));
      LOG.info("fault={} worker={}", fault, worker.name());
      switch (fault) {
        case LONG_CUT -> cut(worker, 22 + random.nextInt(15), timer);
        case SHORT_CUT -> cut(worker, 1 + random.nextInt(6), timer);
        case KILL -> manager.kill();
        case ROTATION -> multiClusterLoad.rotateSecret(worker);
        case RESTART -> {
          if (size.apiServersToo()) {
            worker.restartApiServer();
          }
        }
      }
    }
  }

  private static void cut(
      MultiClusterLoad.Worker worker, int seconds, ScheduledExecutorService timer) {
    if (!worker.isCut()) {
      worker.cut();
      var unused = timer.schedule(worker::mend, seconds, TimeUnit.SECONDS);
    }
  }

  private static void pause(ScheduledExecutorService timer, int millis)
      throws InterruptedException, ExecutionException {
    timer.schedule(() -> {}, millis, TimeUnit.MILLISECONDS).get();
  }
}
