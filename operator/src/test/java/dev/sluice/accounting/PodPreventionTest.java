package dev.sluice.accounting;

import static dev.sluice.jobs.GivenJob.job;
import static dev.sluice.jobs.GivenWorkload.workloadOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.sluice.jobs.GivenJob;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.testing.PlayedApi;
import dev.sluice.workload.KnownWorkloads;
import dev.sluice.workload.feed.AdmittedRequests;
import dev.sluice.workload.record.CachedWorkload;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Which pods are let in beside those of a job that was admitted with three pods of one CPU. */
class PodPreventionTest {

  private static final YAMLMapper YAML = new YAMLMapper();
  private static final JsonNode NONE = MissingNode.getInstance();
  private static final String ROOT = GivenJob.UID;

  private final PlayedApi api = new PlayedApi();
  private final KubernetesClient client = api.client();
  private final KnownWorkloads workloads = new KnownWorkloads();
  private final PodAccounts accounts =
      new PodAccounts(
          workloads,
          new AdmissionComparison(AdmittedRequests.PLAIN, workload -> false, false),
          account -> {});
  private final PodRecordParser parser =
      new PodRecordParser(AdmittedRequests.PLAIN, image -> false);
  private final List<PodRecord> asked = new CopyOnWriteArrayList<>();
  private Instant now = Instant.parse("2026-03-01T12:00:00Z");
  private boolean stoppable = true;
  private Optional<String> uncharged = Optional.empty();
  private boolean evictable = true;

  /** What the API server answers to whoever lists pods. */
  private List<JsonNode> stored = List.of();

  private final PodPrevention prevention =
      new PodPrevention(
          new PodPrevention.Dependencies(
              accounts,
              parser,
              new FreshPods(new ApiClient(client, ApiClient.Options.atATime(4)), parser),
              pod -> {
                asked.add(pod);
                return uncharged;
              },
              workload -> evictable,
              workload -> stoppable,
              () -> now));

  PodPreventionTest() throws IOException {
    api.play(
        request ->
            new PlayedApi.Answer(
                200,
                "{\"items\": [%s]}"
                    .formatted(
                        stored.stream().map(JsonNode::toString).collect(Collectors.joining(",")))));
  }

  @AfterEach
  void close() {
    client.close();
    api.close();
  }

  private void admitted() {
    CachedWorkload workload = workloadOf(job()).admitted("spot").get();
    workloads.add(workload);
    accounts.changed(null, workload);
  }

  private static ObjectNode pod(int number, String owner, String cpu) {
    try {
      return (ObjectNode)
          YAML.readTree(
              """
              metadata:
                namespace: team
                name: p%d
                uid: %s
                ownerReferences:
                - {apiVersion: batch/v1, kind: Job, name: j, controller: true, uid: "%s"}
              spec:
                containers: [{name: c, resources: {requests: {cpu: "%s"}}}]
              """
                  .formatted(number, new UUID(7, number), owner, cpu));
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(e);
    }
  }

  private static ObjectNode pod(int number) {
    return pod(number, ROOT, "1");
  }

  private static ObjectNode gated(int number) {
    ObjectNode pod = pod(number);
    pod.withObject("/spec").putArray("schedulingGates").addObject().put("name", "any");
    return pod;
  }

  private Optional<String> create(JsonNode pod) throws InterruptedException {
    return prevention.excessWith(NONE, pod, false);
  }

  private void seen(JsonNode pod) {
    accounts.records().seen(parser.of(pod));
  }

  @Test
  void podsAreLetInUntilWhatIsChargedIsReached() throws InterruptedException {
    admitted();
    seen(pod(0));
    stored = List.of(pod(0));
    assertThat(create(pod(1))).isEmpty();
    assertThat(create(pod(2))).isEmpty();
    assertThat(create(pod(3)))
        .hasValueSatisfying(
            excess ->
                assertThat(excess)
                    .contains(
                        "\"" + workloads.known().values().iterator().next().id().name() + "\"")
                    .endsWith("was admitted with, pods: 4 of 3"));
    assertThat(asked).hasSize(3);
  }

  @Test
  void aPodOfAQueuedJobWithoutWorkloadIsRefused() throws InterruptedException {
    uncharged = Optional.of("its job has no Workload");
    assertThat(create(pod(1))).isEqualTo(uncharged);
    assertThat(prevention.excessWith(gated(1), pod(1), false)).isPresent();
    assertThat(create(gated(1))).isEmpty();
    assertThat(prevention.excessWith(pod(1), pod(1), false)).isEmpty();
    admitted();
    assertThat(create(pod(1))).isEmpty();
  }

