package dev.sluice.endtoend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.LocalOperator;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.api.model.batch.v1.JobBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** What one user writes on a Job of theirs doesn't stop the operator for all others. */
@ControlPlaneTest(exclusive = true)
@Tag(BuildBreadth.NIGHTLY)
class HostileObjectsIT {

  private static final Duration LIMIT = Duration.ofMinutes(5);

  private static final List<String> STATUSES =
      List.of(
          "{\"completedIndexes\":\"5-3\"}",
          "{\"completedIndexes\":\"0-99999999\"}",
          "{\"failedIndexes\":\"9999999999-0,-,1-,-1\",\"succeeded\":-5}",
          "[[[[");

  @Test
  void theOperatorStaysUpAndHonestJobsAreAdmitted(TestCluster cluster) throws IOException {
    KubernetesClient client = cluster.client();
    JobLoad load = new JobLoad(cluster, Duration.ofSeconds(1));
    for (int i = 0; i < STATUSES.size(); i++) {
      client.resource(hostile(load, "before-" + i, STATUSES.get(i))).create();
    }
    try (EndedInformers ended = new EndedInformers();
        LocalOperator operator =
            LocalOperator.start("operator-of-hostile-objects", cluster.kubeconfig(), "");
        load) {
      load.withRoomFor(1).submit(1);
      await().atMost(LIMIT).until(() -> complete(client, cluster, "job-0"));

      // The operator's own user may write it: what it says is unharmed even so.
      for (int i = 0; i < STATUSES.size(); i++) {
        client.resource(hostile(load, "after-" + i, STATUSES.get(i))).create();
      }
      client.resource(load.job("honest")).create();
      await().atMost(LIMIT).until(() -> complete(client, cluster, "honest"));

      anybodyElseIsRefused(cluster, load);
      assertThat(operator.isAlive()).isTrue();
      assertThat(operator.isHealthy()).isTrue();
      assertThat(ended.messages).isEmpty();
    }
  }

  /** What is logged of informers that ended while this is open, by any operator of this process. */
  private static final class EndedInformers extends AppenderBase<ILoggingEvent>
      implements AutoCloseable {

    private final Logger root = (Logger) LoggerFactory.getLogger(Logger.ROOT_LOGGER_NAME);
    private final List<String> messages = new CopyOnWriteArrayList<>();

    EndedInformers() {
      start();
      root.addAppender(this);
    }

    @Override
    protected void append(ILoggingEvent event) {
      String message = event.getFormattedMessage();
      if (message.contains("Fatal error in informer")) {
        messages.add(message);
      }
    }

    @Override
    public void close() {
      root.detachAppender(this);
    }
  }

  private static void anybodyElseIsRefused(TestCluster cluster, JobLoad load) throws IOException {
    Config config = Config.fromKubeconfig(Files.readString(cluster.kubeconfig()));
    try (KubernetesClient other =
        new KubernetesClientBuilder()
            .withConfig(
                new ConfigBuilder(config)
                    .withImpersonateUsername("mallory")
                    .withImpersonateGroups("system:masters")
                    .build())
            .build()) {
      assertThatThrownBy(
              () -> other.resource(hostile(load, "refused", STATUSES.getFirst())).create())
          .isInstanceOf(KubernetesClientException.class)
          .hasMessageContaining("sluice.dev/remote-status");
      assertThatThrownBy(
              () ->
                  other
                      .batch()
                      .v1()
                      .jobs()
                      .inNamespace(cluster.namespace())
                      .withName("after-0")
                      .edit(
                          job ->
                              new JobBuilder(job)
                                  .editMetadata()
                                  .removeFromAnnotations("sluice.dev/remote-status")
                                  .endMetadata()
                                  .build()))
          .isInstanceOf(KubernetesClientException.class)
          .hasMessageContaining("sluice.dev/remote-status");
    }
  }

  private static Job hostile(JobLoad load, String name, String status) {
    return new JobBuilder(load.job(name))
        .editMetadata()
        .addToAnnotations("sluice.dev/remote-status", status)
        .addToAnnotations("sluice.dev/may-run-here", "true")
        .endMetadata()
        .editSpec()
        .withCompletionMode("Indexed")
        .withParallelism(2)
        .withCompletions(2)
        .endSpec()
        .build();
  }

  private static boolean complete(KubernetesClient client, TestCluster cluster, String name) {
    Job job = client.batch().v1().jobs().inNamespace(cluster.namespace()).withName(name).get();
    return job != null
        && job.getStatus() != null
        && job.getStatus().getConditions().stream()
            .anyMatch(it -> it.getType().equals("Complete") && it.getStatus().equals("True"));
  }
}
