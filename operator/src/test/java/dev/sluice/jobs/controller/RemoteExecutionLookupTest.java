package dev.sluice.jobs.controller;

import static dev.sluice.jobs.GivenJob.job;
import static dev.sluice.jobs.GivenWorkload.workloadOf;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import dev.sluice.api.v1beta2.AdmissionCheck;
import dev.sluice.checks.BuiltInCheckControllers;
import dev.sluice.jobs.GivenWorkload;
import dev.sluice.queues.cache.InformerCaches;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Checks {@code clusters}, which sends to other clusters, and {@code budget}, which doesn't. */
class RemoteExecutionLookupTest {

  private final InformerCaches informerCaches = InformerCaches.empty(BuiltInCheckControllers.all());

  @BeforeEach
  void checks() throws JsonProcessingException {
    check("clusters", "kueue.x-k8s.io/multikueue");
    check("budget", "example.test/budget");
  }

  private void check(String name, String controller) throws JsonProcessingException {
    AdmissionCheck check =
        new YAMLMapper()
            .readValue(
                "{metadata: {name: %s}, spec: {controllerName: %s}}".formatted(name, controller),
                AdmissionCheck.class);
    informerCaches.checks().put(informerCaches.checks().getKey(check), check);
  }

  private boolean runs(GivenWorkload workload) {
    return new RemoteExecutionLookup(informerCaches).runs(job().view(), workload.get());
  }

  @Test
  void whatHasACheckThatSendsItRunsElsewhere() {
    assertThat(runs(workloadOf(job()).check("clusters", "Ready", ""))).isTrue();
    assertThat(runs(workloadOf(job()).check("budget", "Ready", ""))).isFalse();
    assertThat(runs(workloadOf(job()).check("gone", "Ready", ""))).isFalse();
    assertThat(runs(workloadOf(job()))).isFalse();
  }

  @Test
  void whatHasAClusterRunsThereWhateverBecameOfItsCheck() {
    assertThat(runs(workloadOf(job()).check("gone", "Ready", "").inCluster("eu"))).isTrue();
  }

  @Test
  void whatMayRunHereRunsElsewhereOnlyInACluster() {
    GivenWorkload marked =
        workloadOf(job())
            .annotation("sluice.dev/may-run-here", "true")
            .check("clusters", "Ready", "");
    assertThat(runs(marked)).isFalse();
    assertThat(runs(marked.inCluster("eu"))).isTrue();
  }
}
