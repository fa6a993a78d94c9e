package dev.sluice.workload.lifecycle;

import static dev.sluice.api.v1beta2.ClusterQueue.ConcurrentAdmissionMode.RETAIN_FIRST_ADMISSION;
import static dev.sluice.api.v1beta2.ClusterQueue.ConcurrentAdmissionMode.TRY_PREFERRED_FLAVORS;
import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.v1beta2.ClusterQueue.ConcurrentAdmissionMode;
import dev.sluice.workload.lifecycle.FamilyPolicy.Result;
import dev.sluice.workload.lifecycle.FamilyPolicy.Write;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.CachedWorkload.EvictionCount;
import dev.sluice.workload.record.WorkloadParser;
import dev.sluice.workload.status.VariantPolicy;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A parent and its variants, whatever is stored of them (docs/concurrent-admission.md). */
class FamilyPolicyTest {

  private static final Instant NOW = Instant.parse("2026-03-01T10:01:00Z");
  private static final WorkloadParser PARSER = new WorkloadParser();

  private static final String QUOTA =
      """
      "admission": {"clusterQueue": "q", "podSetAssignments": [
        {"name": "main", "count": 1, "flavors": {"cpu": "%s"}, "resourceUsage": {"cpu": "1"}%s}]},
      """;

  private static final String PLACES =
      """
      , "topologyAssignment": {"levels": ["kubernetes.io/hostname"],
         "domains": [{"values": ["%s"], "count": 1}]}
      """;

  /**
   * The quota of a flavor; after an {@code @} the node of its pod, after a {@code !} a failed one.
   */
  private static String quota(String flavor) {
    String[] parts = flavor.split("[@!]");
    return flavor.isEmpty()
        ? ""
        : QUOTA.formatted(parts[0], parts.length > 1 ? PLACES.formatted(parts[1]) : "")
            + (parts.length > 2
                ? "\"unhealthyNodes\": [{\"name\": \"%s\"}],".formatted(parts[2])
                : "");
  }

  /** Stands among the conditions of a Workload that isn't active. */
  private static final String INACTIVE = "inactive";

