package dev.sluice.jobs.kinds.batch;

import static dev.sluice.jobs.GivenJob.job;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import dev.sluice.api.KueueConstants;
import dev.sluice.jobs.GivenJob;
import dev.sluice.jobs.kind.JobPatch;
import dev.sluice.jobs.kind.JobState;
import dev.sluice.jobs.kind.PodSetInfo;
import dev.sluice.jobs.kind.PodSetTemplate;
import dev.sluice.jobs.kind.StartConflictException;
import dev.sluice.jobs.kinds.batch.BatchJob.IndexSet;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a Job of batch/v1 says of itself, and what is written to start and to stop it. */
class BatchJobTest {

  private static final ObjectMapper YAML = new ObjectMapper(new YAMLFactory());

  private final BatchJob adapter = new BatchJob();

  @Nested
  class PodSets {

    @ParameterizedTest
    @CsvSource({"3, 3, 3", "5, 2, 2", "2, 8, 2", "3, null, 3", "null, null, 1", "null, 4, 1"})
    void countIsParallelismCappedByCompletions(String parallelism, String completions, int count) {
      GivenJob job = job().spec("parallelism", parallelism).spec("completions", completions);
      assertThat(podSet(job).name()).isEqualTo("main");
      assertThat(podSet(job).count()).isEqualTo(count);
    }

    @Test
    void theSmallestParallelismIsRecorded() {
      assertThat(podSet(job()).minCount()).isZero();
      assertThat(podSet(job().annotation(KueueConstants.JOB_MIN_PARALLELISM, "2")).minCount())
          .isEqualTo(2);
    }

    @ParameterizedTest
    @CsvSource({"true, true", "True, true", "1, true", "false, false", "0, false", "'', false"})
    void aBooleanAnnotationHasTheFormsThatTheWebhookAccepts(String value, boolean asked)
        throws JsonProcessingException {
      GivenJob job =
          job()
              .with(
                  "/spec/template/metadata",
                  "annotations",
                  "{kueue.x-k8s.io/podset-unconstrained-topology: \"" + value + "\"}");
      assertThat(podSet(job).topologyRequest().isPresent()).isEqualTo(asked);
    }

    @Test
    void topologyIsAskedForByAnnotation() throws JsonProcessingException {
      assertThat(podSet(job()).topologyRequest()).isEmpty();
      GivenJob job =
          job()
              .with(
                  "/spec/template/metadata",
                  "annotations",
                  "{kueue.x-k8s.io/podset-required-topology: cloud/rack}");
      assertThat(podSet(job).topologyRequest().orElseThrow())
          .isEqualTo(
              yaml(
                  "{required: cloud/rack, podIndexLabel:"
                      + " batch.kubernetes.io/job-completion-index}"));
    }

    /** A topology may be implied, and then pods are placed by their indexes. */
    @Test
    void anIndexedJobTellsTheLabelOfTheIndexWhateverItAsksFor() throws JsonProcessingException {
      GivenJob indexed = job().spec("completionMode", "Indexed");
      assertThat(podSet(indexed).topologyRequest().orElseThrow())
          .isEqualTo(yaml("{podIndexLabel: batch.kubernetes.io/job-completion-index}"));
    }

    private PodSetTemplate podSet(GivenJob job) {
      return adapter.podSets(job.object()).getFirst();
    }
  }

  @Nested
  class Indexes {

    @ParameterizedTest
    @CsvSource(
        delimiter = '|',
        value = {
          "5-3 | 10 | 0",
          "0-99999999 | 10 | 10",
          "0-4294967296 | 1000000000 | 1000000000",
          "1,3-5,4-7,1,- | 10 | 6",
          "-1,1-,a-b,99999999999,٣ | 10 | 0",
          "2,9,10-12 | 10 | 2"
        })
    void onlyIndexesThatTheJobCanHaveAreCounted(String text, int completions, int size) {
      assertThat(IndexSet.parse(text, completions).size()).isEqualTo(size);
      assertThat(IndexSet.parse(text, completions).union(IndexSet.parse(text, completions)).size())
          .isEqualTo(size);
    }
  }

  @Nested
  class Told {

    @Test
    void theStateIsThatOfTheStatusWhateverAnAnnotationTells() {
      GivenJob honest = job().running(3);
      GivenJob forged =
          job()
              .running(3)
              .annotation("sluice.dev/remote-status", "{\"succeeded\":3,\"ready\":3,\"active\":0}");

      assertThat(adapter.state(forged.object())).isEqualTo(adapter.state(honest.object()));
      assertThat(adapter.remoteStatus(honest.object())).isEmpty();
      assertThat(adapter.remoteStatus(forged.object()).orElseThrow().podsReady()).isTrue();
    }

