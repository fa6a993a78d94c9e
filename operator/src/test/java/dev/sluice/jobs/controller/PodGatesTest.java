package dev.sluice.jobs.controller;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.jobs.GivenJob;
import dev.sluice.jobs.GivenWorkload;
import dev.sluice.jobs.ScriptedApi;
import dev.sluice.jobs.kinds.batch.BatchJob;
import dev.sluice.jobs.policy.JobAction.OpenGates;
import dev.sluice.workload.record.CachedWorkload;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** Which gates of an elastic job's pods are opened, and when they are looked at again. */
class PodGatesTest {

  private static final String PODS = "/api/v1/namespaces/team/pods";
  private static final String REQUEST = "autoscaling.x-k8s.io/consume-provisioning-request";
  private static final Duration LATER = Duration.ofSeconds(10);

  private final ScriptedApi api = new ScriptedApi();
  private final JobExecutor executor = new JobExecutor(new BatchJob(), api.dependencies());
  private final ArrayNode pods;

  PodGatesTest() {
    ObjectNode list = JsonNodeFactory.instance.objectNode();
    pods = list.putArray("items");
    api.objects.put(PODS + "?labelSelector=batch.kubernetes.io%2Fjob-name%3Dsample", list);
  }

  private ObjectNode pod(String name) {
    ObjectNode pod = pods.addObject();
    pod.putObject("metadata").put("name", name).put("uid", name).put("resourceVersion", "5");
    pod.putObject("spec");
    api.objects.put(PODS + "/" + name, pod);
    return pod;
  }

  private void gated(String name) {
    pod(name)
        .withObjectProperty("spec")
        .putArray("schedulingGates")
        .addObject()
        .put("name", KueueConstants.ELASTIC_JOB);
  }

  private void terminating(String name) {
    pod(name).withObjectProperty("metadata").put("deletionTimestamp", "2026-01-01T00:00:00Z");
  }

  private static GivenJob job() {
    return GivenJob.job().spec("parallelism", "3").spec("completions", "100");
  }

  private Optional<Duration> open(GivenJob job) throws InterruptedException {
    CachedWorkload slice =
        GivenWorkload.workloadOf(job())
            .annotation(KueueConstants.ELASTIC_JOB, "true")
            .admitted("plain")
            .get();
    return executor.execute(job.view(), List.of(new OpenGates(slice)));
  }

  @Test
  void asManyAreOpenedAsWereGrantedInTheOrderOfNames() throws InterruptedException {
    pod("b");
    gated("d");
    gated("c");
    gated("a");
    assertThat(open(job())).isPresent();
    assertThat(api.calls).hasSize(2);
    assertThat(api.calls.getFirst()).contains("team/a");
    assertThat(api.calls.getLast()).contains("team/c");
  }

  @Test
  void quotaThatWasGivenBackOpensNoGate() throws InterruptedException {
    pod("a");
    gated("b");
    gated("c");
    CachedWorkload slice =
        GivenWorkload.workloadOf(job())
            .annotation(KueueConstants.ELASTIC_JOB, "true")
            .admitted("plain")
            .reclaimable(1)
            .get();
    executor.execute(job().view(), List.of(new OpenGates(slice)));
    assertThat(api.calls).singleElement().asString().contains("team/b");
  }

  /** Whoever has the label of a job may make pods as he likes; others wait, too. */
  @Test
  void manyAreOpenedInPortions() throws InterruptedException {
    for (int i = 0; i < 5_100; i++) {
      gated("p" + i);
    }
    GivenJob wide = GivenJob.job().spec("parallelism", "9000").spec("completions", "9000");
    CachedWorkload slice =
        GivenWorkload.workloadOf(wide)
            .annotation(KueueConstants.ELASTIC_JOB, "true")
            .admitted("plain")
            .get();
    assertThat(executor.execute(wide.view(), List.of(new OpenGates(slice)))).contains(LATER);
    assertThat(api.calls).hasSize(5_000);
  }

  @Test
  void aPodWithVeryManyGatesStaysAsItIs() throws InterruptedException {
    gated("a");
    for (int i = 0; i < 100; i++) {
      ((ArrayNode) pods.get(0).at("/spec/schedulingGates")).addObject().put("name", "g" + i);
    }
    assertThat(open(job())).contains(LATER);
    assertThat(api.calls).isEmpty();
  }

