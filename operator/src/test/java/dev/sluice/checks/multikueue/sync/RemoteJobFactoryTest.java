package dev.sluice.checks.multikueue.sync;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.jobs.kind.JobKindDescription;
import dev.sluice.jobs.kinds.BuiltInIntegrations;
import dev.sluice.jobs.kinds.batch.BatchJob;
import dev.sluice.jobs.kinds.leaderworkerset.LeaderWorkerSets;
import dev.sluice.jobs.kinds.ray.RayCluster;
import dev.sluice.jobs.kinds.ray.RayJob;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadParser;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** A Job in the manager, and what is made of it in a worker and back. */
class RemoteJobFactoryTest {

  private static final MultiKueueKind JOB = MultiKueueKind.of(new BatchJob()).orElseThrow();

  private static final ObjectNode NOTHING = JsonNodeFactory.instance.objectNode();
  private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");

  private static JsonNode json(String text) throws Exception {
    return new ObjectMapper().readTree(text.replace('\'', '"'));
  }

  private static JsonNode job() throws Exception {
    return json(
        """
        {'metadata': {'name': 'small', 'namespace': 'physics', 'uid': 'u', 'resourceVersion': '7',
          'labels': {'kueue.x-k8s.io/queue-name': 'q', 'controller-uid': 'u'},
          'annotations': {'note': 'kept'}},
         'spec': {'suspend': false, 'managedBy': 'kueue.x-k8s.io/multikueue', 'parallelism': 2,
          'ttlSecondsAfterFinished': 0,
          'selector': {'matchLabels': {'batch.kubernetes.io/controller-uid': 'u'}},
          'template': {'metadata': {'labels': {'a': 'b', 'job-name': 'small'}}}}}
        """);
  }

  @Test
  void aCopyIsSuspendedNamesItsWorkloadAndHasNothingOfTheManagersOwn() throws Exception {
    assertThat(RemoteJobFactory.copy(JOB, job(), "job-small-1", new OriginLabel("here", true)))
        .isEqualTo(
            json(
                """
                {'apiVersion': 'batch/v1', 'kind': 'Job',
                 'metadata': {'name': 'small', 'namespace': 'physics',
                  'labels': {'kueue.x-k8s.io/queue-name': 'q',
                    'kueue.x-k8s.io/multikueue-origin': 'here'},
                  'annotations': {'note': 'kept',
                    'kueue.x-k8s.io/prebuilt-workload-name': 'job-small-1'}},
                 'spec': {'suspend': true, 'parallelism': 2,
                  'template': {'metadata': {'labels': {'a': 'b'}}}}}
                """));
  }

  /** The worker's API server would want the selector that is left out. */
  @Test
  void aJobThatBringsItsSelectorGetsAnotherOneInTheWorker() throws Exception {
    ObjectNode job = job().deepCopy();
    job.withObject("/spec").put("manualSelector", true);

    assertThat(RemoteJobFactory.copy(JOB, job, "job-small-1", new OriginLabel("here", true)))
        .isEqualTo(RemoteJobFactory.copy(JOB, job(), "job-small-1", new OriginLabel("here", true)));
  }

  /**
   * Changes of 0.20, section 2: a job that its worker deletes by itself could be gone before the
   * manager saw its end; so it is for every kind that has such a time.
   */
  @Test
  void noWorkerDeletesAJobByItselfWhenItHasEnded() throws Exception {
    Map<String, String> fields =
        Map.of(
            "batch", "/spec/ttlSecondsAfterFinished",
            "jobset.x-k8s.io", "/spec/ttlSecondsAfterFinished",
            "kubeflow.org", "/spec/runPolicy/ttlSecondsAfterFinished");
    List<JobKindDescription> kinds =
        BuiltInIntegrations.descriptions().stream()
            .filter(kind -> fields.containsKey(kind.kind().group()))
            .toList();
    assertThat(kinds).hasSize(8);
    for (JobKindDescription kind : kinds) {
      assertNotSent(kind, fields.getOrDefault(kind.kind().group(), ""));
    }
    // its policies may be to delete the RayJob itself
    assertNotSent(new RayJob(), "/spec/deletionStrategy");
  }