    @Test
    void whatIsHostileIsToldAsNothing() {
      for (String told : List.of("{\"completedIndexes\":\"5-3\"}", "[[[", "7", "")) {
        GivenJob job =
            job().spec("completionMode", "Indexed").annotation("sluice.dev/remote-status", told);
        assertThat(adapter.remoteStatus(job.object()).orElseThrow().reclaimable()).isEmpty();
      }
    }
  }

  @Nested
  class State {

    @Test
    void endComesFromConditions() {
      assertThat(state(job()).end()).isEmpty();
      assertThat(state(job().ended("Complete", "done")).end())
          .contains(new JobState.End(true, "done"));
      assertThat(state(job().ended("Failed", "bad")).end())
          .contains(new JobState.End(false, "bad"));
      assertThat(state(job().ended("FailureTarget", "bad")).end()).isEmpty();
      assertThat(state(job().status("conditions", "[{type: Complete, status: 'False'}]")).end())
          .isEmpty();
    }

    @Test
    void activeMeansPods() {
      assertThat(state(job()).active()).isFalse();
      assertThat(state(job().status("active", "1")).active()).isTrue();
    }

    @ParameterizedTest
    @CsvSource({"1, 1, 1, true", "3, 0, 0, true", "0, 3, 0, true", "1, 1, 0, false"})
    void readyCountsWhatIsDone(int succeeded, int ready, int uncounted, boolean allReady) {
      String names = "[" + "x, ".repeat(uncounted) + "]";
      GivenJob job =
          job()
              .status("succeeded", Integer.toString(succeeded))
              .status("ready", Integer.toString(ready))
              .status("uncountedTerminatedPods", "{succeeded: " + names + "}");
      assertThat(state(job).podsReady()).isEqualTo(allReady);
    }

    @ParameterizedTest
    @CsvSource({
      "3, 3, 0, 0",
      "3, 3, 1, 1",
      "3, 3, 3, 3",
      "3, 10, 5, 0",
      "3, 10, 8, 1",
      "3, null, 1, 1",
      "1, 1, 1, 0",
      "2, 5, 9, 2",
      "6, 2, 1, 1",
      "6, 2, 2, 2",
      "6, 1, 0, 0",
    })
    void reclaimableIsWhatNothingIsLeftFor(
        String parallelism, String completions, int succeeded, int reclaimed) {
      GivenJob job =
          job()
              .spec("parallelism", parallelism)
              .spec("completions", completions)
              .status("succeeded", Integer.toString(succeeded));
      assertThat(state(job).reclaimable().getOrDefault("main", 0)).isEqualTo(reclaimed);
    }

    @ParameterizedTest
    @CsvSource({"3, 0, 0", "2, 1, 0", "2, 0, 1", "1, 1, 1", "0, 1, 2"})
    void podsThatRunAreNotReclaimable(int active, int terminating, int reclaimed) {
      GivenJob lowered =
          job()
              .spec("parallelism", "3")
              .spec("completions", "null")
              .status("succeeded", "2")
              .status("active", Integer.toString(active))
              .status("terminating", Integer.toString(terminating));
      assertThat(state(lowered).reclaimable().getOrDefault("main", 0)).isEqualTo(reclaimed);
    }

    @Test
    void indexesThatFailedAreDoneToo() {
      GivenJob job =
          job()
              .spec("completionMode", "Indexed")
              .spec("parallelism", "5")
              .spec("completions", "5")
              .status("succeeded", "1")
              .status("completedIndexes", "'0,2-3'")
              .status("failedIndexes", "'3,4'");
      assertThat(state(job).reclaimable()).isEqualTo(Map.of("main", 4));
    }

    private JobState state(GivenJob job) {
      return adapter.state(job.object());
    }
  }

  @Nested
  class Starting {

    @Test
    void isOneUpdateThatLeavesTheRestOfTheTemplateAlone() throws Exception {
      List<JobPatch> patches = adapter.start(job().object(), List.of(onSpot(3)));
      assertThat(patches)
          .containsExactly(
              new JobPatch(
                  false,
                  yaml(
                      """
                      spec:
                        suspend: false
                        template:
                          metadata:
                            annotations: {kueue.x-k8s.io/workload: job-sample-355fa}
                            labels: {kueue.x-k8s.io/podset: main}
                          spec:
                            nodeSelector: {instance-type: spot}
                            tolerations:
                            - {key: spot, operator: Exists, effect: NoSchedule}
                      """)));
    }

    @Test
    void keepsTolerationsAndDoesNotRepeatThem() throws Exception {
      GivenJob job =
          job()
              .pods(
                  "tolerations",
                  "[{key: a, operator: Exists}, {key: spot, operator: Exists, effect:"
                      + " NoSchedule}]");
      JobPatch patch = adapter.start(job.object(), List.of(onSpot(3))).getFirst();
      assertThat(patch.body().at("/spec/template/spec").has("tolerations")).isFalse();
    }

