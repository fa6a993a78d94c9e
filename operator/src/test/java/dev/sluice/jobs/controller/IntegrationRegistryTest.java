package dev.sluice.jobs.controller;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.api.config.Configuration;
import dev.sluice.api.config.ConfigurationLoader;
import dev.sluice.api.config.FeatureGate;
import dev.sluice.jobs.GivenJob;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.RbacRule;
import dev.sluice.jobs.kind.WebhookRules;
import dev.sluice.jobs.kinds.BuiltInIntegrations;
import dev.sluice.jobs.kinds.batch.BatchJob;
import dev.sluice.jobs.kinds.pod.PodIndex;
import dev.sluice.jobs.policy.CachedJob;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which kinds a configuration turns on, and how jobs are found by owner references. */
class IntegrationRegistryTest {

  private static List<String> kinds(String... frameworks) {
    return new IntegrationRegistry(
            BuiltInIntegrations.all(new PodIndex()), List.of(frameworks), gate -> true)
        .enabled().stream().map(entry -> entry.kind().kind()).toList();
  }

  @Test
  void theFrameworksOfTheConfigurationTurnKindsOn() {
    assertThat(kinds("batch/job")).containsExactly("Job");
    assertThat(kinds("pod")).containsExactly("Pod");
    assertThat(kinds("deployment")).containsExactly("Pod", "Deployment");
    assertThat(kinds("statefulset", "batch/job")).containsExactly("Job", "Pod", "StatefulSet");
  }

  @Test
  void aKindThatAnotherControllerQueuesIsOnlyRecognisedAsOwner() {
    JobKind flow = JobKind.parse("Flow.v1.example.test");
    JobKind jobSet = JobKind.parse("JobSet.v1.jobset.x-k8s.io");
    IntegrationRegistry registry =
        IntegrationRegistry.of(
            BuiltInIntegrations.all(new PodIndex()),
            List.of("batch/job"),
            List.of(flow, jobSet),
            gate -> true);

    assertThat(registry.enabled())
        .extracting(Integration::kind)
        .containsExactly(BatchJob.KIND, flow, jobSet);
    for (Integration external : registry.enabled().subList(1, 3)) {
      assertThat(external.description().roles())
          .containsExactly(
              new RbacRule(
                  external.kind().group(),
                  external.kind().plural(),
                  List.of("get", "list", "watch")));
      assertThat(external.description().multiKueue()).isEmpty();
      assertThat(external.description().webhooks().review())
          .isInstanceOf(WebhookRules.Review.Unreviewed.class);
    }
  }

  @Test
  void aKindBehindAGateNeedsTheGateToo() {
    Integration entry =
        Integration.of(new BatchJob()).behind(FeatureGate.SPARK_APPLICATION_INTEGRATION);
    assertThat(entry.isEnabled(List.of("batch/job"), gate -> true)).isTrue();
    assertThat(entry.isEnabled(List.of("batch/job"), gate -> false)).isFalse();
    assertThat(entry.isEnabled(List.of("pod"), gate -> true)).isFalse();
  }

  @Test
  void theConfigurationAcceptsTheFrameworkOfEveryEntry(@TempDir Path directory) throws Exception {
    List<String> frameworks =
        BuiltInIntegrations.all(new PodIndex()).stream()
            .map(entry -> entry.kind().framework())
            .toList();
    Path file =
        Files.writeString(
            directory.resolve("config.yaml"),
            """
            apiVersion: config.kueue.x-k8s.io/v1beta2
            kind: Configuration
            integrations: {frameworks: [%s]}
            featureGates: {SparkApplicationIntegration: true}
            """
                .formatted(String.join(", ", frameworks)));
    Configuration configuration =
        ConfigurationLoader.load(Optional.of(file), Optional.empty(), () -> "kueue-system");
    assertThat(configuration.integrations().frameworks()).isEqualTo(frameworks);
  }

  @Test
  void aJobIsFoundByTheReferenceOfAnOwnerInAnyVersionButNotWithAnotherUid() {
    IntegrationRegistry registry = new IntegrationRegistry(List.of(), List.of(), gate -> true);
    CachedJob job = GivenJob.job().view();
    CachedJob.Controller owner =
        new CachedJob.Controller("batch/v2", "Job", "sample", GivenJob.UID);
    assertThat(registry.find("team", owner)).isEmpty();
    registry.register(BatchJob.KIND, (namespace, name) -> Optional.of(job));
    assertThat(registry.knows("batch/v1", "Job")).isTrue();
    assertThat(registry.knows("apps/v1", "Job")).isFalse();
    assertThat(registry.find("team", owner)).contains(job);
    assertThat(
            registry.find("team", new CachedJob.Controller("batch/v1", "Job", "sample", "other")))
        .isEmpty();
  }
}
