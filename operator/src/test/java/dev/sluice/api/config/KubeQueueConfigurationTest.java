package dev.sluice.api.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.sluice.api.config.KubeQueue.ForeignUnits;
import dev.sluice.api.config.KubeQueue.Intake;
import dev.sluice.api.config.KubeQueue.Jobs;
import dev.sluice.api.config.KubeQueue.OwnUnits;
import dev.sluice.api.config.KubeQueue.Policy;
import dev.sluice.api.config.KubeQueue.QuotaLabel;
import dev.sluice.api.config.KubeQueue.Source;
import dev.sluice.api.config.KubeQueue.Starts;
import dev.sluice.api.config.KubeQueue.Units;
import dev.sluice.core.model.QueueRules.AttemptBackoff;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The block {@code kubeQueue} of the configuration. */
class KubeQueueConfigurationTest {

  private static final String HEAD =
      "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n";

  @Test
  void isOffByDefault() throws Exception {
    assertThat(load("namespace: own"))
        .isEqualTo(
            new KubeQueue(
                false,
                Set.of(Source.ELASTIC_QUOTA_TREE, Source.ELASTIC_QUOTA, Source.RESOURCE_QUOTA),
                "kube-queue",
                2,
                Policy.ROUND,
                new Starts(
                    Duration.ZERO,
                    Duration.ofMinutes(1),
                    new AttemptBackoff(Duration.ofSeconds(1), Duration.ofSeconds(20))),
                new Jobs(Intake.SUSPENDED_ONLY, QuotaLabel.LISTED),
                new Units(OwnUnits.MIRROR, ForeignUnits.ACCEPT)));
  }

  @Test
  void everyFieldIsReadAndPrinted() throws Exception {
    String yaml =
        """
        kubeQueue:
          enabled: true
          sources: [ElasticQuota, ElasticQuotaTree]
          namespace: queues
          oversellRate: 1.5
          policy: StrictPriority
          startTimeout: 5m
          startBackoff: 2s
          attemptBackoff: {initial: 500ms, max: 3s}
          intake: All
          queueUnits: "Off"
          foreignUnits: Ignore
          quotaLabel: Anywhere
        """;

    KubeQueue read = load(yaml);

    assertThat(read)
        .isEqualTo(
            new KubeQueue(
                true,
                Set.of(Source.ELASTIC_QUOTA, Source.ELASTIC_QUOTA_TREE),
                "queues",
                1.5,
                Policy.STRICT_PRIORITY,
                new Starts(
                    Duration.ofMinutes(5),
                    Duration.ofSeconds(2),
                    new AttemptBackoff(Duration.ofMillis(500), Duration.ofSeconds(3))),
                new Jobs(Intake.ALL, QuotaLabel.ANYWHERE),
                new Units(OwnUnits.OFF, ForeignUnits.IGNORE)));
    String printed = ConfigurationLoader.parse(HEAD + yaml, "", () -> "own").effective();
    assertThat(ConfigurationLoader.parse(printed, "", () -> "own").kubeQueue()).isEqualTo(read);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{sources: [Quota]} | kubeQueue.sources[0] | \"Quota\" is not allowed; allowed: "
            + "ElasticQuotaTree, ElasticQuota, ResourceQuota, PlainResourceQuota",
        "{sources: [ElasticQuota, ElasticQuota]} | kubeQueue.sources[1] | \"ElasticQuota\" is given"
            + " twice",
        "{namespace: A} | kubeQueue.namespace | \"A\" is not allowed",
        "{oversellRate: 0.9} | kubeQueue.oversellRate | 0.9 is not allowed; allowed: a number from"
            + " 1 to 1000",
        "{oversellRate: '2'} | kubeQueue.oversellRate | \"2\" is not allowed",
        "{policy: Priority} | kubeQueue.policy | \"Priority\" is not allowed; allowed: Block,"
            + " Round, StrictPriority",
        "{startTimeout: -1s} | kubeQueue.startTimeout | \"-1s\" is not allowed",
        "{startTimeout: 500ms} | kubeQueue.startTimeout | \"500ms\" is not allowed; allowed: 0s, or"
            + " at least 1s",
        "{startBackoff: 0s} | kubeQueue.startBackoff | \"0s\" is not allowed; allowed: at least 1s",
        "{attemptBackoff: {initial: 30s}} | kubeQueue.attemptBackoff.max | \"20s\" is not allowed;"
            + " allowed: at least initial, which is 30s",
        "{intake: Some} | kubeQueue.intake | \"Some\" is not allowed",
        "{rate: 2} | kubeQueue.rate | unknown field",
      })
  void saysWhatIsWrong(String block, String path, String message) {
    var failure =
        catchThrowableOfType(
            ConfigurationException.class,
            () -> ConfigurationLoader.parse(HEAD + "kubeQueue: " + block, "", () -> "own"));

    assertThat(failure.problems())
        .singleElement()
        .satisfies(
            error -> {
              assertThat(error.path()).isEqualTo(path);
              assertThat(error.message()).startsWith(message);
            });
  }

  private static KubeQueue load(String yaml) throws ConfigurationException {
    return ConfigurationLoader.parse(HEAD + yaml, "", () -> "own").kubeQueue();
  }
}
