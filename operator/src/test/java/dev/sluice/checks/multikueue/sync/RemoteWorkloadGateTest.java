package dev.sluice.checks.multikueue.sync;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.json.JsonMappers;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The preemption gate of the Workloads that a manager sends to its workers. */
class RemoteWorkloadGateTest {

  private static final OriginLabel ORIGIN = new OriginLabel("manager", true);

  private static JsonNode gates(String spec, boolean orchestrated) throws JsonProcessingException {
    JsonNode workload =
        JsonMappers.JSON.readTree("{\"metadata\": {\"name\": \"w\"}, \"spec\": " + spec + "}");
    return RemoteWorkloadFactory.copy(workload, ORIGIN, orchestrated, Optional.empty())
        .at("/spec/preemptionGates");
  }

  @Test
  void hasTheNameOfTheApi() throws JsonProcessingException {
    assertThat(gates("{}", true)).hasToString("[{\"name\":\"kueue.x-k8s.io/multikueue\"}]");
    assertThat(gates("{}", false).isMissingNode()).isTrue();
  }

  @Test
  void isThereOnceBesideThoseOfTheWorkload() throws JsonProcessingException {
    assertThat(gates("{\"preemptionGates\": [{\"name\": \"a\"}]}", true).findValuesAsText("name"))
        .containsExactly("a", "kueue.x-k8s.io/multikueue");
    String own = "{\"preemptionGates\": [{\"name\": \"kueue.x-k8s.io/multikueue\"}]}";
    assertThat(gates(own, true).findValuesAsText("name"))
        .containsExactly("kueue.x-k8s.io/multikueue");
  }
}
