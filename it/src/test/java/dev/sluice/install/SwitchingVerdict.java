package dev.sluice.install;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.lab.audit.AuditReport;
import dev.sluice.lab.audit.AuditedKind;
import dev.sluice.lab.audit.Auditor;
import dev.sluice.lab.audit.Auditor.FlavorResourcePair;
import dev.sluice.lab.audit.ObjectChange;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether an exchange of operators disturbed nothing.
 *
 * @param cluster where it was
 * @param podsBefore UIDs of the pods that ran before it, by name
 * @param running the CPUs of the pool, all of which are in use at the end
 */
record SwitchingVerdict(SwitchedCluster cluster, Map<String, String> podsBefore, int running) {

  private static final Logger LOG = LoggerFactory.getLogger(SwitchingVerdict.class);

  /** What is judged by the rules of queues: the ClusterQueue, and what was always queued. */
  private static final Pattern JUDGED =
      Pattern.compile("^(pool$|devices$|(job-)?(runs|waits|claims)-|pod-bare-|job-unqueued-)");

  /**
   * Judges every write since the cluster was there: adopted definitions end all watches, so that a
   * recorder would miss some. Of what was imported, no pod was made by a queue.
   */
  void judge(List<ObjectChange> history) {
    AuditReport report =
        Auditor.audit(
            history.stream()
                .filter(change -> JUDGED.matcher(text(change.object(), "/metadata/name")).find())
                .toList());
    LOG.info("switching {}", report.summary());
    assertThat(report.violations()).isEmpty();
    assertThat(
            report
                .peaks()
                .getOrDefault(new FlavorResourcePair("pool", "spot", "cpu"), BigDecimal.ZERO))
        .as("at every moment what is reserved is within the quota, and all of it at the end")
        .isEqualByComparingTo(BigDecimal.valueOf(running));
    assertThat(cluster.runningPods()).as("the same pods, running").containsAllEntriesOf(podsBefore);
    assertThat(history)
        .filteredOn(change -> change.kind() == AuditedKind.JOB)
        .filteredOn(change -> text(change.object(), "/metadata/name").startsWith("runs-"))
        .extracting(
            change -> change.object().at("/metadata/generation").asInt(),
            change -> change.object().at("/spec/suspend").asBoolean())
        .as("made suspended, and started once, by the earlier operator")
        .containsOnly(tuple(1, true), tuple(2, false));
    assertThat(history)
        .as("no Workload was evicted or deleted")
        .filteredOn(change -> change.kind() == AuditedKind.WORKLOAD)
        .filteredOn(change -> text(change.object(), "/metadata/name").startsWith("job-runs-"))
        .allSatisfy(
            change -> {
              assertThat(change.deleted()).isFalse();
              assertThat(change.object().path("status").toString()).doesNotContain("Evicted");
              assertThat(change.object().at("/metadata/finalizers").toString())
                  .contains("kueue.x-k8s.io/resource-in-use");
            });
    assertThat(cluster.admitted("job-deactivated-")).isEmpty();
    assertThat(cluster.admitted("job-backs-off-")).isEmpty();
  }

  private static String text(JsonNode object, String path) {
    return object.at(path).asText();
  }
}