  @Test
  void podsThatAreLetInAtTheSameTimeCountTogether() throws Exception {
    admitted();
    AtomicInteger letIn = new AtomicInteger();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Callable<Integer>> reviews =
          IntStream.range(0, 40)
              .<Callable<Integer>>mapToObj(
                  i -> () -> create(pod(i)).isEmpty() ? letIn.incrementAndGet() : 0)
              .toList();
      for (Future<Integer> review : threads.invokeAll(reviews)) {
        review.get();
      }
    }
    assertThat(letIn).hasValue(3);
  }

  @Test
  void aPodThatWasLetInCountsOnceWhenItAppears() throws InterruptedException {
    admitted();
    for (int i = 0; i < 3; i++) {
      assertThat(create(pod(i))).isEmpty();
      seen(pod(i));
    }
    stored = List.of(pod(0), pod(1), pod(2));
    assertThat(create(pod(3))).isPresent();
    accounts.records().gone(new UUID(7, 0));
    assertThat(create(pod(4))).isEmpty();
    assertThat(create(pod(5))).isPresent();
  }

  @Test
  void aPodThatNeverAppearsIsNotExpectedForEver() throws InterruptedException {
    admitted();
    for (int i = 0; i < 3; i++) {
      assertThat(create(pod(i))).isEmpty();
    }
    now = now.plus(PodPrevention.EXPECTED);
    assertThat(create(pod(3))).isPresent();
    now = now.plus(Duration.ofMillis(1));
    assertThat(create(pod(4))).isEmpty();
  }

  @Test
  void aDryRunIsComparedAndNotExpected() throws InterruptedException {
    admitted();
    for (int i = 0; i < 9; i++) {
      assertThat(prevention.excessWith(NONE, pod(i), true)).isEmpty();
    }
    for (int i = 0; i < 3; i++) {
      assertThat(create(pod(i))).isEmpty();
    }
    assertThat(prevention.excessWith(NONE, pod(9), true)).isPresent();
  }

  @Test
  void aPodThatHasEndedIsReplacedAlsoWhereTheWatchIsBehind() throws InterruptedException {
    admitted();
    for (int i = 0; i < 3; i++) {
      seen(pod(i));
    }
    ObjectNode ended = pod(0);
    ended.putObject("status").put("phase", "Failed");
    stored = List.of(ended, pod(1), pod(2));
    assertThat(create(pod(3))).isEmpty();
    assertThat(create(pod(4))).isPresent();
  }

  @Test
  void whatAppearsWhilePodsAreListedCounts() throws InterruptedException {
    admitted();
    assertThat(create(pod(0))).isEmpty();
    seen(pod(1));
    seen(pod(2));
    // The list was read before the first pod was stored; the watch tells of it afterwards.
    api.play(
        request -> {
          seen(pod(0));
          return new PlayedApi.Answer(200, "{\"items\": [%s, %s]}".formatted(pod(1), pod(2)));
        });
    assertThat(create(pod(3))).isPresent();
  }

  @Test
  void aTerminatingPodIsReplaced() throws InterruptedException {
    admitted();
    for (int i = 0; i < 3; i++) {
      ObjectNode pod = pod(i);
      pod.withObject("/metadata")
          .put("deletionTimestamp", now.plusSeconds(30).toString())
          .put("deletionGracePeriodSeconds", 30);
      seen(pod);
    }
    for (int i = 3; i < 6; i++) {
      assertThat(create(pod(i))).isEmpty();
    }
    assertThat(create(pod(6))).isPresent();
  }

  @Test
  void aPodCountsWhenItsLastGateGoes() throws InterruptedException {
    admitted();
    for (int i = 0; i < 9; i++) {
      assertThat(create(gated(i))).isEmpty();
      seen(gated(i));
    }
    stored = List.of(gated(3));
    for (int i = 0; i < 3; i++) {
      assertThat(prevention.excessWith(gated(i), pod(i), false)).isEmpty();
      // An older version arrives late: the pod goes on being expected.
      seen(gated(i));
    }
    assertThat(prevention.excessWith(gated(3), pod(3), false)).isPresent();
  }

  @Test
  void resizesAtTheSameTimeCountTogether() throws InterruptedException {
    admitted();
    seen(pod(0, ROOT, "500m"));
    seen(pod(1, ROOT, "1"));
    stored = List.of(pod(0, ROOT, "500m"), pod(1, ROOT, "1"));
    assertThat(prevention.excessWith(pod(0, ROOT, "500m"), pod(0, ROOT, "2"), false)).isEmpty();
    assertThat(prevention.excessWith(pod(1, ROOT, "1"), pod(1, ROOT, "1500m"), false))
        .hasValueSatisfying(excess -> assertThat(excess).endsWith("cpu: 3500 of 3000"));
    assertThat(prevention.excessWith(pod(1, ROOT, "1"), pod(1, ROOT, "500m"), false)).isEmpty();
  }

  @Test
  void withoutQuotaNoPodRuns() throws InterruptedException {
    CachedWorkload waiting = workloadOf(job()).get();
    workloads.add(waiting);
    accounts.changed(null, waiting);
    assertThat(create(pod(0)))
        .hasValueSatisfying(excess -> assertThat(excess).endsWith("pods: 1 of 0"));
    assertThat(create(gated(0))).isEmpty();
    stoppable = false;
    assertThat(create(pod(0))).isEmpty();
  }

  @Test
  void whatNobodyWouldStopIsLetIn() throws InterruptedException {
    assertThat(create(pod(0))).isEmpty();
    admitted();
    evictable = false;
    for (int i = 1; i < 9; i++) {
      assertThat(create(pod(i))).isEmpty();
      seen(pod(i));
    }
  }

  @Test
  void nothingIsLetInWhilePodsCannotBeRead() throws InterruptedException {
    admitted();
    for (int i = 0; i < 3; i++) {
      assertThat(create(pod(i))).isEmpty();
    }
    api.play(request -> new PlayedApi.Answer(403, "{}"));
    assertThatThrownBy(() -> create(pod(3)))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("pods of namespace team not read");
  }
}