  private static void assertNotSent(JobKindDescription kind, String field) throws Exception {
    String parent = field.substring(0, field.lastIndexOf('/'));
    ObjectNode job = job().deepCopy();
    job.withObject(parent).put(field.substring(parent.length() + 1), 0).put("backoffLimit", 3);

    ObjectNode copy =
        RemoteJobFactory.copy(
            MultiKueueKind.of(kind).orElseThrow(), job, "a", new OriginLabel("here", true));

    assertThat(copy.at(field).isMissingNode()).as(kind.kind().kind()).isTrue();
    assertThat(copy.at(parent + "/backoffLimit").asInt()).isEqualTo(3);
  }

  @Test
  void aRemoteElasticJobGetsTheSizeOfTheManagersAndItsNextSlice() throws Exception {
    OriginLabel originLabel = new OriginLabel("here", true);
    ObjectNode there = RemoteJobFactory.copy(JOB, job(), "a", originLabel);
    ObjectNode grown = job().deepCopy();
    grown.withObjectProperty("spec").put("parallelism", 5);

    assertThat(RemoteJobFactory.resized(JOB, job(), there, NOTHING.deepCopy())).isEmpty();
    assertThat(RemoteJobFactory.resized(JOB, grown, there, NOTHING.deepCopy()))
        .isEqualTo(json("{'spec': {'parallelism': 5}}"));
    assertThat(RemoteJobFactory.handedOver(JOB, grown, there, "b", originLabel))
        .isEqualTo(
            json(
                """
                {'metadata': {'annotations': {'kueue.x-k8s.io/prebuilt-workload-name': 'b'}},
                 'spec': {'parallelism': 5}}
                """));
  }

  /** Groups are matched by name, and what a start gave to their templates stays. */
  @Test
  void aRemoteRayClusterGetsTheReplicasOfTheManagers() throws Exception {
    MultiKueueKind ray = MultiKueueKind.of(new RayCluster()).orElseThrow();
    String group = "{'groupName': '%s', 'replicas': %d, 'template': {'spec': {%s}}}";
    String spec = "{'spec': {'workerGroupSpecs': [%s, %s]}}";
    JsonNode local = json(spec.formatted(group.formatted("b", 7, ""), group.formatted("a", 3, "")));
    ObjectNode there =
        json(spec.formatted(
                group.formatted("a", 1, "'nodeSelector': {'pool': 'spot'}"),
                group.formatted("b", 7, "")))
            .deepCopy();

    assertThat(RemoteJobFactory.resized(ray, local, there, NOTHING.deepCopy()))
        .isEqualTo(
            json(
                spec.formatted(
                    group.formatted("a", 3, "'nodeSelector': {'pool': 'spot'}"),
                    group.formatted("b", 7, ""))));
  }

  private static final MultiKueueKind RAY = MultiKueueKind.of(new RayCluster()).orElseThrow();
  private static final String SIZES = "kueue.x-k8s.io/raycluster-podset-replica-sizes";

  /** A Ray cluster that scales itself, with so many replicas of two hosts each. */
  private static ObjectNode scaling(int replicas, String fields, String annotation) {
    try {
      ObjectNode ray =
          (ObjectNode)
              json(
                  """
                  {'metadata': {'annotations': {'kueue.x-k8s.io/elastic-job': 'true'}},
                   'spec': {'enableInTreeAutoscaling': true,
                    'managedBy': 'kueue.x-k8s.io/multikueue',
                    'workerGroupSpecs': [{'groupName': 'Workers', 'numOfHosts': 2,
                      'replicas': %d%s}]}}
                  """
                      .formatted(replicas, fields));
      if (!annotation.isEmpty()) {
        ray.withObject("/metadata/annotations").put(SIZES, annotation);
      }
      return ray;
    } catch (Exception e) {
      throw new IllegalArgumentException(e);
    }
  }

  private static JsonNode slice(int workers) throws Exception {
    return json(
        "{'metadata': {'name': 'a', 'namespace': 'physics', 'resourceVersion': '1'}, 'spec':"
            + " {'podSets': [{'name': 'head', 'count': 1, 'template': {'spec': {}}},"
            + " {'name': 'workers', 'count': %d, 'template': {'spec': {}}}]}}".formatted(workers));
  }

  private static CachedWorkload parsed(JsonNode slice) throws Exception {
    return new WorkloadParser().parse(slice.toString().getBytes(StandardCharsets.UTF_8));
  }

