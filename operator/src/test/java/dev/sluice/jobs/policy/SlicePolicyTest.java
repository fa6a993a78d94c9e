package dev.sluice.jobs.policy;

import static dev.sluice.jobs.GivenWorkload.workloadOf;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.KueueConstants;
import dev.sluice.jobs.GivenCluster;
import dev.sluice.jobs.GivenJob;
import dev.sluice.jobs.GivenWorkload;
import dev.sluice.jobs.kinds.batch.BatchJob;
import dev.sluice.jobs.policy.JobAction.Attempt;
import dev.sluice.jobs.policy.JobAction.CreateSlice;
import dev.sluice.jobs.policy.JobAction.CreateWorkload;
import dev.sluice.jobs.policy.JobAction.FinishWorkload;
import dev.sluice.jobs.policy.JobAction.OpenGates;
import dev.sluice.jobs.policy.JobAction.PatchStatus;
import dev.sluice.jobs.policy.JobAction.ResizeSlice;
import dev.sluice.jobs.policy.JobAction.Start;
import dev.sluice.jobs.policy.JobAction.Stop;
import dev.sluice.jobs.policy.JobAction.StopReason;
import dev.sluice.jobs.policy.JobPolicy.ManagementStatus;
import dev.sluice.workload.record.CachedWorkload;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What a change of the size of an elastic job leads to (docs/elastic-jobs.md#slices). */
class SlicePolicyTest {

  private final GivenCluster cluster = GivenCluster.cluster();

  /** An elastic Job of so many pods in its third generation. */
  private static GivenJob job(int pods) {
    return GivenJob.job()
        .annotation(KueueConstants.ELASTIC_JOB, "true")
        .with("/metadata", "generation", "3")
        .spec("parallelism", "" + pods)
        .spec("completions", "100");
  }

  private static GivenWorkload slice(String name, int pods) {
    return workloadOf(job(pods)).named(name).annotation(KueueConstants.ELASTIC_JOB, "true");
  }

  private static GivenWorkload replacement(String name, int pods, String replaced) {
    return slice(name, pods)
        .annotation(KueueConstants.WORKLOAD_SLICE_REPLACEMENT_FOR, "team/" + replaced);
  }

  private List<JobAction> decide(GivenJob job, GivenWorkload... workloads) {
    List<CachedWorkload> owned = List.of(workloads).stream().map(GivenWorkload::get).toList();
    return new JobPolicy(
            new BatchJob(),
            JobOptions.defaults("kueue-system"),
            RemoteExecutionCheck.whereMarked(() -> true, sent -> false))
        .decide(
            new ReconcileContext(
                job.view(),
                new ManagementStatus.Own(),
                owned,
                Optional.empty(),
                cluster,
                cluster,
                GivenCluster.NOW));
  }

  private static <A extends JobAction> A only(Class<A> kind, List<JobAction> actions) {
    assertThat(actions).singleElement().isInstanceOf(kind);
    return kind.cast(actions.getFirst());
  }

  /** What is tried for the pods beyond the slice, before the others of these actions. */
  private static List<JobAction> attempt(List<JobAction> actions) {
    assertThat(actions).hasSize(2);
    assertThat(actions.getFirst()).isInstanceOf(Attempt.class);
    return ((Attempt) actions.getFirst()).steps();
  }

  private static void assertFinished(List<JobAction> actions, String name, String reason) {
    FinishWorkload finish = only(FinishWorkload.class, actions);
    assertThat(finish.workload().id().name()).isEqualTo(name);
    assertThat(finish.reason()).isEqualTo(reason);
  }

  @Test
  void theNameOfASliceTellsTheGeneration() {
    CreateWorkload create = only(CreateWorkload.class, decide(job(3)));
    assertThat(create.workload().at("/metadata/name").asText()).isEqualTo("job-sample-388c3");
    assertThat(
            create
                .workload()
                .path("metadata")
                .path("annotations")
                .path(KueueConstants.WORKLOAD_SLICE_NAME)
                .asText())
        .isEqualTo("job-sample-388c3");
  }

  /** docs/elastic-jobs.md#without-quota. */
  @Test
  void aJobThatRunsWithoutQuotaIsStoppedBeforeItGetsAWorkload() {
    assertThat(only(Stop.class, decide(job(3).running(3))).reason())
        .isEqualTo(StopReason.NO_MATCHING_WORKLOAD);
    assertThat(only(Stop.class, decide(job(3).running(3), slice("a", 3))).reason())
        .isEqualTo(StopReason.NOT_ADMITTED);
    assertThat(
            only(Stop.class, decide(job(3).running(3), slice("a", 3).reserved("plain"))).reason())
        .isEqualTo(StopReason.NOT_ADMITTED);
    assertThat(decide(job(3).status("active", "3"))).as("its pods are not gone").isEmpty();
  }

  @Test
  void aJobThatGrowsGetsAReplacementAndRunsOn() {
    CreateSlice create =
        only(
            CreateSlice.class, attempt(decide(job(5).running(3), slice("a", 3).admitted("plain"))));
    assertThat(create.name()).isEqualTo("job-sample-388c3");
    assertThat(create.replaced().id().name()).isEqualTo("a");
    assertThat(create.counts()).isEqualTo(Map.of("main", 5));
  }

  /** The new slice may be refused, for as long as a quota of the namespace is used up. */
  @Test
  void aJobThatHasGrownStartsAndOpensItsGatesWithoutItsReplacement() {
    assertThat(decide(job(5), slice("a", 3).admitted("plain")))
        .hasExactlyElementsOfTypes(Attempt.class, Start.class);
    assertThat(decide(job(5).running(3), slice("a", 3).admitted("plain")))
        .hasExactlyElementsOfTypes(Attempt.class, OpenGates.class);
    assertThat(
            decide(
                job(5).running(3).label(KueueConstants.PRIORITY_CLASS, "no-such"),
                slice("a", 3).admitted("plain"),
                replacement("b", 5, "a")))
        .hasExactlyElementsOfTypes(Attempt.class, OpenGates.class);
  }

  @Test
  void whileTheReplacementWaitsGatesOpenForTheSliceThatHasQuota() {
    OpenGates open =
        only(
            OpenGates.class,
            decide(job(5).running(5), slice("a", 3).admitted("plain"), replacement("b", 5, "a")));
    assertThat(open.slice().id().name()).isEqualTo("a");
  }

  @Test
  void anAdmittedReplacementEndsTheSliceThatItReplaces() {
    assertFinished(
        decide(
            job(5).running(3),
            slice("a", 3).admitted("plain"),
            replacement("b", 5, "a").admitted("plain")),
        "a",
        "WorkloadSliceReplaced");
  }

  /** Otherwise a job that grows by a pod now and then would never reach its limit. */
  @Test
  void aReplacementGoesOnWithTheExecutionTimeOfItsJob() {
    GivenJob job = limited(5).running(3);
    GivenWorkload earlier =
        workloadOf(limited(3))
            .named("a")
            .annotation(KueueConstants.ELASTIC_JOB, "true")
            .admittedAfter("plain", Duration.ZERO, 100);
    List<JobAction> actions = decide(job, earlier, limitedReplacement(0));
    assertThat(actions).hasSize(2);
    assertThat(actions.getFirst())
        .isInstanceOfSatisfying(
            PatchStatus.class,
            patch -> {
              assertThat(patch.workload().id().name()).isEqualTo("b");
              assertThat(patch.status())
                  .hasToString("{\"accumulatedPastExecutionTimeSeconds\":150}");
            });
    assertThat(actions.getLast()).isInstanceOf(FinishWorkload.class);

    assertFinished(decide(job, earlier, limitedReplacement(150)), "a", "WorkloadSliceReplaced");
  }

  private static GivenJob limited(int pods) {
    return job(pods).label(KueueConstants.MAX_EXEC_TIME_SECONDS, "600");
  }

  private static GivenWorkload limitedReplacement(int ranBefore) {
    return workloadOf(limited(5))
        .named("b")
        .annotation(KueueConstants.ELASTIC_JOB, "true")
        .annotation(KueueConstants.WORKLOAD_SLICE_REPLACEMENT_FOR, "team/a")
        .admittedAfter("plain", Duration.ofSeconds(50), ranBefore);
  }

  /** The time of creation has whole seconds, and names contain hashes: both say nothing then. */
  @Test
  void ofSlicesThatAreEquallyOldTheReplacementIsTheNewerOne() {
    assertFinished(
        decide(
            job(5).running(3),
            replacement("a", 5, "b").admitted("plain"),
            slice("b", 3).admitted("plain")),
        "b",
        "WorkloadSliceReplaced");
    ResizeSlice resize =
        only(
            ResizeSlice.class,
            attempt(
                decide(
                    job(6).running(3), replacement("a", 5, "b"), slice("b", 3).reserved("plain"))));
    assertThat(resize.slice().id().name()).isEqualTo("a");
    assertFinished(
        decide(
            job(5).running(3),
            replacement("a", 5, "b").reserved("plain"),
            slice("b", 3).reserved("plain"),
            slice("c", 3).reserved("plain")),
        "c",
        "OutOfSync");
  }

  @Test
  void slicesThatReplaceEachOtherEndButForOne() {
    assertFinished(
        decide(
            job(3).running(3),
            replacement("a", 3, "b").admitted("plain"),
            replacement("b", 3, "a").admitted("plain")),
        "a",
        "OutOfSync");
  }

  @Test
  void aJobThatShrinksShrinksItsSliceWhenItsPodsAreGone() {
    ResizeSlice resize =
        only(ResizeSlice.class, decide(job(2).running(3), slice("a", 3).admitted("plain")));
    assertThat(resize.counts()).isEqualTo(Map.of("main", 2));
    assertThat(resize.waitsForPods()).isTrue();
  }

  @Test
  void aReplacementThatWaitsIsResized() {
    ResizeSlice resize =
        only(
            ResizeSlice.class,
            attempt(
                decide(
                    job(6).running(3), slice("a", 3).admitted("plain"), replacement("b", 5, "a"))));
    assertThat(resize.slice().id().name()).isEqualTo("b");
    assertThat(resize.waitsForPods()).isFalse();
  }

  /**
   * docs/elastic-jobs.md#slices: the label of the job is that of all its slices (changes of 0.20,
   * section 2).
   */
  @Test
  void aReplacementFollowsTheLabelOfItsJob() {
    cluster.workloadPriorityClass("urgent", 100);
    JobAction.PatchWorkload patch =
        only(
            JobAction.PatchWorkload.class,
            attempt(
                decide(
                    job(5).running(3).label(KueueConstants.PRIORITY_CLASS, "urgent"),
                    slice("a", 3).admitted("plain"),
                    replacement("b", 5, "a"))));
    assertThat(patch.workload().id().name()).isEqualTo("b");
    assertThat(patch.patch().at("/spec/priority").asInt()).isEqualTo(100);
  }

  @Test
  void aReplacementThatIsNotNeededAnyMoreEnds() {
    assertFinished(
        decide(job(3).running(3), slice("a", 3).admitted("plain"), replacement("b", 5, "a")),
        "b",
        "OutOfSync");
    assertFinished(
        decide(
            job(7).running(3),
            slice("a", 3).admitted("plain"),
            replacement("b", 5, "a").reserved("plain")),
        "b",
        "OutOfSync");
  }

  @Test
  void anEvictedSliceStopsAndIsReplacedByTheOneThatWaits() {
    GivenWorkload evicted = slice("a", 3).admitted("plain").evicted("Preempted", "make room");
    GivenWorkload waiting = replacement("b", 5, "a");
    Stop stop = only(Stop.class, decide(job(5).running(3), evicted, waiting));
    assertThat(stop.original().orElseThrow().id().name()).isEqualTo("a");
    assertThat(decide(job(5).status("active", "1"), evicted, waiting))
        .as("its pods terminate, and it holds its quota")
        .isEmpty();
    assertFinished(decide(job(5), evicted, waiting), "a", "WorkloadSliceReplaced");
    assertThat(
            decide(
                job(5),
                slice("a", 3)
                    .finalizers()
                    .condition("Finished", "True", "WorkloadSliceReplaced", ""),
                waiting))
        .as("the replacement is the job's Workload")
        .isEmpty();
  }

  /** Who deactivates a slice stops its job; who holds quota of a replacement would keep it. */
  @Test
  void anEvictionTakesTheReplacementAlongThatMustNotGoOn() {
    GivenWorkload evicted = slice("a", 3).admitted("plain").evicted("Preempted", "make room");
    assertFinished(
        decide(job(5).running(3), evicted, replacement("b", 5, "a").reserved("plain")),
        "b",
        "OutOfSync");
    assertFinished(decide(job(3).running(3), evicted, replacement("b", 5, "a")), "b", "OutOfSync");
    GivenWorkload deactivated =
        slice("a", 3).admitted("plain").inactive().evicted("Deactivated", "by hand");
    assertFinished(
        decide(job(5).running(3), deactivated, replacement("b", 5, "a")), "b", "OutOfSync");
    only(Stop.class, decide(job(5).running(3), evicted));
  }

  /** An indexed Job of so many pods with as many completions. */
  private static GivenJob indexed(int pods) {
    return job(pods).spec("completions", "" + pods).spec("completionMode", "Indexed");
  }

  private static JobAction.PatchStatus reclaims(List<JobAction> actions, int count) {
    JobAction.PatchStatus write = only(JobAction.PatchStatus.class, actions);
    assertThat(write.status().at("/reclaimablePods/0/count").asInt()).isEqualTo(count);
    return write;
  }

  @Test
  void podsThatHaveSucceededNeedNoQuota() {
    GivenJob job =
        indexed(5).running(3).status("completedIndexes", "'0,4'").status("succeeded", "2");
    reclaims(decide(job, slice("a", 5).admitted("plain")), 2);
    only(OpenGates.class, decide(job, slice("a", 5).admitted("plain").reclaimable(2)));
  }

  /** The status still counts the pods of indexes that the smaller Job doesn't have. */
  @Test
  void aSmallerJobNeedsQuotaAgainForPodsThatSucceededBeyondItsRange() {
    GivenJob job =
        indexed(3)
            .running(2)
            .status("completedIndexes", "'0,3,4'")
            .status("failedIndexes", "'4'")
            .status("succeeded", "3");
    GivenWorkload slice = slice("a", 5).admitted("plain").reclaimable(3);
    reclaims(decide(job, slice), 1);
    ResizeSlice resize =
        only(ResizeSlice.class, decide(job, slice("a", 5).admitted("plain").reclaimable(1)));
    assertThat(resize.counts()).isEqualTo(Map.of("main", 3));
  }

  /** Their quota may be somebody else's: what more a larger job needs is asked for. */
  @Test
  void aLargerJobKeepsWhatItGaveBack() {
    GivenJob job =
        indexed(7).running(3).status("completedIndexes", "'0,4'").status("succeeded", "2");
    only(CreateSlice.class, attempt(decide(job, slice("a", 5).admitted("plain").reclaimable(2))));
  }

  @Test
  void aSliceThatNobodyNeedsEnds() {
    assertFinished(
        decide(job(3).running(3), slice("a", 3).admitted("plain"), slice("stray", 3)),
        "stray",
        "OutOfSync");
  }

  @Test
  void aJobThatEndsEndsItsReplacementFirst() {
    GivenJob ended = job(5).ended("Complete", "done");
    assertFinished(
        decide(ended, slice("a", 3).admitted("plain"), replacement("b", 5, "a")), "b", "OutOfSync");
    assertFinished(decide(ended, slice("a", 3).admitted("plain")), "a", "Succeeded");
  }

  /** A slice that a manager cluster sent; its job names it. */
  private static GivenWorkload sent(String name, int pods) {
    return slice(name, pods).label(KueueConstants.MULTIKUEUE_ORIGIN, "manager");
  }

  private static GivenJob named(int pods, String slice) {
    return job(pods).annotation(KueueConstants.PREBUILT_WORKLOAD_NAME, slice);
  }

  private List<JobAction> decideSent(GivenJob job, GivenWorkload current, GivenWorkload... more) {
    List<CachedWorkload> owned = new ArrayList<>(List.of(current.get()));
    List.of(more).forEach(it -> owned.add(it.get()));
    return new JobPolicy(
            new BatchJob(),
            JobOptions.defaults("kueue-system"),
            RemoteExecutionCheck.whereMarked(() -> true, sent -> false))
        .decide(
            new ReconcileContext(
                job.view(),
                new ManagementStatus.Own(),
                owned,
                Optional.of(current.get()),
                cluster,
                cluster,
                GivenCluster.NOW));
  }

  @Test
  void aJobThatAManagerSentHasTheSlicesOfTheManager() {
    GivenWorkload first = sent("a", 3).admitted("plain");
    GivenWorkload waiting =
        sent("b", 5).annotation(KueueConstants.WORKLOAD_SLICE_REPLACEMENT_FOR, "team/a");
    OpenGates open = only(OpenGates.class, decideSent(named(5, "a").running(5), first, waiting));
    assertThat(open.slice().id().name()).as("the job may be larger already").isEqualTo("a");

    assertFinished(
        decideSent(named(5, "b").running(5), waiting.admitted("plain"), first),
        "a",
        "WorkloadSliceReplaced");
    only(
        OpenGates.class,
        decideSent(
            named(5, "b").running(5),
            waiting,
            sent("a", 3).finalizers().condition("Finished", "True", "WorkloadSliceReplaced", "")));

    ResizeSlice resize = only(ResizeSlice.class, decideSent(named(2, "a").running(3), first));
    assertThat(resize.counts()).isEqualTo(Map.of("main", 2));
    assertThat(resize.waitsForPods()).isTrue();
  }

  /** Nobody but a manager changes the size of a Workload that was made for a job. */
  @Test
  void aPrebuiltWorkloadOfAnotherSizeIsOutOfSync() {
    only(Stop.class, decideSent(named(2, "a").running(3), slice("a", 3).admitted("plain")));
  }

  @Test
  void anotherTemplateStopsTheJob() {
    only(
        Stop.class,
        decide(
            job(3).running(3).pods("containers", "[{name: other, image: x}]"),
            slice("a", 3).admitted("plain")));
  }
}
