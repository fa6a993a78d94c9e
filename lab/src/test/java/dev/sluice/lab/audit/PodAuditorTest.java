package dev.sluice.lab.audit;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Pods count from the moment that they may run until they end. */
class PodAuditorTest {

  private final List<ObjectChange> history = new ArrayList<>();

  private void pod(String name, boolean deleted, String metadata, String spec, String phase)
      throws JsonProcessingException {
    JsonNode pod =
        new ObjectMapper()
            .readTree(
                """
                {"metadata": {"namespace": "team", "name": "%1$s", "uid": "%1$s"%2$s},
                 "spec": {"containers": [{"resources": {"requests": {"cpu": "1500m"}}}, {}]%3$s},
                 "status": {"phase": "%4$s"}}
                """
                    .formatted(name, metadata, spec, phase));
    history.add(new ObjectChange(history.size() + 1, AuditedKind.POD, deleted, pod));
  }

  private void workload(String name, boolean deleted) throws JsonProcessingException {
    JsonNode workload =
        new ObjectMapper()
            .readTree(
                "{\"metadata\": {\"namespace\": \"team\", \"name\": \"%s\"}}".formatted(name));
    history.add(new ObjectChange(history.size() + 1, AuditedKind.WORKLOAD, deleted, workload));
  }

  @Test
  void thePeakIsThatOfPodsThatMayRunAtOnce() throws Exception {
    pod("gated", false, "", ",\"schedulingGates\": [{\"name\": \"g\"}]", "Pending");
    pod("one", false, "", "", "Pending");
    pod("two", false, "", "", "Running");
    pod("one", false, "", "", "Succeeded");
    pod("two", false, ",\"deletionTimestamp\": \"now\"", "", "Running");
    pod("three", false, "", "", "Running");
    pod("three", true, "", "", "Running");
    pod("gated", false, "", "", "Running");

    PodAuditor.Result result = PodAuditor.audit(history.reversed(), "team");

    assertThat(result.peak()).isEqualByComparingTo("3");
    assertThat(result.atPeak()).containsExactly("one", "two");
    assertThat(result.pods()).isEqualTo(4);
    assertThat(PodAuditor.audit(history, "another").pods()).isZero();
  }

  @Test
  void thePodsOfADeletedJobCountUntilItsWorkloadIsGone() throws Exception {
    pod("deleted-0", false, "", "", "Running");
    workload("deleted-workload", true);
    pod("other-0", false, "", "", "Running");
    pod("deleted-0", false, "", "", "Running");
    workload("other-workload", true);
    pod("other-1", false, "", "", "Running");

    PodAuditor.Result all = PodAuditor.audit(history, "team");
    PodAuditor.Result withoutReleased =
        PodAuditor.audit(
            history,
            "team",
            object ->
                Optional.of("deleted").filter(object.at("/metadata/name").asText()::startsWith));

    assertThat(all.peak()).isEqualByComparingTo("4.5");
    assertThat(withoutReleased.peak()).isEqualByComparingTo("3");
    assertThat(withoutReleased.atPeak()).containsExactly("other-0", "other-1");
  }
}