  /** A Workload with some of its conditions True, for a reason. */
  private static CachedWorkload workload(
      String name, String metadata, int count, String flavor, String... conditions) {
    StringBuilder written = new StringBuilder();
    List<String> given = new ArrayList<>(List.of(conditions));
    boolean active = !given.remove(INACTIVE);
    for (String condition : given) {
      String[] parts = condition.split(" ", 3);
      written
          .append(written.isEmpty() ? "" : ",")
          .append(
              """
              {"type": "%s", "status": "%s", "reason": "%s", "message": "m",
               "lastTransitionTime": "2026-03-01T10:00:00Z"}
              """
                  .formatted(parts[0], parts[1], parts[2]));
    }
    String json =
        """
        {"metadata": {"name": "%s", "namespace": "team", "uid": "uid-%s", "resourceVersion": "1",
          "creationTimestamp": "2026-03-01T09:00:00Z", %s},
         "spec": {"queueName": "training", "active": %s, "podSets": [{"name": "main", "count": %d,
           "template": {"spec": {"containers": [{"name": "c", "image": "i"}]}}}]},
         "status": {%s "conditions": [%s]}}
        """
            .formatted(name, name, metadata, active, count, quota(flavor), written);
    try {
      return PARSER.parse(json.getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static final String PARENT =
      "\"labels\": {\"kueue.x-k8s.io/concurrent-admission-parent\": \"true\"}";

  private static CachedWorkload parent(String flavor, String... conditions) {
    return workload("p", PARENT, 1, flavor, conditions);
  }

  private static CachedWorkload variant(String of, int count, boolean quota, String... conditions) {
    String flavor = of.split("@", 2)[0];
    return workload(
        flavor,
        """
        "annotations": {"kueue.x-k8s.io/workload-allowed-resource-flavors": "%s"},
        "ownerReferences": [{"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload",
          "name": "p", "uid": "uid-p", "controller": true}]
        """
            .formatted(flavor),
        count,
        quota ? of : "",
        conditions);
  }

  private static final String[] ADMITTED = {"QuotaReserved True QuotaReserved", "Admitted True A"};
  private static final String[] EVICTED = {
    "QuotaReserved True QuotaReserved", "Admitted True A", "Evicted True Preempted"
  };

  private static String decided(CachedWorkload parent, CachedWorkload... variants) {
    return decided(RETAIN_FIRST_ADMISSION, parent, variants);
  }

  private static String decided(
      ConcurrentAdmissionMode mode, CachedWorkload parent, CachedWorkload... variants) {
    VariantPolicy policy = new VariantPolicy(List.of("reserved", "spot"), mode, Optional.empty());
    Result result =
        FamilyPolicy.decide(
            parent, List.of(variants), Optional.of(Optional.of(policy)), false, NOW);
    return result
        .write()
        .map(
            write ->
                switch (write) {
                  case Write.Status status -> status.workload().id().name() + " " + status.status();
                  case Write.Whole whole -> whole.workload().id().name() + " " + whole.patch();
                  case Write.Create create -> "create " + create.flavor();
                  case Write.Delete delete -> "delete " + delete.workload().id().name();
                })
        .orElse("nothing");
  }

  @Test
  void aWorkloadBecomesAParentAndGetsItsVariantsInOrder() {
    CachedWorkload plain = workload("p", "\"labels\": {}", 1, "");

    assertThat(decided(plain)).contains("concurrent-admission-parent\":\"true");
    assertThat(decided(parent(""))).isEqualTo("create reserved");
    assertThat(decided(parent(""), variant("reserved", 1, false))).isEqualTo("create spot");
    assertThat(decided(parent(""), variant("reserved", 1, false), variant("spot", 1, false)))
        .isEqualTo("nothing");
  }

  @Test
  void whoHasQuotaAlreadyIsNoParent() {
    assertThat(decided(workload("p", "\"labels\": {}", 1, "spot", ADMITTED))).isEqualTo("nothing");
  }

  @Test
  void theParentGetsTheAdmissionOfItsVariant() {
    assertThat(
            decided(parent(""), variant("reserved", 1, false), variant("spot", 1, true, ADMITTED)))
        .startsWith("p ")
        .contains("\"flavors\":{\"cpu\":\"spot\"}", "\"type\":\"Admitted\",\"status\":\"True\"");
  }

  @Test
  void theOthersAreSetAsideOnceTheParentHasQuota() {
    assertThat(
            decided(
                parent("spot", ADMITTED),
                variant("reserved", 1, false),
                variant("spot", 1, true, ADMITTED)))
        .isEqualTo("reserved {\"spec\":{\"active\":false}}");
  }

  @Test
  void aVariantThatAsksForLessStartsNothing() {
    assertThat(decided(parent(""), variant("spot", 0, true, ADMITTED))).isEqualTo("delete spot");
    assertThat(decided(parent("spot", ADMITTED), variant("spot", 0, true, ADMITTED)))
        .startsWith("p ")
        .contains("\"Evicted\",\"status\":\"True\"", "\"reason\":\"ConcurrentAdmission\"");
  }

  @Test
  void aParentWithoutAnAdmittedVariantIsEvicted() {
    assertThat(decided(parent("spot", ADMITTED), variant("spot", 1, false)))
        .startsWith("p ")
        .contains("\"reason\":\"ConcurrentAdmission\"");
  }

  @Test
  void theVariantKeepsItsQuotaUntilTheParentHasLostIts() {
    CachedWorkload evicted = variant("spot", 1, true, EVICTED);

    assertThat(decided(parent("spot", ADMITTED), evicted))
        .startsWith("p ")
        .contains("\"reason\":\"VariantEvicted\"");
    assertThat(decided(parent("spot", EVICTED), evicted)).doesNotContain("\"admission\":null");
    assertThat(decided(parent(""), evicted)).startsWith("spot ").contains("\"admission\":null");
  }

  @Test
  void anEvictedParentEvictsItsVariant() {
    assertThat(decided(parent("spot", EVICTED), variant("spot", 1, true, ADMITTED)))
        .startsWith("spot ")
        .contains("\"Evicted\",\"status\":\"True\"", "\"reason\":\"Preempted\"");
  }

  /** The statistics tell the cause: the entry that was counted last is the last one. */
  @Test
  void theEvictionOfTheVariantHasTheCauseOfItsParents() {
    CachedWorkload parent =
        counted(
            parent(
                "spot",
                "QuotaReserved True QuotaReserved",
                "Admitted True A",
                "Evicted True PodsReadyTimeout"),
            new EvictionCount("PodsReadyTimeout", "WaitForStart", 2),
            new EvictionCount("PodsReadyTimeout", "WorkloadWaitForScheduling", 1));
    CachedWorkload variant =
        counted(
            variant("spot", 1, true, ADMITTED),
            new EvictionCount("PodsReadyTimeout", "WorkloadWaitForScheduling", 4),
            new EvictionCount("Preempted", "", 1));

    assertThat(decided(parent, variant))
        .startsWith("spot ")
        .contains(
            """
            "evictions":[{"reason":"Preempted","underlyingCause":"","count":1},\
            {"reason":"PodsReadyTimeout","underlyingCause":"WorkloadWaitForScheduling","count":5}]\
            """);
  }

  @Test
  void theEvictionOfTheVariantOfADeactivatedParentSaysWhy() {
    CachedWorkload parent =
        counted(
            parent(
                "spot",
                "QuotaReserved True QuotaReserved",
                "Admitted True A",
                "Evicted True DeactivatedDueToMaximumExecutionTimeExceeded"),
            new EvictionCount("Deactivated", "MaximumExecutionTimeExceeded", 1));

    assertThat(decided(parent, variant("spot", 1, true, ADMITTED)))
        .contains(
            "\"reason\":\"DeactivatedDueToMaximumExecutionTimeExceeded\"",
            "{\"reason\":\"Deactivated\",\"underlyingCause\":\"MaximumExecutionTimeExceeded\",\"count\":1}");
  }

  private static CachedWorkload counted(CachedWorkload workload, EvictionCount... evictions) {
    CachedWorkload.Status status = workload.status();
    return workload.with(
        new CachedWorkload.Status(
            status.conditions(),
            status.admission(),
            status.admissionChecks(),
            status.reclaimablePods(),
            status.requeueState(),
            new CachedWorkload.History(0, List.of(evictions)),
            false));
  }

  @Test
  void ofTwoVariantsWithQuotaTheOtherIsEvicted() {
    assertThat(
            decided(
                parent("spot", ADMITTED),
                variant("reserved", 1, true, ADMITTED),
                variant("spot", 1, true, ADMITTED)))
        .startsWith("reserved ")
        .contains("\"reason\":\"ConcurrentAdmission\"");
  }

  /** The nodes of the pods are the parent's; other ones are found for the variant. */
  @Test
  void theVariantHearsOfFailedNodesAndTheParentGetsItsOtherPlaces() {
    CachedWorkload waits = variant("reserved", 1, false);
    String allWell = "reserved {\"spec\":{\"active\":false}}";

    assertThat(decided(parent("spot@n1", ADMITTED), waits, variant("spot@n1", 1, true, ADMITTED)))
        .isEqualTo(allWell);
    assertThat(
            decided(parent("spot@n1!n1", ADMITTED), waits, variant("spot@n1", 1, true, ADMITTED)))
        .isEqualTo("spot {\"unhealthyNodes\":[{\"name\":\"n1\"}]}");
    assertThat(
            decided(
                parent("spot@n1!n1", ADMITTED), waits, variant("spot@n1!n1", 1, true, ADMITTED)))
        .isEqualTo(allWell);
    assertThat(
            decided(parent("spot@n1!n1", ADMITTED), waits, variant("spot@n2", 1, true, ADMITTED)))
        .startsWith("p {\"admission\":")
        .contains("n2")
        .doesNotContain("n1")
        .endsWith("\"unhealthyNodes\":[]}");
    // the node is well again before another one was found
    assertThat(
            decided(parent("spot@n1", ADMITTED), waits, variant("spot@n1!n1", 1, true, ADMITTED)))
        .isEqualTo("spot {\"unhealthyNodes\":[]}");
    assertThat(decided(parent("spot@n1!n1", EVICTED), waits, variant("spot@n1", 1, true, EVICTED)))
        .isEqualTo(allWell);
  }

  @Test
  void variantsFinishAsTheirParent() {
    assertThat(decided(parent("", "Finished True Succeeded"), variant("spot", 1, false)))
        .startsWith("spot ")
        .contains("\"Finished\",\"status\":\"True\"", "\"reason\":\"Succeeded\"");
  }

  private static final String[] REJECTED = {
    INACTIVE, "Evicted True DeactivatedDueToAdmissionCheck", "QuotaReserved False Deactivated"
  };

  /** A check rejected it: to try again would end the same way, and stop a job that runs. */
  @Test
  void aVariantThatWasRejectedIsNotTriedAgain() {
    CachedWorkload other = variant("spot", 1, false);
    CachedWorkload running = variant("spot", 1, true, ADMITTED);
    String[] decidedOn = {INACTIVE, "DeactivationTarget True AdmissionCheck"};

    assertThat(decided(parent(""), variant("reserved", 1, false, REJECTED), other))
        .isEqualTo("nothing");
    assertThat(decided(parent(""), variant("reserved", 1, false, decidedOn), other))
        .isEqualTo("nothing");
    assertThat(
            decided(
                TRY_PREFERRED_FLAVORS,
                parent("spot", ADMITTED),
                variant("reserved", 1, false, REJECTED),
                running))
        .isEqualTo("nothing");
    assertThat(decided(parent(""), variant("reserved", 1, false, INACTIVE), other))
        .as("set aside while another one ran")
        .isEqualTo("reserved {\"spec\":{\"active\":true}}");
  }

  @Test
  void aParentIsDeactivatedWhenAllItsVariantsAre() {
    CachedWorkload reserved = variant("reserved", 1, false, REJECTED);
    CachedWorkload spot = variant("spot", 1, false, REJECTED);

    assertThat(decided(parent(""), reserved, spot))
        .startsWith("p ")
        .contains("\"DeactivationTarget\",\"status\":\"True\"", "\"reason\":\"AdmissionCheck\"");
    assertThat(decided(parent("", "DeactivationTarget True AdmissionCheck"), reserved, spot))
        .isEqualTo("nothing");
    assertThat(decided(parent(""), reserved)).isEqualTo("create spot");
  }

  /** Whoever makes it active again wants all flavors to be tried. */
  @Test
  void whatWasRejectedIsForgottenWhileTheParentIsInactive() {
    CachedWorkload reserved = variant("reserved", 1, false, REJECTED);
    CachedWorkload spot = variant("spot", 1, false, INACTIVE);

    assertThat(decided(parent("", INACTIVE), reserved, spot)).isEqualTo("delete reserved");
    assertThat(decided(parent("", INACTIVE), spot)).isEqualTo("nothing");
  }

  /** Deleted with {@code --cascade=orphan} it waits until it has no variants any more. */
  @Test
  void theVariantsOfADeletedParentGoOnceItsJobHasStopped() {
    String deleting = PARENT + ", \"deletionTimestamp\": \"2026-03-01T10:00:30Z\"";
    CachedWorkload running =
        workload(
            "p",
            deleting + ", \"finalizers\": [\"orphan\", \"kueue.x-k8s.io/resource-in-use\"]",
            1,
            "spot",
            ADMITTED);
    CachedWorkload stopped =
        workload("p", deleting + ", \"finalizers\": [\"orphan\"]", 1, "spot", ADMITTED);
    CachedWorkload variant = variant("spot", 1, true, ADMITTED);

    assertThat(decided(running, variant)).isEqualTo("nothing");
    assertThat(decided(stopped, variant)).isEqualTo("delete spot");
    assertThat(decided(stopped)).isEqualTo("nothing");
  }
}
