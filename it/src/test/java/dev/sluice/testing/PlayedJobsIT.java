package dev.sluice.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.client.dsl.ScalableResource;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Jobs run on nodes that don't exist. */
@ControlPlaneTest
@Tag(BuildBreadth.NIGHTLY)
class PlayedJobsIT {

  private static final Duration LIMIT = Duration.ofMinutes(5);

  @Test
  void aSuspendedJobHasNoPodsAndRunsToItsEndOnceItIsUnsuspended(TestCluster cluster) {
    cluster.apply(PlayedJobsIT.class, "suspended-job.yaml");
    ScalableResource<Job> job = job(cluster, "counted");
    await().atMost(LIMIT).until(() -> hasCondition(job.get(), "Suspended"));
    assertThat(pods(cluster)).isEmpty();

    job.edit(suspended -> suspended.edit().editSpec().withSuspend(false).endSpec().build());

    await().atMost(LIMIT).until(() -> hasCondition(job.get(), "Complete"));
    assertThat(job.get().getStatus().getSucceeded()).isEqualTo(3);
    assertThat(pods(cluster))
        .hasSize(3)
        .allSatisfy(pod -> assertThat(pod.getSpec().getNodeName()).isNotEmpty());
  }

  @ParameterizedTest(name = "{0}: {1} seconds")
  @CsvSource({
    "annotated, 3",
    "sleeping, 2",
    "sleeping-in-a-shell, 2",
    "argument, 2",
    "plain-number, 2",
    "malformed, 1",
    "default, 1"
  })
  void aPodRunsAsLongAsItsAnnotationOrItsSleepSays(String stem, int seconds, TestCluster cluster) {
    cluster.apply(PlayedJobsIT.class, "run-times/" + stem + ".yaml");
    ScalableResource<Job> job = job(cluster, "timed");

    await().atMost(LIMIT).until(() -> hasCondition(job.get(), "Complete"));

    var terminated =
        pods(cluster)
            .getFirst()
            .getStatus()
            .getContainerStatuses()
            .getFirst()
            .getState()
            .getTerminated();
    Duration ran =
        Duration.between(
            Instant.parse(terminated.getStartedAt()), Instant.parse(terminated.getFinishedAt()));
    // The server's times are whole seconds.
    assertThat(ran).isBetween(Duration.ofSeconds(seconds - 1), Duration.ofSeconds(seconds + 2));
  }

  @Test
  void aPodWithAnExitCodeFails(TestCluster cluster) {
    cluster.apply(PlayedJobsIT.class, "failing-job.yaml");

    ScalableResource<Job> job = job(cluster, "failing");

    await().atMost(LIMIT).until(() -> hasCondition(job.get(), "Failed"));
    assertThat(pods(cluster).getFirst().getStatus().getContainerStatuses().getFirst())
        .extracting(status -> status.getState().getTerminated().getExitCode())
        .isEqualTo(3);
  }

  private static ScalableResource<Job> job(TestCluster cluster, String name) {
    return cluster.client().batch().v1().jobs().inNamespace(cluster.namespace()).withName(name);
  }

  private static List<Pod> pods(TestCluster cluster) {
    return cluster.client().pods().inNamespace(cluster.namespace()).list().getItems();
  }

  private static boolean hasCondition(HasMetadata object, String type) {
    return object instanceof Job job
        && job.getStatus() != null
        && job.getStatus().getConditions().stream()
            .anyMatch(
                condition ->
                    condition.getType().equals(type) && condition.getStatus().equals("True"));
  }
}