  private Optional<Duration> openChecked(String podSetUpdate) throws InterruptedException {
    CachedWorkload slice =
        GivenWorkload.workloadOf(job())
            .annotation(KueueConstants.ELASTIC_JOB, "true")
            .admitted("plain")
            .check("prov", CachedWorkload.CheckState.READY, update(podSetUpdate))
            .check("other", CachedWorkload.CheckState.PENDING, update("waiting"))
            .get();
    return executor.execute(job().view(), List.of(new OpenGates(slice)));
  }

  private static CachedWorkload.PodSetUpdate update(String value) {
    return new CachedWorkload.PodSetUpdate(
        "main", Map.of(), Map.of(REQUEST, value), Map.of("zone", value), List.of());
  }

  /** The template, and so the pod, has the annotation of the first slice's request. */
  @Test
  void aPodGetsWhatTheChecksOfItsSliceAddInTheSameWrite() throws InterruptedException {
    gated("a");
    pods.get(0)
        .withObject("/metadata/annotations")
        .put(REQUEST, "of-the-first-slice")
        .put("kept", "yes");
    openChecked("second");
    assertThat(api.calls)
        .singleElement()
        .asString()
        .endsWith(
            "{\"metadata\":{\"annotations\":{\"%s\":\"second\"}},".formatted(REQUEST)
                + "\"spec\":{\"nodeSelector\":{\"zone\":\"second\"},\"schedulingGates\":null}}");
  }

  @Test
  void alsoLabelsAndTolerations() throws InterruptedException {
    gated("a");
    pods.get(0)
        .withObject("/spec")
        .putArray("tolerations")
        .addObject()
        .put("key", "own")
        .put("operator", "Exists");
    CachedWorkload slice =
        GivenWorkload.workloadOf(job())
            .annotation(KueueConstants.ELASTIC_JOB, "true")
            .admitted("plain")
            .check(
                "one",
                CachedWorkload.CheckState.READY,
                new CachedWorkload.PodSetUpdate(
                    "main",
                    Map.of("rack", "r1"),
                    Map.of(),
                    Map.of(),
                    List.of(toleration("own"), toleration("spot"))))
            .check(
                "two",
                CachedWorkload.CheckState.READY,
                new CachedWorkload.PodSetUpdate(
                    "main", Map.of(), Map.of(), Map.of(), List.of(toleration("spot"))))
            .get();

    executor.execute(job().view(), List.of(new OpenGates(slice)));

    assertThat(api.calls)
        .singleElement()
        .asString()
        .endsWith(
            "{\"metadata\":{\"labels\":{\"rack\":\"r1\"}},"
                + "\"spec\":{\"tolerations\":[{\"key\":\"own\",\"operator\":\"Exists\"},"
                + "{\"key\":\"spot\",\"operator\":\"Exists\"}],\"schedulingGates\":null}}");
  }

  private static CachedWorkload.PodToleration toleration(String key) {
    return new CachedWorkload.PodToleration(key, "Exists", "", "", OptionalLong.empty());
  }

  @Test
  void aPodThatContradictsACheckStaysGatedAndTheOthersAreOpened() throws InterruptedException {
    gated("a");
    gated("b");
    pods.get(0).withObject("/spec/nodeSelector").put("zone", "another");
    assertThat(openChecked("second")).contains(Duration.ofMinutes(1));
    assertThat(api.calls).singleElement().asString().contains("team/b");
    assertThat(api.events).containsExactly("Warning WriteRefused");
  }

  @Test
  void podsThatTerminateTakeRoomButOthersWillComeInTheirPlace() throws InterruptedException {
    pod("a");
    terminating("b");
    terminating("c");
    gated("d");
    assertThat(open(job())).contains(LATER);
    assertThat(api.calls).isEmpty();
  }

  @Test
  void podsThatAreAllOpenAreLookedAtAgainLessAndLessOften() throws InterruptedException {
    pod("a");
    pod("b");
    pod("c");
    assertThat(open(job())).contains(LATER);
    assertThat(open(job())).contains(LATER.multipliedBy(2));
    for (int i = 0; i < 10; i++) {
      open(job());
    }
    assertThat(open(job())).contains(Duration.ofMinutes(10));
    assertThat(open(job().with("/metadata", "resourceVersion", "999"))).contains(LATER);
  }
}