  private static String followed(ObjectNode local, ObjectNode remote, int ofCopy) throws Exception {
    return followed(local, remote, ofCopy, ofCopy);
  }

  private static String followed(ObjectNode local, ObjectNode remote, int ofCopy, int ofSlice)
      throws Exception {
    ObjectNode patch =
        RemoteJobFactory.followed(RAY, local, remote, slice(ofCopy), parsed(slice(ofSlice)));
    return patch.isEmpty() ? "" : patch.at("/metadata/annotations").path(SIZES).asText();
  }

  private static String told(int pods) {
    return "[{\"name\":\"workers\",\"count\":" + pods + "}]";
  }

  @Test
  void theManagersRayClusterFollowsTheSizeThatTheWorkerGivesIt() throws Exception {
    ObjectNode local = scaling(1, ", 'maxReplicas': 4", told(2));
    assertThat(followed(local, scaling(1, "", ""), 2)).as("as it is").isEmpty();
    assertThat(followed(local, scaling(3, "", ""), 2)).as("grown").isEqualTo(told(6));
    ObjectNode waiting = scaling(1, "", "");
    assertThat(followed(waiting, scaling(1, "", ""), 2)).as("it starts later").isEmpty();
    assertThat(followed(waiting, scaling(2, "", ""), 2)).isEqualTo(told(4));
    ObjectNode lowered = scaling(1, ", 'maxReplicas': 1", told(6));
    assertThat(followed(lowered, scaling(3, "", ""), 6)).as("no more than it has").isEmpty();
    ObjectNode large = scaling(1, ", 'maxReplicas': 4", told(6));
    assertThat(followed(large, scaling(1, "", ""), 6)).as("pods may still run").isEmpty();
    assertThat(followed(large, scaling(1, "", ""), 4)).as("some are gone").isEqualTo(told(4));
    assertThat(followed(large, scaling(1, "", ""), 2)).as("all are gone").isEqualTo(told(2));
    assertThat(followed(large, scaling(0, ", 'minReplicas': 2", ""), 0)).isEqualTo(told(4));
  }

  /** Smaller and larger again before the manager looked: the worker's copy can't grow by itself. */
  @Test
  void aCopyThatIsSmallerThanItsSliceIsFollowedFirst() throws Exception {
    ObjectNode local = scaling(1, "", told(6));
    assertThat(followed(local, scaling(3, "", ""), 2, 6)).isEqualTo(told(2));
    ObjectNode followed = scaling(1, "", told(2));
    assertThat(followed(followed, scaling(3, "", ""), 2, 6)).as("the slice comes next").isEmpty();
    assertThat(followed(followed, scaling(3, "", ""), 2, 2)).isEqualTo(told(6));
  }

  /** A worker isn't believed to be honest. */
  @Test
  void noWorkerGetsMoreThanTheManagersRayClusterAllows() throws Exception {
    ObjectNode local = scaling(1, ", 'maxReplicas': 4", told(2));
    assertThat(followed(local, scaling(1_000_000_000, "", ""), 2)).isEqualTo(told(8));
    assertThat(followed(local, scaling(1, ", 'maxReplicas': 9", told(-5)), 0)).isEqualTo(told(0));
    assertThat(followed(local, scaling(3, "", "[[[[1"), 2)).isEqualTo(told(6));
    assertThat(followed(local, scaling(3, "", "{\"a\": {\"count\": 7}}"), 2)).isEqualTo(told(6));
    ObjectNode other = scaling(3, "", "");
    ((ObjectNode) other.at("/spec/workerGroupSpecs/0")).put("groupName", "others");
    assertThat(followed(local, other, 2)).as("a group that isn't ours").isEmpty();
    ObjectNode unbounded = scaling(1, "", told(2));
    assertThat(followed(unbounded, scaling(2_000_000_000, "", ""), 2))
        .isEqualTo(told(Integer.MAX_VALUE));
  }

