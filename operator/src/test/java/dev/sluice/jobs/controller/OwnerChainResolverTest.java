package dev.sluice.jobs.controller;

import static dev.sluice.jobs.GivenJob.job;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.KueueConstants;
import dev.sluice.jobs.GivenJob;
import dev.sluice.jobs.GivenObject;
import dev.sluice.jobs.ScriptedApi;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kinds.BuiltInIntegrations;
import dev.sluice.jobs.kinds.batch.BatchJob;
import dev.sluice.jobs.kinds.pod.PodIndex;
import dev.sluice.jobs.kinds.pod.SinglePod;
import dev.sluice.jobs.policy.CachedJob;
import dev.sluice.jobs.policy.CachedJob.CachedJobParser;
import dev.sluice.jobs.policy.JobOptions;
import dev.sluice.jobs.policy.JobPolicy.ManagementStatus;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Which owners of a job are believed to hold its quota. */
class OwnerChainResolverTest {

  private static final JobKind GROUPED = JobKind.of("example.com", "v1", "Grouped");

  private final IntegrationRegistry registry =
      new IntegrationRegistry(
          BuiltInIntegrations.all(new PodIndex()), List.of("batch/job", "pod"), gate -> true);
  private final OwnerChainResolver resolver =
      new OwnerChainResolver(JobOptions.defaults("kueue-system"), new ScriptedApi(), registry);

  private static CachedJob ownedBy(String apiVersion, String kind, String uid) {
    GivenJob dependent = job();
    dependent
        .object()
        .withObjectProperty("metadata")
        .put("uid", "dependent")
        .putArray("ownerReferences")
        .addObject()
        .put("apiVersion", apiVersion)
        .put("kind", kind)
        .put("name", "owner")
        .put("uid", uid)
        .put("controller", true);
    return dependent.view();
  }

  private ManagementStatus status(JobKind known, CachedJob dependent) {
    CachedJob owner = job().view();
    registry.register(
        known, (namespace, name) -> Optional.of(owner).filter(it -> name.equals("owner")));
    return resolver.status(dependent);
  }

  @Test
  void aJobOfAManagedOwnerThatCreatesJobsIsAPartOfIt() {
    String uid = job().view().ref().uid();
    assertThat(status(GROUPED, ownedBy("example.com/v1", "Grouped", uid)))
        .isInstanceOf(ManagementStatus.ChildOfManaged.class);
  }

  /** Each kind has a watch of its own, so that a child may be known before its owner. */
  @Test
  void anOwnerThatIsNotFoundYetIsMissed() {
    CachedJob child = ownedBy("example.com/v1", "Grouped", job().view().ref().uid());
    assertThat(resolver.missesOwner(child)).as("of a kind that is not turned on").isFalse();

    registry.register(GROUPED, (namespace, name) -> Optional.empty());
    assertThat(resolver.missesOwner(child)).isTrue();

    registry.register(GROUPED, (namespace, name) -> Optional.of(job().view()));
    assertThat(resolver.missesOwner(child)).isFalse();
    assertThat(resolver.missesOwner(job().view())).as("without an owner").isFalse();
  }

  /** Its own watch begins when the API server serves it. */
  @Test
  void anOwnerOfAKindThatIsTurnedOnAndNotServedYetIsMissed() {
    IntegrationRegistry turnedOn =
        new IntegrationRegistry(
            List.of(Integration.external(GROUPED)), List.of(GROUPED.framework()), gate -> true);
    assertThat(
            new OwnerChainResolver(JobOptions.defaults("kueue-system"), new ScriptedApi(), turnedOn)
                .missesOwner(ownedBy("example.com/v1", "Grouped", "any")))
        .isTrue();
  }

  /** docs/webhooks.md: such a pod is gated as a job of its own, and nobody else would queue it. */
  @Test
  void aManagedPodThatItsOwnerDoesNotCountStandsForItself() {
    String uid = job().view().ref().uid();
    assertThat(status(BatchJob.KIND, podOf(uid, KueueConstants.MANAGED, "true")))
        .isInstanceOf(ManagementStatus.Own.class);
    assertThat(status(BatchJob.KIND, podOf(uid, "batch.kubernetes.io/controller-uid", uid)))
        .isInstanceOf(ManagementStatus.ChildOfManaged.class);
  }

  private static CachedJob podOf(String uid, String label, String value) {
    return CachedJobParser.of(
        new SinglePod(),
        GivenObject.yaml(
            """
            apiVersion: v1
            kind: Pod
            metadata:
              name: extra
              namespace: team
              uid: pod
              labels: {kueue.x-k8s.io/queue-name: training, %s: "%s"}
              ownerReferences:
              - {apiVersion: batch/v1, kind: Job, name: owner, uid: %s, controller: true}
            spec: {containers: [{name: main}], schedulingGates: [{name: kueue.x-k8s.io/admission}]}
            """
                .formatted(label, value, uid)));
  }

