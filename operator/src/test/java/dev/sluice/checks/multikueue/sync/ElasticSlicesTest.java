package dev.sluice.checks.multikueue.sync;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.sluice.checks.multikueue.placement.ClusterCandidates;
import dev.sluice.checks.multikueue.placement.WorkerState.Difference;
import dev.sluice.checks.multikueue.remote.RemoteObjects.Key;
import dev.sluice.checks.multikueue.sync.PlacementPlanner.LimitedCandidates;
import dev.sluice.kube.Fakes;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadParser;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The slices of an elastic job in the manager, and where each may go. */
class ElasticSlicesTest {

  private static final ClusterCandidates BOTH =
      new ClusterCandidates(List.of("one", "two"), Map.of());

  private final Fakes.SetWorkloads workloads = new Fakes.SetWorkloads();
  private final ElasticSlices slices = new ElasticSlices(workloads);
  private final List<Duration> delays = new ArrayList<>();

  private static String json(String name, String replaces, int count, String status) {
    return """
    {"metadata": {"name": "%1$s", "namespace": "physics", "resourceVersion": "1", "uid": "%1$s",
      "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "j", "uid": "j",
        "controller": true}],
      "annotations": {"kueue.x-k8s.io/elastic-job": "true",
        "kueue.x-k8s.io/workload-slice-name": "a",
        "kueue.x-k8s.io/workload-slice-replacement-for": "%2$s"}},
     "spec": {"podSets": [{"name": "main", "count": %3$d, "template": {"spec": {}}}]},
     "status": {%4$s}}
    """
        .formatted(name, replaces.isEmpty() ? "" : "physics/" + replaces, count, status);
  }

  private CachedWorkload given(String name, String replaces, String status) throws IOException {
    CachedWorkload slice = parsed(json(name, replaces, 1, status));
    workloads.workloads.put(name, slice);
    return slice;
  }

  private static CachedWorkload parsed(String json) throws IOException {
    return new WorkloadParser().parse(json.getBytes(StandardCharsets.UTF_8));
  }

  private static String in(String cluster) {
    return "\"clusterName\": \"" + cluster + "\"";
  }

  private static String finished() {
    return "\"conditions\": [{\"type\": \"Finished\", \"status\": \"True\"}]";
  }

  private List<String> allowed(CachedWorkload slice) {
    LimitedCandidates candidates = slices.limit(context(slice, Map.of()), BOTH);
    candidates.requeueAfter().ifPresent(delays::add);
    return candidates.clusterCandidates().allowed();
  }

  private static RemoteWorkloadContext context(CachedWorkload slice, Map<String, JsonNode> copies) {
    return new RemoteWorkloadContext(
        MultiKueueKinds.beside(List.of(), List.of(), true),
        new Key("physics", slice.id().name()),
        Optional.of(slice),
        Optional.of("check"),
        copies,
        Instant.EPOCH,
        new ReconcileState());
  }

  private static String ready() {
    return ", \"admissionChecks\": [{\"name\": \"check\", \"state\": \"Ready\"}]";
  }

  @Test
  void aReplacementFollowsTheSliceThatItReplaces() throws IOException {
    CachedWorkload first = given("a", "", "");
    CachedWorkload second = given("b", "a", "");
    assertThat(allowed(first)).containsExactly("one", "two");
    assertThat(allowed(second)).as("nobody knows yet where the job runs").isEmpty();
    assertThat(delays).hasSize(1);

    given("a", "", in("two"));
    assertThat(allowed(second)).containsExactly("two");
    given("a", "", in("two") + ", " + finished());
    assertThat(allowed(second)).as("nothing is left to follow").hasSize(2);
    assertThat(delays).hasSize(1);
  }

  @Test
  void aSliceWhoseReplacementRunsIsSuperseded() throws IOException {
    CachedWorkload first = given("a", "", in("two"));
    given("b", "a", "");
    assertThat(slices.isSuperseded(first, "check")).isFalse();
    given("b", "a", in("two"));
    assertThat(slices.isSuperseded(first, "check")).as("it is bound to it, and waits").isFalse();
    CachedWorkload second = given("b", "a", in("two") + ready());
    assertThat(slices.isSuperseded(first, "check")).isTrue();
    assertThat(slices.isSuperseded(second, "check")).isFalse();
    given("b", "a", in("two") + ready() + ", " + finished());
    assertThat(slices.isSuperseded(first, "check")).isFalse();
  }

