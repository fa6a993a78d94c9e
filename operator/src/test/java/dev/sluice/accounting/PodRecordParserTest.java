package dev.sluice.accounting;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.workload.feed.AdmittedRequests;
import java.io.IOException;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Which pods count for nobody (docs/node-capacity.md#what-placeholders-count-for), and what the
 * others hold.
 */
class PodRecordParserTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  /** As the API server gives a placeholder back. */
  private static final String PLACEHOLDER =
      """
      {"metadata": {"name": "w-check-1-main-0", "namespace": "ns", "uid": "u",
        "labels": {"sluice.dev/placeholder": "true"},
        "ownerReferences": [{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload",
          "name": "w", "uid": "w-uid", "controller": true}]},
       "spec": {"priorityClassName": "sluice-placeholder", "terminationGracePeriodSeconds": 0,
        "containers": [
         {"name": "placeholder", "image": "pause", "imagePullPolicy": "IfNotPresent",
          "resources": {"requests": {"cpu": "1"}}, "securityContext": {},
          "terminationMessagePath": "/dev/termination-log",
          "terminationMessagePolicy": "File"}]},
       "status": {"phase": "Running"}}
      """;

  private final PodRecordParser parser =
      new PodRecordParser(AdmittedRequests.PLAIN, "pause"::equals);

  @Test
  void aPlaceholderCountsForNobody() throws Exception {
    assertThat(parser.ended(JSON.readTree(PLACEHOLDER))).isTrue();
  }

  /** Whoever may change a pod may write its label and its owner, but can't run anything so. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      textBlock =
          """
          /spec/priorityClassName             | "high"
          /spec/terminationGracePeriodSeconds | 86400
          /spec/containers/0/tty              | true
          /spec/containers/0/image            | "mine"
          /spec/containers/0/command          | ["/mine"]
          /spec/containers/0/args             | ["mine"]
          /spec/containers/0/lifecycle        | {"postStart": {"exec": {"command": ["/mine"]}}}
          /spec/containers/0/livenessProbe    | {"exec": {"command": ["/mine"]}}
          /spec/containers/0/volumeMounts     | [{"name": "v", "mountPath": "/mine"}]
          /spec/containers/1                  | {"name": "second", "image": "pause"}
          /spec/initContainers                | [{"name": "first", "image": "mine"}]
          /spec/ephemeralContainers           | [{"name": "debug", "image": "mine"}]
          /metadata/labels                    | {}
          /metadata/ownerReferences           | []
          """)
  void aPodThatMayDoSomethingCounts(String pointer, String value) throws Exception {
    assertThat(parser.ended(edited(pointer, value))).isFalse();
  }

  private static final String PENDING =
      "{\"type\": \"PodResizePending\", \"status\": \"True\", \"reason\": \"%s\"}";

  private static final String IN_PROGRESS =
      "{\"type\": \"PodResizeInProgress\", \"status\": \"True\"}";

  /** Thousandths of a CPU that a pod holds; a kubelet tells what it has allocated, and what is. */
  @ParameterizedTest
  @CsvSource({
    "100m, '', '', '', 100",
    "100m, 2, 2, '', 2000", // the kubelet hasn't looked yet
    "100m, 2, 2, Deferred, 2000",
    "100m, 100m, 2, InProgress, 2000",
    "100m, '', 2, InProgress, 2000",
    "2, 100m, 100m, Deferred, 2000",
    "2, 100m, 100m, Infeasible, 100",
    "2, 100m, 1, Infeasible, 1000",
    "2, '', '', Infeasible, 2000",
    "100m, 100m, 2, '', 100", // nothing is to be resized
    "1m, 1m, 2m, InProgress, 1", // the least that a kubelet reports
  })
  void aPodHoldsWhatItHeldUntilTheKubeletHasResizedIt(
      String cpu, String allocated, String actual, String resize, long held) throws Exception {
    ObjectNode pod = (ObjectNode) JSON.readTree(PLACEHOLDER);
    pod.withObject("/spec/containers/0/resources/requests").put("cpu", cpu);
    ObjectNode status = pod.withObject("/status");
    ObjectNode container = status.putArray("containerStatuses").addObject();
    container.put("name", "placeholder");
    if (!allocated.isEmpty()) {
      container.putObject("allocatedResources").put("cpu", allocated);
    }
    if (!actual.isEmpty()) {
      container.withObject("/resources/requests").put("cpu", actual).put("memory", "1Gi");
    }
    if (!resize.isEmpty()) {
      String condition = resize.equals("InProgress") ? IN_PROGRESS : PENDING.formatted(resize);
      status.set("conditions", JSON.readTree("[" + condition + "]"));
    }
    assertThat(parser.of(pod).amounts().counted()).isEqualTo(Map.of("cpu", held));
    assertThat(parser.of(pod).amounts().requested()).containsEntry("cpu", held);

    status.remove("conditions");
    status.put("resize", resize);
    assertThat(parser.of(pod).amounts().counted())
        .as("a kubelet before 1.33")
        .isEqualTo(Map.of("cpu", held));
  }

  private static JsonNode edited(String pointer, String value) throws IOException {
    JsonNode pod = JSON.readTree(PLACEHOLDER);
    int slash = pointer.lastIndexOf('/');
    JsonNode parent = pod.at(pointer.substring(0, slash));
    String field = pointer.substring(slash + 1);
    if (parent instanceof ObjectNode object) {
      object.set(field, JSON.readTree(value));
    } else {
      ((ArrayNode) parent).add(JSON.readTree(value));
    }
    return pod;
  }
}