  @Test
  void aPrebuiltNameWithoutQueueMakesAJobManagedIfAManagerSentIt() {
    GivenJob prebuilt = job().queue("").annotation(KueueConstants.PREBUILT_WORKLOAD_NAME, "made");
    assertThat(resolver.status(prebuilt.view())).isInstanceOf(ManagementStatus.Unmanaged.class);
    assertThat(resolver.status(prebuilt.label(KueueConstants.MULTIKUEUE_ORIGIN, "manager").view()))
        .isInstanceOf(ManagementStatus.Own.class);
  }

  @Test
  void aJobWhoseOwnerCannotHaveCreatedItStandsForItself() {
    String uid = job().view().ref().uid();
    assertThat(status(BatchJob.KIND, ownedBy("batch/v1", "Job", uid)))
        .isInstanceOf(ManagementStatus.Own.class);
    assertThat(status(GROUPED, ownedBy("example.com/v1", "Grouped", "another uid")))
        .isInstanceOf(ManagementStatus.Own.class);
    assertThat(status(GROUPED, ownedBy("example.com/v1", "Unknown", uid)))
        .isInstanceOf(ManagementStatus.Own.class);
  }

  @Test
  void aJobBelowAJobIsAPartOfItWherePodsAreCounted() {
    CachedJob child = ownedBy("batch/v1", "Job", job().view().ref().uid());
    registry.register(BatchJob.KIND, (namespace, name) -> Optional.of(job().view()));
    ScriptedApi workloads = new ScriptedApi();
    OwnerChainResolver counting =
        new OwnerChainResolver(JobOptions.defaults("kueue-system"), workloads, registry, true);
    assertThat(counting.status(child)).isInstanceOf(ManagementStatus.ChildOfManaged.class);
    assertThat(counting.status(ownedBy("batch/v1", "Job", "another uid")))
        .isInstanceOf(ManagementStatus.Own.class);
    assertThat(resolver.status(child)).isInstanceOf(ManagementStatus.Own.class);
  }

  /** Somebody makes a Job its own owner, or that of its owner, so that its chain never ends. */
  @Test
  void ofJobsThatOwnEachOtherEachStandsForItself() {
    GivenJob own = job().named("own", "own").ownedBy("example.com/v1", "Grouped", "own", "own");
    registry.register(GROUPED, (namespace, name) -> Optional.of(own.view()));
    assertThat(resolver.status(own.view())).isInstanceOf(ManagementStatus.Own.class);

    GivenJob one = job().named("one", "one").ownedBy("example.com/v1", "Grouped", "two", "two");
    GivenJob two = job().named("two", "two").ownedBy("example.com/v1", "Grouped", "one", "one");
    registry.register(
        GROUPED, (namespace, name) -> Optional.of(name.equals("one") ? one.view() : two.view()));
    assertThat(resolver.status(one.view())).isInstanceOf(ManagementStatus.Own.class);
    assertThat(resolver.status(two.view())).isInstanceOf(ManagementStatus.Own.class);

    CachedJob below = job().ownedBy("example.com/v1", "Grouped", "one", "one").view();
    assertThat(resolver.status(below)).isInstanceOf(ManagementStatus.ChildOfManaged.class);
    two.queue("");
    assertThat(resolver.status(one.view())).isInstanceOf(ManagementStatus.Own.class);
    assertThat(resolver.status(two.view())).isInstanceOf(ManagementStatus.ChildOfManaged.class);
  }

  @Test
  void moreThanTenOwnersAreTooMany() {
    registry.register(
        GROUPED,
        (namespace, name) -> {
          String next = Integer.toString(Integer.parseInt(name) + 1);
          GivenJob link = job().named(name, name);
          return Optional.of(
              (name.equals("10") ? link : link.ownedBy("example.com/v1", "Grouped", next, next))
                  .view());
        });
    assertThat(resolver.status(job().ownedBy("example.com/v1", "Grouped", "1", "1").view()))
        .isInstanceOf(ManagementStatus.ChildOfManaged.class);
    assertThat(resolver.status(job().ownedBy("example.com/v1", "Grouped", "0", "0").view()))
        .isInstanceOf(ManagementStatus.NestedTooDeep.class);
  }

  /** docs/queueing-policies.md#who-may-use-a-queue-or-a-class. */
  @Test
  void whatAnOwnerNamesCountsWhereSomebodyJudgedIt() {
    registry.register(GROUPED, (namespace, name) -> Optional.of(job().view()));
    CachedJob.Controller owner =
        ownedBy("example.com/v1", "Grouped", job().view().ref().uid()).controller().orElseThrow();
    assertThat(resolver.names("team", owner, "training", "")).isTrue();
    assertThat(resolver.names("team", owner, "other", "")).isFalse();

    JobOptions unjudged =
        JobOptions.defaults("kueue-system")
            .with(
                JobOptions.ClusterState.NONE.with(
                    (job, queue, priorityClass) -> Optional.of("restricted")));
    assertThat(
            new OwnerChainResolver(unjudged, new ScriptedApi(), registry)
                .names("team", owner, "training", ""))
        .isFalse();
  }
}
