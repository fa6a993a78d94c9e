package dev.sluice.lab.audit;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import org.junit.jupiter.api.Test;

class DuplicateRunDetectorTest {

  private final DuplicateRunDetector runs = new DuplicateRunDetector();
  private long revision;

  private void pod(String cluster, String job, String uid, String phase, boolean deleted) {
    ObjectNode pod = new ObjectMapper().createObjectNode();
    ObjectNode metadata = pod.putObject("metadata");
    metadata.put("namespace", "ns").put("name", "pod-" + uid).put("uid", uid);
    metadata.putObject("labels").put("batch.kubernetes.io/job-name", job);
    pod.putObject("status").put("phase", phase);
    runs.seen(cluster, new ObjectChange(++revision, AuditedKind.POD, deleted, pod));
  }

  @Test
  void oneClusterAfterTheOtherIsFine() {
    pod("a", "job", "1", "Running", false);
    pod("a", "job", "2", "Pending", false);
    pod("a", "job", "1", "Succeeded", false);
    pod("a", "job", "2", "Running", true);
    pod("b", "job", "3", "Running", false);

    assertThat(runs.violations()).isEmpty();
    assertThat(runs.pods("ns", "job", "b")).isEqualTo(1);
  }

  @Test
  void aPodInAnotherClusterWhileOneHasNotEndedIsNoted() {
    pod("a", "job", "1", "Running", false);
    pod("b", "job", "2", "Pending", false);

    assertThat(runs.violations()).containsExactly("ns/job runs in [a, b]: pod pod-2 was made in b");
  }

  @Test
  void jobsOfDifferentNamesHaveNothingToDoWithEachOther() {
    pod("a", "one", "1", "Running", false);
    pod("b", "two", "2", "Running", false);

    assertThat(runs.violations()).isEmpty();
  }
}
