package dev.sluice.jobs.controller;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.jobs.controller.OwnerChainResolver.BelievedOwners;
import dev.sluice.jobs.kinds.BuiltInIntegrations;
import dev.sluice.jobs.policy.CachedJob.Controller;
import dev.sluice.workload.record.CachedWorkload;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Which owner references are believed, by the descriptions of all kinds. */
class BelievedOwnersTest {

  private static final BelievedOwners BELIEVED =
      new BelievedOwners(BuiltInIntegrations.descriptions());
  private static final Map<String, String> EXECUTOR =
      Map.of("spark-role", "executor", "sparkoperator.k8s.io/app-name", "pi");

  private static Controller owner(String apiVersion, String kind) {
    return new Controller(apiVersion, kind, "o", "u");
  }

  @ParameterizedTest
  @CsvSource({
    "batch/v1, Job, Pod, true",
    "batch/v1, Job, JobSet, false",
    "apps/v1, StatefulSet, Pod, true",
    "apps/v1, StatefulSet, Job, false",
    "apps/v1, Deployment, Job, false",
    "apps/v1, ReplicaSet, Pod, true",
    "apps/v1, ReplicaSet, Job, false",
    "batch/v1, CronJob, Job, true",
    "v1, ReplicationController, Job, true",
    "v1, Pod, Pod, false",
    "v1, Pod, Job, false",
    "jobset.x-k8s.io/v1alpha2, JobSet, Job, true",
    "workload.codeflare.dev/v1beta2, AppWrapper, RayJob, true",
    "example.com/v1, Job, JobSet, true"
  })
  void anOwnerIsBelievedThatMayHaveCreatedTheObject(
      String apiVersion, String kind, String dependent, boolean believed) {
    Controller owner = owner(apiVersion, kind);
    assertThat(BELIEVED.of(owner, dependent, Map.of()).filter(owner::equals).isPresent())
        .isEqualTo(believed);
  }

  /** Programs in a job create jobs in its name; where pods are counted, these are charged to it. */
  @Test
  void aJobBelowAJobIsBelievedWherePodsAreCounted() {
    BelievedOwners counted = new BelievedOwners(BuiltInIntegrations.descriptions(), true);
    Controller job = owner("batch/v1", "Job");
    assertThat(counted.of(job, "Job", Map.of())).contains(job);
    assertThat(BELIEVED.of(job, "Job", Map.of())).isEmpty();
    assertThat(counted.of(job, "JobSet", Map.of())).isEmpty();
    assertThat(counted.of(owner("apps/v1", "StatefulSet"), "Job", Map.of())).isEmpty();
    assertThat(counted.of(owner("v1", "Pod"), "Job", Map.of())).isEmpty();
  }

  @Test
  void behindThePodThatOwnsAnExecutorIsItsApplication() {
    Controller pod = owner("v1", "Pod");

    assertThat(BELIEVED.of(pod, "Pod", EXECUTOR))
        .contains(new Controller("sparkoperator.k8s.io/v1beta2", "SparkApplication", "pi", ""));
    assertThat(BELIEVED.of(pod, "Job", EXECUTOR)).isEmpty();
    assertThat(BELIEVED.of(pod, "Pod", Map.of("spark-role", "executor"))).isEmpty();
    assertThat(BELIEVED.of(owner("batch/v1", "Job"), "JobSet", EXECUTOR)).isEmpty();
  }

  @Test
  void aPodOfAControllerOfTheClusterIsBelievedByTheSelectorOfAJobOnly() {
    Map<String, String> selected = Map.of("batch.kubernetes.io/controller-uid", "u");

    assertThat(BELIEVED.adopts(owner("batch/v1", "Job"), selected)).isTrue();
    assertThat(BELIEVED.adopts(owner("batch/v1", "Job"), Map.of("job-name", "u"))).isFalse();
    assertThat(BELIEVED.adopts(owner("apps/v1", "StatefulSet"), selected)).isFalse();
    assertThat(BELIEVED.adopts(owner("apps/v1", "Deployment"), selected)).isFalse();
    assertThat(BELIEVED.adopts(owner("apps/v1", "ReplicaSet"), selected)).isFalse();
    assertThat(BELIEVED.adopts(owner("ray.io/v1", "RayCluster"), Map.of())).isTrue();
  }

  @ParameterizedTest
  @CsvSource({
    "v1, Pod, true",
    "apps/v1, StatefulSet, true",
    "leaderworkerset.x-k8s.io/v1, LeaderWorkerSet, true",
    "batch/v1, Job, false",
    "v1, ConfigMap, false"
  })
  void kindsThatShareTheirWorkload(String apiVersion, String kind, boolean shares) {
    assertThat(BELIEVED.sharesWorkload(new CachedWorkload.Owner(apiVersion, kind, "o", "u")))
        .isEqualTo(shares);
  }
}
