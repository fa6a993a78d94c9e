package dev.sluice.jobs.recovery;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.controller.WorkQueueSettings;
import dev.sluice.kube.events.EventRecorder;
import dev.sluice.kube.events.EventRecorder.EventCounter;
import dev.sluice.kube.events.EventRecorder.EventSink;
import dev.sluice.kube.reflect.ReadErrorLog;
import dev.sluice.kube.reflect.Reflectors;
import dev.sluice.testing.PlayedApi;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.api.model.events.v1.EventSeries;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is sent to the API server about pods and nodes that were listed. */
class FailureRecoveryControllerTest {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final InstantSource CLOCK =
      InstantSource.fixed(Instant.parse("2026-01-01T00:10:00Z"));

  /** A pod that is deleted by force as it is. */
  private static final String POD =
      """
      {"metadata": {"namespace": "ns", "name": "p", "uid": "u1", "resourceVersion": "7",
         "deletionTimestamp": "2026-01-01T00:08:00Z", "deletionGracePeriodSeconds": 30,
         "labels": {"kueue.x-k8s.io/podset": "main"},
         "annotations": {"kueue.x-k8s.io/safe-to-forcefully-delete": "true"}},
       "spec": {"nodeName": "lost"},
       "status": {"phase": "Running", "conditions": []}}
      """;

  private static final String LOST =
      """
      {"metadata": {"name": "lost"}, "spec": {"taints": [
        {"key": "other", "effect": "NoSchedule"},
        {"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"}]}}
      """;

  private final PlayedApi api;
  private final KubernetesClient client;
  private final List<Event> told = new CopyOnWriteArrayList<>();
  private final List<Duration> delays = new ArrayList<>();
  private final EventRecorder events;
  private String pods = POD;
  private String nodes = LOST;
  private int patched = 200;
  private boolean leading = true;

  private static final class IgnoredCounts implements EventCounter {

    @Override
    public void written() {}

    @Override
    public void aggregated() {}

    @Override
    public void dropped() {}

    @Override
    public void failed() {}
  }

  FailureRecoveryControllerTest() throws IOException {
    api = new PlayedApi();
    client = api.client();
    events =
        new EventRecorder(
            new EventSink() {
              @Override
              public void create(Event event) {
                told.add(event);
              }

              @Override
              public void update(Event event, EventSeries series) {}
            },
            CLOCK,
            "test",
            EventRecorder.Budget.DEFAULT,
            new IgnoredCounts());
  }

  @AfterEach
  void close() {
    events.close();
    client.close();
    api.close();
  }

  private PlayedApi.Answer answer(PlayedApi.Asked asked) {
    if (asked.method().equals("PATCH")) {
      return new PlayedApi.Answer(patched, "{}");
    }
    return new PlayedApi.Answer(
        200,
        """
        {"metadata": {"resourceVersion": "9"}, "items": [%s]}
        """
            .formatted(asked.path().endsWith("/nodes") ? nodes : pods));
  }

  /** Lists pods and nodes once, and writes what is due. */
  private void run() {
    api.play(this::answer);
    try (FailureRecoveryController controller =
        new FailureRecoveryController(
            new FailureRecoveryController.Dependencies(
                new Reflectors(client, CLOCK, new Random(1), new ReadErrorLog()),
                new ApiClient(client, ApiClient.Options.atATime(1)),
                events,
                () -> leading),
            WorkQueueSettings.of(Runnable::run, (delay, task) -> delays.add(delay)))) {
      controller.start().orTimeout(1, TimeUnit.MINUTES).join();
      controller.leadershipStarted();
    }
    events.close();
  }

  private static JsonNode body(PlayedApi.Asked asked) throws JsonProcessingException {
    return JSON.readTree(asked.body());
  }

