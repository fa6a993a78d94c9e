package dev.sluice.jobs.policy;

import static dev.sluice.jobs.GivenObject.with;
import static dev.sluice.jobs.GivenObject.yaml;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.jobs.GivenCluster;
import dev.sluice.jobs.GivenJob;
import dev.sluice.jobs.kind.JobIntegration;
import dev.sluice.jobs.kind.JobReference;
import dev.sluice.jobs.kinds.ray.RayCluster;
import dev.sluice.jobs.kinds.ray.RayJob;
import dev.sluice.jobs.kinds.ray.RayService;
import dev.sluice.jobs.policy.CachedJob.CachedJobParser;
import dev.sluice.jobs.policy.JobAction.Annotate;
import dev.sluice.jobs.policy.JobAction.Attempt;
import dev.sluice.jobs.policy.JobAction.CreateSlice;
import dev.sluice.jobs.policy.JobAction.CreateWorkload;
import dev.sluice.jobs.policy.JobAction.OpenGates;
import dev.sluice.jobs.policy.JobAction.ResizeSlice;
import dev.sluice.jobs.policy.JobAction.Start;
import dev.sluice.jobs.policy.JobPolicy.ManagementStatus;
import dev.sluice.jobs.policy.WorkloadFactory.WorkloadNames;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadParser;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Elastic jobs of every kind with more than one pod set, from creation to a change of size. */
class ElasticKindsTest {

  private static final String CLUSTER_SPEC =
      """
      {headGroupSpec: {template: {spec: {containers: [{name: ray, image: i}]}}},%s
       workerGroupSpecs: [{groupName: Workers, replicas: 2, numOfHosts: 2,
         template: {spec: {containers: [{name: ray, image: i}]}}}]}
      """
          .replace("\n", " ");

  /**
   * A kind, and how its jobs grow.
   *
   * @param running what a job that runs has besides
   * @param followed whether the size is that of another object
   */
  record Elastic(JobIntegration kind, ObjectNode job, String running, boolean followed) {

    CachedJob suspended() {
      return CachedJobParser.of(kind, job);
    }

    /** The job while it runs with so many replicas of its workers. */
    CachedJob running(int replicas) {
      ObjectNode object = with(job, running);
      String cluster = CLUSTER_SPEC.formatted("").replace("replicas: 2", "replicas: " + replicas);
      if (followed) {
        JobReference.setSpec(object, yaml(cluster));
        JobReference.setGeneration(object, 7);
      } else {
        object.withObject("/spec").setAll(yaml(cluster));
      }
      return CachedJobParser.of(kind, object);
    }

    @Override
    public String toString() {
      return kind.kind().kind();
    }
  }

  private static ObjectNode job(String kind, String spec) {
    return yaml(
        """
        apiVersion: ray.io/v1
        kind: %s
        metadata:
          name: sample
          namespace: team
          uid: %s
          resourceVersion: "100"
          generation: 3
          creationTimestamp: "2026-03-01T10:00:00Z"
          labels: {kueue.x-k8s.io/queue-name: training}
          annotations: {kueue.x-k8s.io/elastic-job: "true"}
        spec: %s
        """
            .formatted(kind, GivenJob.UID, spec));
  }

  static Stream<Elastic> kinds() {
    String scales = CLUSTER_SPEC.formatted(" enableInTreeAutoscaling: true,");
    ObjectNode cluster = job("RayCluster", CLUSTER_SPEC.formatted(" suspend: true,"));
    return Stream.of(
        new Elastic(
            new RayCluster(), cluster, "{spec: {suspend: false}, status: {state: ready}}", false),
        new Elastic(
            new RayJob(),
            job("RayJob", "{suspend: true, rayClusterSpec: " + scales + "}"),
            "{spec: {suspend: false}, status: {jobDeploymentStatus: Running, rayClusterName: c,"
                + " rayClusterStatus: {state: ready}}}",
            true),
        new Elastic(
            new RayService(),
            job(
                "RayService",
                "{rayClusterConfig: "
                    + CLUSTER_SPEC.formatted(" suspend: true, enableInTreeAutoscaling: true,")
                    + "}"),
            "{spec: {rayClusterConfig: {suspend: false}},"
                + " status: {activeServiceStatus: {rayClusterName: c}}}",
            true));
  }

  private static List<JobAction> decide(Elastic given, CachedJob job, CachedWorkload... owned) {
    GivenCluster cluster = GivenCluster.cluster();
    return new JobPolicy(
            given.kind(),
            JobOptions.defaults("kueue-system"),
            RemoteExecutionCheck.whereMarked(() -> true, sent -> false))
        .decide(
            new ReconcileContext(
                job,
                new ManagementStatus.Own(),
                List.of(owned),
                Stream.of(owned)
                    .filter(it -> it.id().name().equals(job.prebuiltWorkload()))
                    .findFirst(),
                cluster,
                cluster,
                GivenCluster.NOW));
  }

  /** The first slice, with quota for all that it asks for. */
  private static CachedWorkload admitted(Elastic given) throws IOException {
    return admitted(given, "{}");
  }

