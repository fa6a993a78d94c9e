package dev.sluice.jobs.controller;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import dev.sluice.core.model.PendingWorkload;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.jobs.ScriptedApi;
import dev.sluice.jobs.controller.WorkloadPreview.Preview;
import dev.sluice.jobs.kinds.BuiltInIntegrations;
import dev.sluice.jobs.kinds.pod.PodIndex;
import dev.sluice.jobs.policy.JobOptions;
import dev.sluice.kube.controller.GroupKindConcurrency;
import dev.sluice.kube.controller.WorkQueueSettings;
import dev.sluice.kube.reflect.ReadErrorLog;
import dev.sluice.kube.reflect.Reflectors;
import dev.sluice.workload.feed.TranslationOptions;
import dev.sluice.workload.feed.WorkloadTranslator;
import dev.sluice.workload.record.ResourceContext;
import dev.sluice.workload.record.WorkloadParser;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A job that nobody creates gets the Workload that its controller would make. */
class WorkloadPreviewTest {

  private static final ObjectMapper YAML = new ObjectMapper(new YAMLFactory());

  private final ScriptedApi api = new ScriptedApi();
  private final KubernetesClient client =
      new KubernetesClientBuilder()
          .withConfig(new ConfigBuilder().withMasterUrl("http://127.0.0.1:1").build())
          .build();
  private final WorkloadPreview preview = new WorkloadPreview(context());

  @AfterEach
  void close() {
    client.close();
  }

  private JobControllerContext context() {
    JobOptions options = JobOptions.defaults("kueue-system");
    IntegrationRegistry registry =
        new IntegrationRegistry(
            BuiltInIntegrations.all(new PodIndex()),
            List.of("batch/job", "jobset.x-k8s.io/jobset", "pod", "statefulset"),
            gate -> true);
    return new JobControllerContext(
        new Reflectors(client, () -> Instant.EPOCH, new Random(1), new ReadErrorLog()),
        options,
        registry,
        new OwnerChainResolver(options, api, registry),
        (job, workload) -> false,
        (job, workload) -> false,
        api.dependencies(),
        new WorkQueueSettings(
            Runnable::run,
            (delay, task) -> {},
            () -> 0,
            1,
            Duration.ofMillis(1),
            Duration.ofMillis(1),
            GroupKindConcurrency.NONE),
        () -> true);
  }

  private Preview preview(String yaml) throws IOException {
    return preview.of((ObjectNode) YAML.readTree(yaml));
  }

  private static String job(String metadata) {
    return """
    apiVersion: batch/v1
    kind: Job
    metadata: {name: a, namespace: team, %s}
    spec:
      suspend: true
      parallelism: 3
      template:
        spec:
          restartPolicy: Never
          containers: [{name: main, image: i, resources: {requests: {cpu: "2"}}}]
    """
        .formatted(metadata);
  }

  @Test
  void theWorkloadOfAJobCanBeTranslated() throws IOException {
    Preview.Composed composed =
        (Preview.Composed) preview(job("labels: {kueue.x-k8s.io/queue-name: lq}"));

    SchedulerEvent event =
        new WorkloadTranslator(ResourceContext.NONE, TranslationOptions.DEFAULT)
            .of(
                new WorkloadParser()
                    .parse(composed.workload().toString().getBytes(StandardCharsets.UTF_8)));
    PendingWorkload pending = ((SchedulerEvent.WorkloadPending) event).workload();
    assertThat(pending.queueName()).isEqualTo("lq");
    assertThat(pending.shape().podSets().getFirst().count()).isEqualTo(3);
    assertThat(pending.shape().podSets().getFirst().perPod()).containsEntry("cpu", 2_000L);
    assertThat(api.calls).as("nothing is written").isEmpty();
    assertThat(api.events).isEmpty();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "labels: {} | it is not queued: it names no queue",
        "labels: {kueue.x-k8s.io/queue-name: lq, kueue.x-k8s.io/prebuilt-workload-name: w} | it"
            + " names a Workload that was made for it",
        "labels: {kueue.x-k8s.io/queue-name: lq, kueue.x-k8s.io/priority-class: none} |"
            + " WorkloadPriorityClass \"none\" does not exist"
      })
  void someJobsGetNone(String metadata, String why) throws IOException {
    assertThat(((Preview.None) preview(job(metadata))).why()).contains(why);
  }

  @Test
  void whatWouldBeRefusedIsTold() throws IOException {
    api.invalid = List.of("spec.podSets: too many");

    assertThat(((Preview.None) preview(job("labels: {kueue.x-k8s.io/queue-name: lq}"))).why())
        .contains("spec.podSets: too many");
  }

  @Test
  void kindsThatCanNotBeSimulatedAreTold() throws IOException {
    assertThat(
            ((Preview.None)
                    preview(
                        "{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: a, namespace:"
                            + " team}}"))
                .why())
        .startsWith("jobs of kind StatefulSet can't be simulated");
    assertThat(preview.kind("batch/v1", "Job")).isPresent();
    assertThat(preview.kind("v1", "Secret")).isEmpty();
  }
}
