package dev.sluice.checks.multikueue.quota;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.sluice.api.v1beta2.ClusterQueue;
import dev.sluice.api.v1beta2.ResourceGroup.ResourceQuota;
import dev.sluice.checks.multikueue.capacity.WorkerQueues.NominalQuota;
import dev.sluice.checks.multikueue.quota.QuotaAutomation.ManagerQuotaPolicy;
import dev.sluice.checks.multikueue.quota.QuotaAutomation.ManagerQuotaPolicy.Outcome;
import dev.sluice.checks.multikueue.quota.QuotaAutomation.WorkerQuotaState;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ManagerQuotaPolicyTest {

  private static final String GIB = "1073741824";

  private static ClusterQueue queue(String quotas) throws IOException {
    return new YAMLMapper()
        .readValue(
            """
            metadata: {name: everywhere}
            spec:
              cohortName: all
              resourceGroups:
              - coveredResources: [cpu, memory]
                flavors:
            """
                + quotas.indent(4),
            ClusterQueue.class);
  }

  private static ClusterQueue queue() throws IOException {
    return queue(
        """
        - name: default
          resources:
          - {name: cpu, nominalQuota: 1, borrowingLimit: 2, lendingLimit: 1}
          - {name: memory, nominalQuota: 1Gi}
        """);
  }

  private static WorkerQuotaState with(Map<String, Long> amounts) {
    return new WorkerQuotaState.Connected(new NominalQuota.Known(amounts));
  }

  private static Map<String, WorkerQuotaState> workers(
      WorkerQuotaState onsite, WorkerQuotaState remote) {
    Map<String, WorkerQuotaState> workerQuotaStates = new LinkedHashMap<>();
    workerQuotaStates.put("onsite", onsite);
    workerQuotaStates.put("remote", remote);
    return workerQuotaStates;
  }

  @Test
  void theQuotaIsTheSumAndLimitsAreErased() throws IOException {
    Outcome outcome =
        ManagerQuotaPolicy.of(
            queue(),
            workers(
                with(Map.of("cpu", 4_000L, "memory", 16 * Long.parseLong(GIB))),
                with(Map.of("cpu", 64_500L))));

    assertThat(outcome)
        .isInstanceOfSatisfying(
            Outcome.Sum.class,
            sum -> {
              assertThat(sum.same()).isFalse();
              assertThat(sum.groups().getFirst().flavors().getFirst().resources())
                  .extracting(ResourceQuota::name, it -> it.nominalQuota().toString())
                  .containsExactly(tuple("cpu", "68500m"), tuple("memory", "16Gi"));
              assertThat(sum.groups().getFirst().flavors().getFirst().resources())
                  .allSatisfy(
                      it -> {
                        assertThat(it.borrowingLimit()).isNull();
                        assertThat(it.lendingLimit()).isNull();
                      });
            });
  }

  @Test
  void theSameAmountWrittenOtherwiseIsNoChange() throws IOException {
    ClusterQueue queue =
        queue(
            """
            - name: default
              resources:
              - {name: cpu, nominalQuota: 4000m}
              - {name: memory, nominalQuota: 1024Mi}
            """);

    assertThat(
            ManagerQuotaPolicy.of(
                queue,
                workers(
                    with(Map.of("cpu", 4_000L, "memory", Long.parseLong(GIB))),
                    new WorkerQuotaState.Away())))
        .isInstanceOfSatisfying(
            Outcome.Sum.class,
            sum -> {
              assertThat(sum.same()).isTrue();
              assertThat(sum.message())
                  .isEqualTo(
                      "The quota is the sum over worker clusters [onsite]; not connected, and not"
                          + " counted: [remote]");
            });
  }

  @Test
  void whatIsNotKnownYetIsWaitedFor() throws IOException {
    assertThat(
            ManagerQuotaPolicy.of(queue(), workers(with(Map.of()), new WorkerQuotaState.Unknown())))
        .isInstanceOf(Outcome.Wait.class);
    assertThat(
            ManagerQuotaPolicy.of(
                queue(),
                workers(with(Map.of()), new WorkerQuotaState.Connected(new NominalQuota.NotYet()))))
        .isInstanceOf(Outcome.Wait.class);
  }

  @Test
  void aResourceThatIsNotCoveredHereIsNotSupported() throws IOException {
    assertThat(
            ManagerQuotaPolicy.of(
                queue(), workers(with(Map.of("nvidia.com/gpu", 0L)), new WorkerQuotaState.Away())))
        .isEqualTo(
            new Outcome.Unsupported(
                "worker clusters have quota for nvidia.com/gpu, which"
                    + " spec.resourceGroups[0].coveredResources doesn't list; it lists cpu,"
                    + " memory"));
  }

  @Test
  void moreThanOneFlavorIsNotSupported() throws IOException {
    ClusterQueue queue =
        queue(
            """
            - name: one
              resources: [{name: cpu, nominalQuota: 1}, {name: memory, nominalQuota: 1}]
            - name: two
              resources: [{name: cpu, nominalQuota: 1}, {name: memory, nominalQuota: 1}]
            """);

    assertThat(ManagerQuotaPolicy.of(queue, workers(with(Map.of()), with(Map.of()))))
        .isEqualTo(
            new Outcome.Unsupported(
                "spec.resourceGroups has 2 flavors; allowed with quotaManagement: 1"));
  }

  @Test
  void queuesThatCannotBeReadAreNamed() throws IOException {
    assertThat(
            ManagerQuotaPolicy.of(
                queue(),
                workers(
                    new WorkerQuotaState.Connected(new NominalQuota.Unreadable("forbidden")),
                    with(Map.of()))))
        .isEqualTo(
            new Outcome.Unsupported(
                "the queues of worker cluster \"onsite\" can't be read: forbidden"));
  }
}