  private static CachedWorkload admitted(Elastic given, String labels) throws IOException {
    List<JobAction> actions = decide(given, given.suspended());
    ObjectNode workload = ((CreateWorkload) actions.getFirst()).workload().deepCopy();
    workload.withObject("/metadata/labels").setAll(yaml(labels));
    workload.withObjectProperty("metadata").put("uid", "w").put("resourceVersion", "5");
    ObjectNode status =
        yaml(
            """
            admission: {clusterQueue: research, podSetAssignments: []}
            conditions:
            - {type: QuotaReserved, status: "True", reason: QuotaReserved}
            - {type: Admitted, status: "True", reason: Admitted}
            """);
    for (JsonNode podSet : workload.at("/spec/podSets")) {
      status
          .withObject("/admission")
          .withArrayProperty("podSetAssignments")
          .addObject()
          .put("name", podSet.path("name").asText())
          .put("count", podSet.path("count").asInt())
          .putObject("flavors")
          .put("cpu", "plain");
    }
    workload.set("status", status);
    return new WorkloadParser().parse(JsonMappers.JSON.writeValueAsBytes(workload));
  }

  private static <A extends JobAction> A last(Class<A> kind, List<JobAction> actions) {
    assertThat(actions).isNotEmpty();
    assertThat(actions.getLast()).isInstanceOf(kind);
    return kind.cast(actions.getLast());
  }

  /** What is tried for the pods beyond the slice, before the gates of the others are opened. */
  private static List<JobAction> attempt(List<JobAction> actions) {
    assertThat(actions).hasExactlyElementsOfTypes(Attempt.class, OpenGates.class);
    return ((Attempt) actions.getFirst()).steps();
  }

  @ParameterizedTest
  @MethodSource("kinds")
  void theSizeOfARunningJobIsFollowedByItsSlices(Elastic given) throws IOException {
    CachedWorkload first = admitted(given);
    assertThat(first.sliceName()).isEqualTo(first.id().name());

    assertThat(last(OpenGates.class, decide(given, given.running(2), first)).slice())
        .isEqualTo(first);

    List<JobAction> grown = attempt(decide(given, given.running(3), first));
    CreateSlice create = last(CreateSlice.class, grown);
    assertThat(create.replaced()).isEqualTo(first);
    assertThat(create.name()).isNotEqualTo(first.id().name());
    assertThat(create.counts()).containsEntry("head", 1).containsEntry("workers", 6);

    ResizeSlice resize = last(ResizeSlice.class, decide(given, given.running(1), first));
    assertThat(resize.waitsForPods()).isTrue();
    assertThat(resize.counts()).containsEntry("head", 1).containsEntry("workers", 2);

    List<Annotate> annotated =
        grown.stream().filter(Annotate.class::isInstance).map(Annotate.class::cast).toList();
    assertThat(annotated).hasSize(given.followed() ? 1 : 0);
    annotated.forEach(
        it ->
            assertThat(it.patch().body())
                .isEqualTo(
                    yaml(
                        """
                        {metadata: {annotations: {kueue.x-k8s.io/raycluster-generation: '7',
                         kueue.x-k8s.io/raycluster-podset-replica-sizes:
                          '[{"name":"workers","count":6}]'}}}
                        """)));
  }

  @ParameterizedTest
  @MethodSource("kinds")
  void podsWhoseNumberMayChangeAreGated(Elastic given) throws IOException {
    Start start = last(Start.class, decide(given, given.suspended(), admitted(given)));
    JsonNode started = start.patches().getLast().body();
    String gate = "[{\"name\":\"" + KueueConstants.ELASTIC_JOB + "\"}]";
    assertThat(started.findValues("schedulingGates"))
        .hasSize(2)
        .allSatisfy(gates -> assertThat(gates).hasToString(gate));
    // A RayJob gets the template of its submitter, too.
    int templates = given.kind() instanceof RayJob ? 3 : 2;
    assertThat(started.findValuesAsText(KueueConstants.WORKLOAD_SLICE_NAME)).hasSize(templates);
  }

  /** The pod that submits may have a template; its number never changes. */
  @Test
  void thePodThatSubmitsARayJobIsNotGated() throws IOException {
    Elastic given = kinds().toList().get(1);
    ObjectNode own =
        with(
            given.job(),
            "{spec: {submitterPodTemplate: {spec: {containers: [{name: s, image: i}]}}}}");
    Elastic submitting = new Elastic(given.kind(), own, given.running(), true);
    Start start =
        last(Start.class, decide(submitting, submitting.suspended(), admitted(submitting)));
    JsonNode spec = start.patches().getLast().body().path("spec");
    assertThat(spec.at("/submitterPodTemplate/metadata/labels").toString()).contains("submitter");
    assertThat(spec.path("submitterPodTemplate").findValues("schedulingGates")).isEmpty();
    assertThat(spec.path("rayClusterSpec").findValues("schedulingGates")).hasSize(2);
  }

