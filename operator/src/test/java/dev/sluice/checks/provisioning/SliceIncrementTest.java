package dev.sluice.checks.provisioning;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.checks.provisioning.ProvisioningReconciler.SliceIncrement;
import dev.sluice.workload.KnownWorkloads;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.Assignment;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Changes of 0.20, section 4, ElasticJobsViaWorkloadSlicesForProvisioningRequests. */
class SliceIncrementTest {

  private static final String ELASTIC = "kueue.x-k8s.io/elastic-job: 'true'";

  /** A slice of the Job with this UID. */
  private static GivenProvisioning slice(String name, String owner, String annotations) {
    return new GivenProvisioning()
        .with("/metadata/name", name)
        .with("/metadata/uid", name + "-uid")
        .with("/metadata/annotations", "{%s}".formatted(annotations))
        .with(
            "/metadata/ownerReferences",
            "[{apiVersion: batch/v1, kind: Job, name: j, uid: %s, controller: true}]"
                .formatted(owner));
  }

  private static GivenProvisioning replacement() {
    return slice("new", "job", ELASTIC + ", kueue.x-k8s.io/workload-slice-replacement-for: ns/old")
        .with(
            "/status/admission/podSetAssignments",
            "[{name: a, count: 5, flavors: {}}, {name: b, count: 1, flavors: {}}, {name: c, count:"
                + " 2, flavors: {}}]");
  }

  private static GivenProvisioning replaced() {
    return slice("old", "job", ELASTIC)
        .with(
            "/status/admission/podSetAssignments",
            "[{name: a, count: 3, flavors: {}}, {name: b, count: 4, flavors: {}}]")
        .isTrue("Admitted");
  }

  private static Map<String, Integer> counts(GivenProvisioning old) {
    CachedWorkload workload =
        SliceIncrement.of(
            replacement().workload(), new KnownWorkloads(Map.of("old", old.workload())));
    return workload.assignments().stream()
        .collect(Collectors.toMap(Assignment::name, Assignment::count));
  }

  @Test
  void nodesAreNeededForThePodsThatTheReplacedSliceDoesNotRun() {
    assertThat(counts(replaced())).isEqualTo(Map.of("a", 2, "b", 0, "c", 2));
  }

  @ParameterizedTest
  @CsvSource({"Evicted", "Finished"})
  void aSliceThatDoesNotRunHasNoNodes(String condition) {
    assertThat(counts(replaced().isTrue(condition))).isEqualTo(Map.of("a", 5, "b", 1, "c", 2));
  }

  @Test
  void aSliceThatIsMadeSmallerNeedsFewerNodes() {
    GivenProvisioning smaller =
        replacement().with("/spec/podSets/0", "{name: a, count: 4, template: {spec: {}}}");
    assertThat(
            SliceIncrement.of(
                    smaller.workload(), new KnownWorkloads(Map.of("old", replaced().workload())))
                .assignments()
                .getFirst()
                .count())
        .isEqualTo(1);
  }

  @Test
  void aSliceOfAnotherJobOrOneThatIsNoneDoesNotCount() {
    Map<String, Integer> all = Map.of("a", 5, "b", 1, "c", 2);
    assertThat(counts(slice("old", "other", ELASTIC).isTrue("Admitted"))).isEqualTo(all);
    assertThat(counts(slice("old", "job", "").isTrue("Admitted"))).isEqualTo(all);
    assertThat(counts(slice("old", "job", ELASTIC))).isEqualTo(all);
  }
}
