package dev.sluice.checks.multikueue.sync;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.kube.json.JsonMergePatch;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a gated pod of the manager tells of the one in a worker. */
class PodStatusesTest {

  private static final Instant NOW = Instant.parse("2026-03-01T12:00:00.5Z");

  /** What the API server writes on a gated pod. */
  private static final String GATED =
      """
      {'phase': 'Pending', 'qosClass': 'Burstable', 'conditions': [
        {'type': 'PodScheduled', 'status': 'False', 'reason': 'SchedulingGated', 'message': 'm'}]}
      """;

  private static final String RUNNING =
      """
      {'phase': 'Running', 'qosClass': 'Burstable', 'podIP': '10.1.0.1', 'hostIP': '10.0.0.1',
       'startTime': '2026-03-01T11:00:00Z',
       'conditions': [{'type': 'PodScheduled', 'status': 'True'}, {'type': 'Ready', 'status': 'True'}],
       'containerStatuses': [{'name': 'c', 'ready': true, 'started': true,
         'state': {'running': {'startedAt': '2026-03-01T11:00:00Z'}}}]}
      """;

  private static JsonNode pod(String status) throws Exception {
    return new ObjectMapper().readTree(("{'status': " + status + "}").replace('\'', '"'));
  }

  private static JsonNode status(String local, JsonNode patch) throws Exception {
    return JsonMergePatch.applied(pod(local).deepCopy(), patch.deepCopy()).path("status");
  }

  private static JsonNode json(String text) throws Exception {
    return pod(text).path("status");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          {'phase': 'Running', 'conditions': [{'type': 'PodScheduled', 'status': 'True'}]} | {'phase': 'Running', 'qosClass': 'Burstable', 'conditions': [{'type': 'PodScheduled', 'status': 'True'}]}
          {'phase': 'Succeeded', 'conditions': [{'type': 'PodScheduled', 'status': 'True'}]} | {'phase': 'Succeeded', 'qosClass': 'Burstable', 'conditions': [{'type': 'PodScheduled', 'status': 'True'}]}
          {'phase': 'Failed', 'qosClass': 'BestEffort', 'reason': 'Evicted', 'conditions': [{'type': 'PodScheduled', 'status': 'True', 'observedGeneration': 3}]} | {'phase': 'Failed', 'reason': 'Evicted', 'qosClass': 'Burstable', 'conditions': [{'type': 'PodScheduled', 'status': 'True'}]}
          {'phase': 'Pending', 'nominatedNodeName': 'n', 'observedGeneration': 2, 'resize': 'x', 'resourceClaimStatuses': [1], 'conditions': [{'type': 'PodScheduled', 'status': 'True'}]} | {'phase': 'Pending', 'qosClass': 'Burstable', 'conditions': [{'type': 'PodScheduled', 'status': 'True'}]}
          """)
  void whatIsScheduledThereIsToldWhole(String there, String then) throws Exception {
    JsonNode patch = PodStatuses.synced(pod(GATED), pod(there), NOW);

    assertThat(status(GATED, patch)).isEqualTo(json(then));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          {'phase': 'Pending'}
          {'phase': 'Pending', 'conditions': [{'type': 'PodScheduled', 'status': 'False', 'reason': 'Unschedulable'}]}
          {'phase': 'Pending', 'conditions': [{'type': 'PodScheduled', 'status': 'False', 'reason': 'SchedulingGated', 'observedGeneration': 1}]}
          """)
  void untilItIsScheduledThereItIsWhatWaitsForItsGatesHere(String there) throws Exception {
    assertThat(PodStatuses.synced(pod(GATED), pod(there), NOW)).isEmpty();
  }

  @Test
  void oneThatIsMadeAnewThereWaitsHereAgain() throws Exception {
    JsonNode patch = PodStatuses.synced(pod(RUNNING), pod("{'phase': 'Pending'}"), NOW);

    assertThat(status(RUNNING, patch))
        .isEqualTo(
            json(
                """
                {'phase': 'Pending', 'qosClass': 'Burstable', 'conditions': [{'type': 'PodScheduled',
                  'status': 'False', 'reason': 'SchedulingGated',
                  'message': 'Scheduling is blocked due to non-empty scheduling gates',
                  'lastTransitionTime': '2026-03-01T12:00:00Z'}]}
                """));
  }

  @Test
  void whatSluiceStoppedThereHasNotEndedHere() throws Exception {
    String stopped =
        """
        {'phase': 'Failed', 'conditions': [{'type': 'PodScheduled', 'status': 'True'},
          {'type': 'TerminationTarget', 'status': 'True'}]}
        """;

    JsonNode after = status(RUNNING, PodStatuses.synced(pod(RUNNING), pod(stopped), NOW));

    assertThat(after.path("phase").asText()).isEqualTo("Pending");
    // as long as it is being stopped, it runs
    JsonNode stopping = pod(stopped.replace("Failed", "Running"));
    assertThat(
            status(RUNNING, PodStatuses.synced(pod(RUNNING), stopping, NOW)).path("phase").asText())
        .isEqualTo("Running");
  }

  @ParameterizedTest
  @CsvSource({"Succeeded", "Failed"})
  void whatHasEndedHereStaysSo(String phase) throws Exception {
    JsonNode ended = pod("{'phase': '" + phase + "'}");

    assertThat(PodStatuses.synced(ended, pod(RUNNING), NOW)).isEmpty();
    assertThat(PodStatuses.gated(ended, NOW)).isEmpty();
    assertThat(PodStatuses.gone(ended, "gone", NOW)).isEmpty();
  }

  @Test
  void whatRunsNowhereAnyMoreWaitsAsBefore() throws Exception {
    JsonNode after = status(RUNNING, PodStatuses.gated(pod(RUNNING), NOW));

    assertThat(after.path("phase").asText()).isEqualTo("Pending");
    assertThat(after.path("qosClass").asText()).isEqualTo("Burstable");
    assertThat(after.path("conditions")).hasSize(1);
    assertThat(after.has("containerStatuses") || after.has("podIP") || after.has("startTime"))
        .isFalse();
    assertThat(PodStatuses.gated(pod(GATED), NOW)).isEmpty();
  }

  @Test
  void whatIsGoneForGoodHasFailedAndNobodyKnowsHow() throws Exception {
    JsonNode after =
        status(RUNNING, PodStatuses.gone(pod(RUNNING), "gone from worker cluster \"a\"", NOW));

    assertThat(after.path("phase").asText()).isEqualTo("Failed");
    assertThat(after.path("reason").asText()).isEqualTo("DeletedInWorkerCluster");
    assertThat(after.path("message").asText()).isEqualTo("gone from worker cluster \"a\"");
    JsonNode container = after.path("containerStatuses").path(0);
    assertThat(container.path("ready").asBoolean()).isFalse();
    assertThat(container.path("state").has("running")).isFalse();
    assertThat(container.at("/state/terminated/reason").asText())
        .isEqualTo("ContainerStatusUnknown");
    assertThat(after.at("/conditions/1/status").asText()).isEqualTo("False");
  }
}
