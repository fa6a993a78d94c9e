package dev.sluice.lab.audit;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.lab.audit.AuditReport.Violation;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Pods of topologies never request more than their node has. */
class NodeAuditorTest {

  private static final Map<String, Map<String, BigDecimal>> NODES =
      Map.of(
          "n1", Map.of("cpu", new BigDecimal(3), "pods", new BigDecimal(10)),
          "n2", Map.of("cpu", new BigDecimal(100), "pods", new BigDecimal(2)));

  private final List<ObjectChange> history = new ArrayList<>();

  private void pod(String name, String node, boolean deleted, String metadata, String spec)
      throws JsonProcessingException {
    history.add(
        new ObjectChange(
            history.size() + 1,
            AuditedKind.POD,
            deleted,
            new ObjectMapper()
                .readTree(
                    """
                    {"metadata": {"namespace": "team", "name": "%1$s", "uid": "%1$s",
                       "annotations": {"kueue.x-k8s.io/workload": "w"}%3$s},
                     "spec": {"containers": [{"resources": {"requests": {"cpu": "1500m"}}}, {}],
                       "nodeSelector": {"kubernetes.io/hostname": "%2$s"}%4$s},
                     "status": {"phase": "Pending"}}
                    """
                        .formatted(name, node, metadata, spec))));
  }

  private List<String> violations() {
    return NodeAuditor.audit(history.reversed(), NODES).violations().stream()
        .map(Violation::toString)
        .toList();
  }

  @Test
  void podsWithinTheirNodesAreNoViolation() throws Exception {
    pod("one", "n1", false, "", "");
    pod("gated", "n1", false, "", ",\"schedulingGates\": [{\"name\": \"g\"}]");
    pod("two", "n1", false, "", "");
    pod("two", "n1", false, "", ",\"nodeName\": \"n1\"");
    pod("one", "n1", false, ",\"deletionTimestamp\": \"now\"", "");
    pod("three", "n1", false, "", "");
    pod("three", "n1", true, "", "");
    pod("four", "n1", false, "", "");
    pod("unknown", "n3", false, "", "");
    assertThat(violations()).isEmpty();
    assertThat(NodeAuditor.audit(history, NODES).pods()).isEqualTo(4);
  }

  @Test
  void onePodTooManyIsFoundWithTheFigures() throws Exception {
    pod("one", "n1", false, "", "");
    pod("two", "n1", false, "", "");
    pod("three", "n2", false, "", ",\"nodeName\": \"n1\"");
    pod("three", "n2", false, "", ",\"nodeName\": \"n1\"");
    assertThat(violations())
        .containsExactly(
            "pods requested more than their node has at revision 3: team/three,"
                + " n1: 4.5 of cpu requested, 3 there");
  }

  @Test
  void theNumberOfPodsCountsToo() throws Exception {
    for (String name : List.of("one", "two", "three")) {
      pod(name, "n2", false, "", "");
    }
    assertThat(violations())
        .containsExactly(
            "pods requested more than their node has at revision 3: team/three,"
                + " n2: 3 of pods requested, 2 there");
  }
}