    @Test
    void addsToTolerations() throws Exception {
      GivenJob job =
          job().pods("tolerations", "[{key: a, operator: Exists, tolerationSeconds: 5}]");
      JobPatch patch = adapter.start(job.object(), List.of(onSpot(3))).getFirst();
      assertThat(patch.body().at("/spec/template/spec/tolerations"))
          .isEqualTo(
              yaml("t: [{key: a, operator: Exists, tolerationSeconds: 5},"
                      + " {key: spot, operator: Exists, effect: NoSchedule}]")
                  .path("t"));
    }

    @Test
    void agreesWithWhatTheTemplateSaysAlready() throws Exception {
      GivenJob job = job().pods("nodeSelector", "{instance-type: spot, zone: a}");
      JobPatch patch = adapter.start(job.object(), List.of(onSpot(3))).getFirst();
      assertThat(patch.body().at("/spec/template/spec").has("nodeSelector")).isFalse();
    }

    /** Where TASRejectFalseUnconstrainedTopology is off, and in templates that no webhook saw. */
    @Test
    void placesPodsThatSayThatTheyAskForNoTopology() throws Exception {
      String key = KueueConstants.PODSET_UNCONSTRAINED_TOPOLOGY;
      ObjectNode object = job().object();
      object.withObject("/spec/template/metadata/annotations").put(key, "false");
      PodSetInfo placed =
          new PodSetInfo(
              "main", 3, Map.of(), Map.of(key, "true"), Map.of(), List.of(), List.of("g"));

      ObjectNode started = applied(object, adapter.start(object, List.of(placed)).getFirst());

      assertThat(started.at("/spec/template/metadata/annotations").path(key).asText())
          .isEqualTo("true");
    }

    @Test
    void clearsTheStartTimeOfAnEarlierRunFirst() throws Exception {
      GivenJob job = job().status("startTime", "'2026-03-01T10:00:05Z'");
      List<JobPatch> patches = adapter.start(job.object(), List.of(onSpot(3)));
      assertThat(patches).hasSize(2);
      assertThat(patches.getFirst())
          .isEqualTo(new JobPatch(true, yaml("status: {startTime: null}")));
      assertThat(patches.getLast().body().at("/spec/suspend").asBoolean(true)).isFalse();
    }