  /** Where the followed object is away for a while, the job keeps its size. */
  @ParameterizedTest
  @MethodSource("kinds")
  void aSizeThatIsNotKnownIsNoOtherSize(Elastic given) throws IOException {
    if (given.followed()) {
      CachedWorkload first = admitted(given);
      ObjectNode away = with(given.job(), given.running());
      CachedJob job = CachedJobParser.of(given.kind(), away);
      assertThat(last(OpenGates.class, decide(given, job, first)).slice()).isEqualTo(first);
    }
  }

  private static final String SIZES = KueueConstants.RAYCLUSTER_PODSET_REPLICA_SIZES;

  /** The same, scaled by the worker cluster that it is sent to. */
  private static Elastic sent(Elastic given) {
    ObjectNode job = given.job().deepCopy();
    String cluster =
        switch (given.kind()) {
          case RayJob rayJob -> "/spec/rayClusterSpec";
          case RayService service -> "/spec/rayClusterConfig";
          default -> "/spec";
        };
    job.withObject(cluster).put("enableInTreeAutoscaling", true);
    job.withObject("/spec").put("managedBy", KueueConstants.MULTIKUEUE);
    return new Elastic(given.kind(), job, given.running(), false);
  }

  /** The job in the manager while so many of its workers run in a worker cluster. */
  private static CachedJob following(Elastic sent, int pods) {
    ObjectNode object = with(sent.job(), sent.running());
    object
        .withObject("/metadata/annotations")
        .put(SIZES, "[{\"name\":\"workers\",\"count\":" + pods + "}]");
    return CachedJobParser.of(sent.kind(), object);
  }

  @ParameterizedTest
  @MethodSource("kinds")
  void theSlicesOfAJobThatAWorkerScalesFollowItsAnnotation(Elastic given) throws IOException {
    Elastic sent = sent(given);
    CachedWorkload first = admitted(sent);
    Start start = last(Start.class, decide(sent, sent.suspended(), first));
    assertThat(start.patches().getLast().body().at("/metadata/annotations").path(SIZES).asText())
        .as("its size from the start on")
        .isEqualTo("[{\"name\":\"workers\",\"count\":4}]");

    last(OpenGates.class, decide(sent, following(sent, 4), first));
    CreateSlice create = last(CreateSlice.class, attempt(decide(sent, following(sent, 6), first)));
    assertThat(create.counts()).containsEntry("head", 1).containsEntry("workers", 6);
    ResizeSlice resize = last(ResizeSlice.class, decide(sent, following(sent, 0), first));
    assertThat(resize.counts()).containsEntry("head", 1).containsEntry("workers", 0);
  }

  /** What its own spec says counts again when it is stopped. */
  @ParameterizedTest
  @MethodSource("kinds")
  void aStopTakesTheSizeAwayThatAWorkerGave(Elastic given) {
    Elastic sent = sent(given);
    JsonNode runs = following(sent, 6).object();
    JsonNode stop = given.kind().nextStopStep(runs, Optional.empty()).orElseThrow().body();
    assertThat(stop.at("/metadata/annotations").path(SIZES).isNull()).isTrue();

    ObjectNode here = with(given.job(), given.running());
    here.withObject("/metadata/annotations").put(SIZES, "[]");
    JsonNode other = given.kind().nextStopStep(here, Optional.empty()).orElseThrow().body();
    assertThat(other.at("/metadata/annotations").path(SIZES).isMissingNode())
        .as("that of a job that isn't sent")
        .isTrue();
  }

  /** In the worker: the manager's slice is followed, and the size is told for the manager. */
  @Test
  void aRayJobOfAManagerTellsTheSizeOfItsCluster() throws IOException {
    Elastic given = kinds().toList().get(1);
    ObjectNode job = given.job().deepCopy();
    Elastic plain = new Elastic(given.kind(), job, given.running(), true);
    CachedWorkload slice = admitted(plain, "{kueue.x-k8s.io/multikueue-origin: manager}");
    job.withObject("/metadata/annotations")
        .put(KueueConstants.PREBUILT_WORKLOAD_NAME, slice.id().name());

    List<JobAction> actions = decide(plain, plain.running(3), slice);
    Annotate annotate = last(Annotate.class, actions);
    assertThat(annotate.patch().body().at("/metadata/annotations").path(SIZES).asText())
        .isEqualTo("[{\"name\":\"workers\",\"count\":6}]");
    assertThat(actions).as("no slice but those of the manager").hasSize(1);
  }

  @Test
  void theNameOfASliceTellsBothGenerations() throws IOException {
    Elastic given = kinds().toList().get(1);
    CreateSlice create =
        last(CreateSlice.class, attempt(decide(given, given.running(3), admitted(given))));
    assertThat(create.name())
        .isEqualTo(
            WorkloadNames.of(
                "RayJob", "ray.io", "sample", GivenJob.UID, "3_7", WorkloadNames.LONGEST));
    assertThat(create.counts()).isEqualTo(Map.of("head", 1, "workers", 6, "submitter", 1));
  }
}