  @Test
  void thePhaseIsSetAndThenThePodIsDeletedOnce() throws JsonProcessingException {
    run();

    List<PlayedApi.Asked> patches = api.asked("PATCH", "/api/v1/namespaces/ns/pods/p/status");
    assertThat(patches).hasSize(1);
    JsonNode patch = body(patches.getFirst());
    assertThat(patch.at("/metadata/resourceVersion").asText()).isEqualTo("7");
    assertThat(patch.at("/metadata/uid").asText()).isEqualTo("u1");
    assertThat(patch.at("/status/phase").asText()).isEqualTo("Failed");
    assertThat(patch.at("/status/conditions")).hasSize(1);
    JsonNode condition = patch.at("/status/conditions/0");
    assertThat(condition.path("type").asText()).isEqualTo("KueueFailureRecovery");
    assertThat(condition.path("status").asText()).isEqualTo("True");
    assertThat(condition.path("reason").asText()).isEqualTo("KueueForcefullyDeleted");
    assertThat(condition.path("message").asText()).contains("lost");
    List<PlayedApi.Asked> deletions = api.asked("DELETE", "/api/v1/namespaces/ns/pods/p");
    assertThat(deletions).hasSize(1);
    JsonNode options = body(deletions.getFirst());
    assertThat(options.path("gracePeriodSeconds").isInt()).isTrue();
    assertThat(options.path("gracePeriodSeconds").asInt()).isZero();
    assertThat(options.at("/preconditions/uid").asText()).isEqualTo("u1");
    assertThat(told).hasSize(1);
    assertThat(told.getFirst().getReason()).isEqualTo("KueueForcefullyDeleted");
    assertThat(told.getFirst().getType()).isEqualTo("Warning");
    assertThat(told.getFirst().getRegarding().getUid()).isEqualTo("u1");
  }

  @Test
  void aPodNeedsTheAnnotationAndNoLabel() {
    pods = POD.replace("kueue.x-k8s.io/podset", "app");
    run();
    assertThat(api.asked("DELETE", "/p")).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"Succeeded", "Failed"})
  void aPodThatEndedByItselfKeepsItsPhaseAndIsDeleted(String phase) {
    pods = POD.replace("Running", phase);
    run();
    assertThat(api.asked("PATCH", "")).isEmpty();
    assertThat(api.asked("DELETE", "/api/v1/namespaces/ns/pods/p")).hasSize(1);
    assertThat(told.getFirst().getNote()).contains("was not removed in time").contains("lost");
  }

  private void nothingIsWritten() {
    run();
    assertThat(api.asked("PATCH", "")).isEmpty();
    assertThat(api.asked("DELETE", "")).isEmpty();
    assertThat(told).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"\"false\"", "\"\"", "\"True\""})
  void aPodWithoutTheAnnotationIsLeftAlone(String value) {
    pods =
        POD.replace(
            "\"kueue.x-k8s.io/safe-to-forcefully-delete\": \"true\"",
            "\"kueue.x-k8s.io/safe-to-forcefully-delete\": " + value);
    nothingIsWritten();
  }

  @Test
  void aLabelInPlaceOfTheAnnotationDoesNotCount() {
    pods =
        POD.replace("{\"kueue.x-k8s.io/safe-to-forcefully-delete\": \"true\"}", "{}")
            .replace(
                "\"labels\": {",
                "\"labels\": {\"kueue.x-k8s.io/safe-to-forcefully-delete\": \"true\", ");
    nothingIsWritten();
  }

  @Test
  void aPodThatIsNotDeletedIsLeftAlone() {
    pods = POD.replace("deletionTimestamp", "creationTimestamp");
    nothingIsWritten();
  }

  @Test
  void aPodThatIsDeletedForAShorterTimeIsLookedAtAgainWhenItIsDue() {
    pods = POD.replace("00:08:00", "00:09:30");
    nothingIsWritten();
    assertThat(delays).contains(Duration.ofSeconds(30));
  }

  @Test
  void aPodOfAReachableNodeIsLeftAlone() {
    nodes = LOST.replace("node.kubernetes.io/unreachable", "node.kubernetes.io/not-ready");
    nothingIsWritten();
  }

  @Test
  void aPodOfANodeThatIsNotThereIsLeftAlone() {
    nodes = LOST.replace("\"lost\"", "\"another\"");
    nothingIsWritten();
  }

  @Test
  void whoDoesNotLeadWritesNothing() {
    leading = false;
    nothingIsWritten();
  }

  @Test
  void aPodThatChangedMeanwhileIsTriedAgain() {
    patched = 409;
    run();
    assertThat(api.asked("DELETE", "")).isEmpty();
    assertThat(delays).contains(Duration.ofSeconds(1));
    assertThat(told).isEmpty();
  }

  @Test
  void aPodThatWasFailedBeforeIsDeletedWithoutAnotherPatch() {
    pods =
        POD.replace("Running", "Failed")
            .replace(
                "\"conditions\": []",
                "\"conditions\": [{\"type\": \"KueueFailureRecovery\", \"status\": \"True\"}]");
    run();
    assertThat(api.asked("PATCH", "")).isEmpty();
    assertThat(api.asked("DELETE", "/p")).hasSize(1);
  }
}