  /** The size of a RayJob is that of the cluster that KubeRay made; the worker tells it. */
  @Test
  void theSizeOfAClusterThatBelongsToAJobIsToldByTheWorker() throws Exception {
    MultiKueueKind rayJob = MultiKueueKind.of(new RayJob()).orElseThrow();
    ObjectNode local = json("{'metadata': {}, 'spec': {}}").deepCopy();
    local.set("metadata", scaling(1, "", told(2)).path("metadata"));
    local.withObject("/spec").set("rayClusterSpec", scaling(1, "", "").path("spec"));
    ObjectNode remote = local.deepCopy();
    remote.withObject("/metadata/annotations").put(SIZES, told(8));

    assertThat(RemoteJobFactory.followed(rayJob, local, remote, slice(2), parsed(slice(2))))
        .isEqualTo(remote.deepCopy().objectNode().set("metadata", annotations(told(8))));
    remote.withObject("/metadata/annotations").put(SIZES, "[]");
    assertThat(RemoteJobFactory.followed(rayJob, local, remote, slice(2), parsed(slice(2))))
        .as("the cluster has the size of the spec")
        .isEmpty();
  }

  private static ObjectNode annotations(String sizes) {
    ObjectNode metadata = NOTHING.deepCopy();
    metadata.putObject("annotations").put(SIZES, sizes);
    return metadata;
  }

  @Test
  void theSizeOfARayClusterThatScalesItselfIsNeitherSentNorChanged() throws Exception {
    OriginLabel originLabel = new OriginLabel("here", true);
    ObjectNode local = scaling(1, "", told(6));
    local.withObject("/metadata/annotations").put("kueue.x-k8s.io/raycluster-generation", "3");
    ObjectNode copy = RemoteJobFactory.copy(RAY, local, "a", originLabel);
    assertThat(copy.at("/metadata/annotations"))
        .isEqualTo(
            json(
                "{'kueue.x-k8s.io/elastic-job': 'true',"
                    + " 'kueue.x-k8s.io/prebuilt-workload-name': 'a'}"));
    ((ObjectNode) copy.at("/spec/workerGroupSpecs/0")).put("replicas", 4);

    assertThat(RemoteJobFactory.handedOver(RAY, local, copy, "b", originLabel))
        .isEqualTo(
            json("{'metadata': {'annotations': {'kueue.x-k8s.io/prebuilt-workload-name': 'b'}}}"));
    CachedWorkload slice = parsed(slice(6));
    assertThat(RemoteJobFactory.outgrows(RAY, local, copy, slice)).isTrue();
    ((ObjectNode) copy.at("/spec/workerGroupSpecs/0")).put("replicas", 3);
    assertThat(RemoteJobFactory.outgrows(RAY, local, copy, slice)).isFalse();
  }

  @Test
  void withoutTheGateTheWorkloadIsNamedByALabelUnlessItsNameIsTooLong() throws Exception {
    OriginLabel originLabel = new OriginLabel("here", false);
    String key = "kueue.x-k8s.io/prebuilt-workload-name";

    JsonNode brief = RemoteJobFactory.copy(JOB, job(), "w", originLabel).path("metadata");
    assertThat(brief.path("labels").path(key).asText()).isEqualTo("w");
    assertThat(brief.path("annotations").has(key)).isFalse();

    String name = "w".repeat(64);
    JsonNode lengthy = RemoteJobFactory.copy(JOB, job(), name, originLabel).path("metadata");
    assertThat(lengthy.path("annotations").path(key).asText()).isEqualTo(name);
    assertThat(lengthy.path("labels").has(key)).isFalse();
  }

  @Test
  void aStatusIsCopiedWhole() throws Exception {
    JsonNode local = json("{'spec': {'suspend': false}, 'status': {'active': 2, 'ready': 1}}");
    JsonNode remote = json("{'spec': {}, 'status': {'active': 1, 'succeeded': 1}}");

    RemoteJobFactory.StatusUpdate mirrored =
        RemoteJobFactory.withRemoteStatus(JOB, local, remote, NOW);

    assertThat(mirrored.heldBack()).isFalse();
    assertThat(mirrored.patch())
        .isEqualTo(json("{'status': {'ready': null, 'active': 1, 'succeeded': 1}}"));
    assertThat(RemoteJobFactory.withRemoteStatus(JOB, remote, remote, NOW).patch()).isEmpty();
  }

  @Test
  void aJobThatStartsAnewKeepsTheCountsThatMayNotDecrease() throws Exception {
    JsonNode local = json("{'spec': {'suspend': false}, 'status': {'failed': 1, 'active': 2}}");
    JsonNode remote = json("{'spec': {'suspend': false}, 'status': {'active': 1}}");

    assertThat(RemoteJobFactory.withRemoteStatus(JOB, local, remote, NOW).patch())
        .isEqualTo(json("{'status': {'active': 1}}"));
  }