    @Test
    void mayBeWithFewerPods() throws Exception {
      GivenJob job = job().annotation(KueueConstants.JOB_MIN_PARALLELISM, "1");
      JobPatch patch = adapter.start(job.object(), List.of(onSpot(2))).getFirst();
      assertThat(patch.body().at("/spec/parallelism").asInt()).isEqualTo(2);
      assertThat(patch.body().path("spec").has("completions")).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"true", "True", "1"})
    void mayTakeCompletionsAlong(String value) throws Exception {
      GivenJob job =
          job()
              .annotation(KueueConstants.JOB_MIN_PARALLELISM, "1")
              .annotation(KueueConstants.JOB_COMPLETIONS_EQUAL_PARALLELISM, value);
      JobPatch patch = adapter.start(job.object(), List.of(onSpot(2))).getFirst();
      assertThat(patch.body().at("/spec/completions").asInt()).isEqualTo(2);
    }
  }

  @Nested
  class Stopping {

    @Test
    void takesThreeStepsAndGivesTheTemplateBack() throws Exception {
      GivenJob job = job().pods("tolerations", "[{key: a, operator: Exists}]");
      List<PodSetTemplate> original = adapter.podSets(job.object().deepCopy());
      ObjectNode running = started(job.object());
      ((ObjectNode) running.path("status")).put("startTime", "2026-03-01T10:00:05Z");

      List<JobPatch> steps = new ArrayList<>();
      ObjectNode stopped = stop(running, Optional.of(original), steps);

      assertThat(steps).hasSize(3);
      assertThat(steps.get(0))
          .isEqualTo(
              new JobPatch(
                  false,
                  yaml(
                      "{metadata: {annotations: {kueue.x-k8s.io/stopping: 'true'}},"
                          + " spec: {suspend: true}}")));
      assertThat(steps.get(1)).isEqualTo(new JobPatch(true, yaml("status: {startTime: null}")));
      assertThat(steps.get(2).ofStatus()).isFalse();
      assertThat(stopped).isEqualTo(job.object());
    }

    @Test
    void parallelismBeyondCompletionsStaysIfTheStartLeftIt() throws Exception {
      GivenJob job =
          job()
              .annotation(KueueConstants.JOB_MIN_PARALLELISM, "2")
              .spec("parallelism", "10")
              .spec("completions", "5");
      List<PodSetTemplate> original = adapter.podSets(job.object().deepCopy());
      ObjectNode running =
          applied(job.object(), adapter.start(job.object(), List.of(onSpot(5))).getFirst());
      assertThat(stop(running, Optional.of(original), new ArrayList<>())).isEqualTo(job.object());
    }

    @Test
    void canBePickedUpFromAnyStep() throws Exception {
      GivenJob job = job();
      List<PodSetTemplate> original = adapter.podSets(job.object().deepCopy());
      ObjectNode running = started(job.object());
      ((ObjectNode) running.path("status")).put("startTime", "2026-03-01T10:00:05Z");
      for (int interruptedAfter = 0; interruptedAfter < 3; interruptedAfter++) {
        ObjectNode object = running.deepCopy();
        for (int i = 0; i < interruptedAfter; i++) {
          JobPatch step = adapter.nextStopStep(object, Optional.of(original)).orElseThrow();
          object = applied(object, step);
        }
        assertThat(stop(object, Optional.of(original), new ArrayList<>())).isEqualTo(job.object());
      }
    }

    @Test
    void isOverWhenTheJobIsSuspended() {
      assertThat(adapter.nextStopStep(job().object(), Optional.empty())).isEmpty();
    }

    @Test
    void leavesTheTemplateWhenNobodyKnowsTheOriginal() throws Exception {
      ObjectNode running = started(job().object());
      ObjectNode stopped = stop(running, Optional.empty(), new ArrayList<>());
      assertThat(stopped.at("/spec/template")).isEqualTo(running.at("/spec/template"));
      assertThat(stopped.at("/spec/suspend").asBoolean()).isTrue();
      assertThat(stopped.at("/metadata/annotations").has(KueueConstants.STOPPING)).isFalse();
    }

    @Test
    void keepsTheLabelsThatTheApiServerDerivesFromTheJob() throws Exception {
      ObjectNode here = job().object();
      ObjectNode elsewhere = here.deepCopy();
      here.withObject("/spec/template/metadata/labels")
          .put("batch.kubernetes.io/controller-uid", "uid-here")
          .put("batch.kubernetes.io/job-name", "sample");
      elsewhere
          .withObject("/spec/template/metadata/labels")
          .put("controller-uid", "uid-elsewhere")
          .put("batch.kubernetes.io/controller-uid", "uid-elsewhere")
          .put("job-name", "other")
          .put("batch.kubernetes.io/job-name", "other");
      List<PodSetTemplate> original = adapter.podSets(elsewhere);

      assertThat(stop(started(here), Optional.of(original), new ArrayList<>())).isEqualTo(here);
    }

    @Test
    void givesTheParallelismBack() throws Exception {
      GivenJob job = job().annotation(KueueConstants.JOB_MIN_PARALLELISM, "1");
      List<PodSetTemplate> original = adapter.podSets(job.object().deepCopy());
      JobPatch start = adapter.start(job.object(), List.of(onSpot(2))).getFirst();
      ObjectNode running = applied(job.object(), start);
      assertThat(running.at("/spec/parallelism").asInt()).isEqualTo(2);
      assertThat(stop(running, Optional.of(original), new ArrayList<>())).isEqualTo(job.object());
    }

    private ObjectNode started(ObjectNode job) throws StartConflictException {
      return applied(job, adapter.start(job, List.of(onSpot(3))).getFirst());
    }

    private ObjectNode stop(
        ObjectNode job, Optional<List<PodSetTemplate>> original, List<JobPatch> steps) {
      ObjectNode object = job;
      Optional<JobPatch> next = adapter.nextStopStep(object, original);
      while (next.isPresent()) {
        steps.add(next.get());
        object = applied(object, next.get());
        next = adapter.nextStopStep(object, original);
      }
      return object;
    }
  }

  private static PodSetInfo onSpot(int count) {
    return new PodSetInfo(
        "main",
        count,
        Map.of(KueueConstants.PODSET, "main"),
        Map.of(KueueConstants.WORKLOAD, "job-sample-355fa"),
        Map.of("instance-type", "spot"),
        List.of(yaml("{key: spot, operator: Exists, effect: NoSchedule}")),
        List.of());
  }

  private static ObjectNode applied(ObjectNode object, JobPatch patch) {
    return (ObjectNode) merge(object.deepCopy(), patch.body());
  }

  /** RFC 7396, word for word. */
  private static JsonNode merge(JsonNode target, JsonNode patch) {
    if (!patch.isObject()) {
      return patch;
    }
    ObjectNode result = target.isObject() ? (ObjectNode) target : YAML.createObjectNode();
    patch
        .properties()
        .forEach(
            field -> {
              if (field.getValue().isNull()) {
                result.remove(field.getKey());
              } else {
                result.set(field.getKey(), merge(result.path(field.getKey()), field.getValue()));
              }
            });
    return result;
  }

  private static ObjectNode yaml(String text) {
    try {
      return (ObjectNode) YAML.readTree(text);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(e);
    }
  }
}