  @Test
  void aReplacementIsBoundToTheWorkerOfTheSliceThatItReplaces() throws IOException {
    given("a", "", "");
    CachedWorkload second = given("b", "a", "");
    assertThat(slices.followed(second)).isEmpty();
    CachedWorkload first = given("a", "", in("two"));
    assertThat(slices.followed(second)).contains("two");
    assertThat(slices.followed(first)).isEmpty();
  }

  /** Its job is deleted with a copy that it still names: the replacement's pods would be, too. */
  @Test
  void theCopyOfAReplacedSliceIsLeftToTheWorkerThatRunsTheReplacement() throws IOException {
    CachedWorkload first = given("a", "", in("two") + ", " + finished());
    JsonNode runs = new ObjectMapper().readTree(json("a", "", 1, ""));
    JsonNode ended = new ObjectMapper().readTree(json("a", "", 1, finished()));
    given("b", "a", in("two") + ready());
    assertThat(slices.isHandedOver(context(first, Map.of("two", runs)))).isTrue();
    assertThat(slices.isHandedOver(context(first, Map.of("two", ended)))).isFalse();
    assertThat(slices.isHandedOver(context(first, Map.of("one", runs)))).isFalse();
    given("b", "a", in("one") + ready());
    assertThat(slices.isHandedOver(context(first, Map.of("two", runs)))).isFalse();
    given("b", "a", in("two") + ready() + ", " + finished());
    assertThat(slices.isHandedOver(context(first, Map.of("two", runs)))).isFalse();
  }

  @Test
  void aRemoteJobThatNamesAnotherSliceIsStillOfTheJob() throws IOException {
    CachedWorkload first = given("a", "", "");
    given("b", "a", "");
    assertThat(slices.isOther(first, "b")).isTrue();
    assertThat(slices.isOther(first, "a")).isFalse();
    assertThat(slices.isOther(first, "c")).isFalse();
    workloads.workloads.put(
        "x", parsed(json("x", "a", 1, "").replace("\"uid\": \"j\"", "\"uid\": \"k\"")));
    assertThat(slices.isOther(first, "x")).as("of another job").isFalse();
  }

  /** A copy with quota is resized in the worker, where it is known when the pods are gone. */
  @Test
  void aCopyThatIsLargerIsResizedHereOnlyWithoutQuota() throws IOException {
    CachedWorkload ours = parsed(json("a", "", 2, ""));
    String quota = "\"conditions\": [{\"type\": \"QuotaReserved\", \"status\": \"True\"}]";
    assertThat(difference(ours, json("a", "", 3, ""))).isEqualTo(Difference.PATCHABLE);
    assertThat(difference(ours, json("a", "", 3, quota))).isEqualTo(Difference.NONE);
    assertThat(difference(ours, json("a", "", 1, ""))).isEqualTo(Difference.OTHER);
    assertThat(difference(ours, json("a", "", 3, "").replace("main", "other")))
        .isEqualTo(Difference.OTHER);
  }

  /** The worker has given the quota back of pods that are gone; nobody here knows that yet. */
  @Test
  void aSmallerCopyOfAJobThatScalesItselfStays() throws IOException {
    CachedWorkload ours = parsed(json("a", "", 3, ""));
    String quota = "\"conditions\": [{\"type\": \"QuotaReserved\", \"status\": \"True\"}]";
    assertThat(difference(ours, json("a", "", 1, quota), true)).isEqualTo(Difference.NONE);
    assertThat(difference(ours, json("a", "", 1, quota), false)).isEqualTo(Difference.OTHER);
    assertThat(difference(ours, json("a", "", 1, ""), true)).isEqualTo(Difference.OTHER);
    assertThat(difference(ours, json("a", "", 1, quota).replace("main", "other"), true))
        .isEqualTo(Difference.OTHER);
  }

  private static Difference difference(CachedWorkload ours, String copy) throws IOException {
    return difference(ours, copy, false);
  }

  private static Difference difference(CachedWorkload ours, String copy, boolean scalesRemotely)
      throws IOException {
    JsonNode remote = new ObjectMapper().readTree(copy);
    return new RemoteWorkloadFactory().read(remote, Optional.of(ours), scalesRemotely).difference();
  }
}
