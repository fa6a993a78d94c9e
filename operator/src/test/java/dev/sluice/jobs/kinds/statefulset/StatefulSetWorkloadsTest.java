package dev.sluice.jobs.kinds.statefulset;

import static dev.sluice.jobs.kinds.statefulset.Given.with;
import static dev.sluice.jobs.kinds.statefulset.Given.workload;
import static dev.sluice.jobs.kinds.statefulset.Given.yaml;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadLister;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class StatefulSetWorkloadsTest {

  private static final String UID = "4b5b3c2e-0000-4000-8000-000000000001";
  private static final JsonNode CREATED =
      yaml(
          """
          metadata: {name: statefulset-web-0012b, namespace: team}
          spec: {queueName: serving, podSets: [{name: main, count: 3, template: {spec: {}}}]}
          """);

  @ParameterizedTest
  @CsvSource({
    "'True', QuotaReserved, true",
    "'False', WaitingForQuota, true",
    "'False', OnHold, false",
    "'True', OnHold, true"
  })
  void aWorkloadIsInUseUnlessItIsOnHold(String status, String reason, boolean inUse) {
    CachedWorkload known =
        workload(
            CREATED,
            with(
                "/status/conditions",
                "[{type: QuotaReserved, status: \"%s\", reason: %s, message: \"\","
                        .formatted(status, reason)
                    + " lastTransitionTime: \"2026-03-01T10:00:00Z\"}]"));
    StatefulSetWorkloads workloads = new StatefulSetWorkloads(new Only(known), 253);

    assertThat(workloads.name("web", UID)).isEqualTo("statefulset-web-0012b");
    assertThat(workloads.isInUse("team", "web", UID)).isEqualTo(inUse);
    assertThat(workloads.isInUse("team", "web", "another")).isFalse();
    assertThat(workloads.isInUse("other", "web", UID)).isFalse();
  }

  @ParameterizedTest
  @CsvSource({UID + ", true", "another, false"})
  void aWorkloadOfTheEarlierNameIsKeptIfItIsOfTheSameSet(String owner, boolean kept) {
    StatefulSetWorkloads names = new StatefulSetWorkloads(new Only(workload(CREATED)), 253);
    String earlier = names.name("web", "");
    StatefulSetWorkloads workloads =
        new StatefulSetWorkloads(
            new Only(
                workload(
                    CREATED,
                    with("/metadata/name", earlier),
                    with("/metadata/annotations", "{kueue.x-k8s.io/is-group-workload: \"true\"}"),
                    with(
                        "/metadata/ownerReferences",
                        "[{apiVersion: apps/v1, kind: StatefulSet, name: web, uid: %s}]"
                            .formatted(owner)))),
            253);

    assertThat(workloads.nameInUse("team", "web", UID))
        .isEqualTo(kept ? earlier : "statefulset-web-0012b");
    assertThat(workloads.isInUse("team", "web", UID)).isEqualTo(kept);
  }

  /** A store of one Workload. */
  private record Only(CachedWorkload workload) implements WorkloadLister {

    @Override
    public Optional<CachedWorkload> get(String namespace, String name) {
      return Optional.of(workload)
          .filter(it -> it.id().namespace().equals(namespace) && it.id().name().equals(name));
    }

    @Override
    public List<CachedWorkload> ownedBy(String ownerUid) {
      return List.of();
    }

    @Override
    public List<CachedWorkload> inQueue(String namespace, String queueName) {
      return List.of();
    }

    @Override
    public List<CachedWorkload> reservingIn(String clusterQueue) {
      return List.of();
    }

    @Override
    public List<CachedWorkload> all() {
      return List.of(workload);
    }

    @Override
    public int size() {
      return 1;
    }
  }
}
