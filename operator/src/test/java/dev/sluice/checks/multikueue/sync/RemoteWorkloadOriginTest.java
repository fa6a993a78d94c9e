package dev.sluice.checks.multikueue.sync;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.checks.multikueue.placement.WorkerState.Difference;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadParser;
import java.io.IOException;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A remote Workload says which Workload of the manager it was made for. */
class RemoteWorkloadOriginTest {

  private static final OriginLabel ORIGIN = new OriginLabel("manager", true);

  private static ObjectNode workload(String uid) throws IOException {
    return (ObjectNode)
        JsonMappers.JSON.readTree(
            """
            {"metadata": {"name": "group", "namespace": "team", "uid": "%s",
                "annotations": {"sluice.dev/origin-workload-uid": "of-a-manager-of-this-manager"}},
              "spec": {"queueName": "analysis", "podSets": [{"name": "main", "count": 1,
                "template": {"spec": {"containers": [{"name": "c", "image": "i"}]}}}]}}
            """
                .formatted(uid));
  }

  private static Difference difference(ObjectNode copy, String uid) throws IOException {
    CachedWorkload ours =
        new WorkloadParser().parse(JsonMappers.JSON.writeValueAsBytes(workload(uid)));
    return new RemoteWorkloadFactory().read(copy, Optional.of(ours), false).difference();
  }

  @Test
  void aCopyOfAnotherWorkloadOfThisNameIsToldFromOneOfThis() throws IOException {
    ObjectNode copy =
        RemoteWorkloadFactory.copy(workload("second"), ORIGIN, false, Optional.empty());

    assertThat(copy.at("/metadata/annotations/sluice.dev~1origin-workload-uid").asText())
        .isEqualTo("second");
    assertThat(difference(copy, "second")).isEqualTo(Difference.NONE);
    assertThat(difference(copy, "third")).isEqualTo(Difference.OTHER_WORKLOAD);
  }

  /** Earlier operators wrote no such annotation. */
  @Test
  void aCopyThatDoesNotSayCountsAsOneOfThis() throws IOException {
    ObjectNode copy =
        RemoteWorkloadFactory.copy(workload("second"), ORIGIN, false, Optional.empty());
    copy.withObjectProperty("metadata").remove("annotations");

    assertThat(difference(copy, "third")).isEqualTo(Difference.NONE);
  }
}