  @Test
  void aSuspendedJobIsNotToldOfPodsThatRunElsewhere() throws Exception {
    JsonNode local = json("{'spec': {'suspend': true}}");
    JsonNode remote = json("{'spec': {'suspend': false}, 'status': {'active': 1}}");

    RemoteJobFactory.StatusUpdate mirrored =
        RemoteJobFactory.withRemoteStatus(JOB, local, remote, NOW);

    assertThat(mirrored.heldBack()).isTrue();
    assertThat(mirrored.patch().path("status").path("active").isMissingNode()).isTrue();
    JsonNode condition = mirrored.patch().path("status").path("conditions").path(0);
    assertThat(condition.path("type").asText()).isEqualTo("Suspended");
    assertThat(condition.path("status").asText()).isEqualTo("True");
    assertThat(condition.path("reason").asText()).isEqualTo("MultiKueueAdapter");
  }

  @Test
  void theEndIsCopiedEvenToASuspendedJob() throws Exception {
    JsonNode local = json("{'spec': {'suspend': true}}");
    JsonNode remote =
        json(
            "{'spec': {'suspend': false}, 'status': {'conditions':"
                + " [{'type': 'Complete', 'status': 'True'}]}}");

    RemoteJobFactory.StatusUpdate mirrored =
        RemoteJobFactory.withRemoteStatus(JOB, local, remote, NOW);

    assertThat(mirrored.heldBack()).isFalse();
    assertThat(mirrored.patch().path("status")).isEqualTo(remote.path("status"));
  }

  @Test
  void aJobOfALostWorkerTellsOfNoPodsOnceItIsSuspended() throws Exception {
    JsonNode running = json("{'spec': {'suspend': false}, 'status': {'active': 2}}");
    assertThat(RemoteJobFactory.withoutPodCounts(JOB, running, NOW)).isEmpty();

    JsonNode suspended = json("{'spec': {'suspend': true}, 'status': {'active': 2, 'failed': 1}}");
    JsonNode status = RemoteJobFactory.withoutPodCounts(JOB, suspended, NOW).path("status");
    assertThat(status.path("active").isNull()).isTrue();
    assertThat(status.has("failed")).isFalse();
    assertThat(status.path("conditions").path(0).path("type").asText()).isEqualTo("Suspended");
  }

  /** What the manager removed is removed there, too. */
  @Test
  void aSpecThatFollowsIsPatchedWhereItDiffers() throws Exception {
    MultiKueueKind set = MultiKueueKind.of(new LeaderWorkerSets()).orElseThrow();
    JsonNode here =
        json(
            "{'spec': {'replicas': 3, 'template': {'image': 'b', 'list': [1]}, 'same': {'x': 1}}}");
    JsonNode there =
        json(
            "{'spec': {'replicas': 2, 'template': {'image': 'a', 'list': [1], 'old': 2}, 'same':"
                + " {'x': 1}}}");

    assertThat(RemoteJobFactory.pushed(set, here, there))
        .isEqualTo(json("{'spec': {'replicas': 3, 'template': {'image': 'b', 'old': null}}}"));
    assertThat(RemoteJobFactory.pushed(set, here, here)).isEmpty();
  }

  /** No single Workload is that of a job with several. */
  @Test
  void aCopyWithSeveralWorkloadsNamesTheManagersJob() throws Exception {
    MultiKueueKind set = MultiKueueKind.of(new LeaderWorkerSets()).orElseThrow();
    JsonNode here = json("{'metadata': {'name': 's', 'namespace': 'n', 'uid': 'u'}, 'spec': {}}");

    JsonNode there = RemoteJobFactory.copy(set, here, "w", new OriginLabel("here", true));

    assertThat(there.path("metadata"))
        .isEqualTo(
            json(
                """
                {'name': 's', 'namespace': 'n',
                 'annotations': {'kueue.x-k8s.io/multikueue-origin-uid': 'u'},
                 'labels': {'kueue.x-k8s.io/multikueue-origin': 'here'}}
                """));
    assertThat(SharedJobs.isFor(here, there)).isTrue();
    assertThat(SharedJobs.isFor(json("{'metadata': {'uid': 'v'}}"), there)).isFalse();
  }
}
