package dev.sluice.app.module;

import static dev.sluice.jobs.GivenJob.job;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.config.ConfigurationException;
import dev.sluice.api.config.ConfigurationLoader;
import dev.sluice.api.json.JsonFields;
import dev.sluice.jobs.policy.JobOptions;
import dev.sluice.jobs.policy.WorkloadFactory;
import dev.sluice.jobs.policy.WorkloadFactory.PrioritySource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/**
 * What Workloads take from their jobs by the configuration (docs/metrics.md#labels-of-your-own).
 */
class CopiedKeysTest {

  private static final String METRICS =
      """
      apiVersion: config.kueue.x-k8s.io/v1beta2
      kind: Configuration
      featureGates: {CustomMetricLabels: true}
      integrations: {labelKeysToCopy: [tier]}
      metrics:
        customLabels:
        - {name: queue, sourceLabelKey: of-queue}
        - {name: team, sourceKind: Workload, sourceLabelKey: example.com/team, trackedValues: [a]}
      """;

  private static ObjectNode workload(String configuration) throws ConfigurationException {
    JobOptions options =
        new OptionsMapper(ConfigurationLoader.parse(configuration, "", () -> "kueue-system"))
            .jobs(namespace -> Map.of());
    return new WorkloadFactory(options)
        .compose(
            job()
                .label("tier", "gold")
                .label("of-queue", "x")
                .label("example.com/team", "a")
                .label("example.com/other", "b")
                .annotation("example.com/project", "p")
                .annotation("kueue.x-k8s.io/priority-boost", "1000")
                .view(),
            List.of(),
            new PrioritySource.Found(0, Optional.empty()));
  }

  @Test
  void labelsFromWhichMetricsTakeThoseOfAWorkload() throws ConfigurationException {
    assertThat(JsonFields.labels(workload(METRICS)))
        .containsEntry("tier", "gold")
        .containsEntry("example.com/team", "a")
        .doesNotContainKeys("of-queue", "example.com/other");
  }

  @Test
  void andAnnotations() throws ConfigurationException {
    String annotation =
        METRICS
            + "  - {name: project, sourceKind: Workload, sourceAnnotationKey: example.com/project, trackedValues: [p]}\n";
    assertThat(JsonFields.annotations(workload(METRICS))).doesNotContainKey("example.com/project");
    assertThat(JsonFields.annotations(workload(annotation)))
        .containsEntry("example.com/project", "p");
  }

  /** A job could raise its own priority else. */
  @Test
  void butNoneThatMeansSomethingInAWorkload() throws ConfigurationException {
    String boost =
        METRICS
            + "  - {name: boost, sourceKind: Workload, sourceAnnotationKey: kueue.x-k8s.io/priority-boost, trackedValues: ['1000']}\n";
    assertThat(JsonFields.annotations(workload(boost)))
        .doesNotContainKey("kueue.x-k8s.io/priority-boost");
  }
}
