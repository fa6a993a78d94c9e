package dev.sluice.jobs.controller;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import dev.sluice.core.model.SchedulerEvent;
import dev.sluice.core.model.SchedulerEvent.PendingWorkload;
import dev.sluice.jobs.ScriptedApi;
import dev.sluice.jobs.controller.WorkloadPreview.Preview;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.JobReference;
import dev.sluice.jobs.kinds.BuiltInIntegrations;
import dev.sluice.jobs.kinds.pod.PodIndex;
import dev.sluice.jobs.policy.CachedJob;
import dev.sluice.workload.feed.TranslationOptions;
import dev.sluice.workload.feed.WorkloadTranslator;
import dev.sluice.workload.record.ResourceContext;
import dev.sluice.workload.record.WorkloadParser;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
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
  private final IntegrationRegistry registry =
      new IntegrationRegistry(
          BuiltInIntegrations.all(new PodIndex()),
          List.of(
              "batch/job",
              "jobset.x-k8s.io/jobset",
              "pod",
              "deployment",
              "statefulset",
              "leaderworkerset.x-k8s.io/leaderworkerset",
              "trainer.kubeflow.org/trainjob"),
          gate -> true);
  private final WorkloadPreview preview = new WorkloadPreview(api.context(client, registry));

  @AfterEach
  void close() {
    client.close();
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

  private static final String QUEUED = "labels: {kueue.x-k8s.io/queue-name: lq}";
  private static final String POD_SPEC =
      "spec: {containers: [{name: main, image: i, resources: {requests: {cpu: \"2\"}}}]}";

  /** The pod sets of the Workload of all pods of a manifest: names and counts. */
  private List<String> podSets(String yaml) throws IOException {
    ObjectNode workload = ((Preview.Composed) preview(yaml)).workload();
    assertThat(workload.at("/spec/queueName").asText()).isEqualTo("lq");
    List<String> podSets = new ArrayList<>();
    for (JsonNode podSet : workload.at("/spec/podSets")) {
      assertThat(podSet.at("/template/spec/containers/0/resources/requests/cpu").asText())
          .isEqualTo("2");
      podSets.add(podSet.path("name").asText() + "=" + podSet.path("count").asInt());
    }
    return podSets;
  }

  @Test
  void aPodStandsForItsGroup() throws IOException {
    String pod = "{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: team, %s}, %s}";
    assertThat(podSets(pod.formatted(QUEUED, POD_SPEC))).containsExactly("main=1");
    String group =
        QUEUED
            + ", annotations: {kueue.x-k8s.io/pod-group-name: g,"
            + " kueue.x-k8s.io/pod-group-total-count: \"4\"}";
    assertThat(podSets(pod.formatted(group, POD_SPEC))).containsExactly("main=4");
    String owned =
        QUEUED
            + ", ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: r, uid: u,"
            + " controller: true}]";
    assertThat(((Preview.None) preview(pod.formatted(owned, POD_SPEC))).why())
        .isEqualTo("it is a pod of another object, which can be asked about");
  }

  @Test
  void allPodsOfASetAreAskedAboutTogether() throws IOException {
    String set =
        "{apiVersion: apps/v1, kind: %s, metadata: {name: a, namespace: team, %s}, spec: {replicas:"
            + " 3, template: {metadata: {%s}, %s}}}";
    assertThat(podSets(set.formatted("Deployment", QUEUED, QUEUED, POD_SPEC)))
        .containsExactly("main=3");
    assertThat(podSets(set.formatted("StatefulSet", QUEUED, QUEUED, POD_SPEC)))
        .containsExactly("main=3");
    assertThat(
            podSets(
                ("{apiVersion: leaderworkerset.x-k8s.io/v1, kind: LeaderWorkerSet, metadata: {name:"
                        + " a, namespace: team, %1$s}, spec: {replicas: 2, leaderWorkerTemplate:"
                        + " {size: 4, leaderTemplate: {%2$s}, workerTemplate: {%2$s}}}}")
                    .formatted(QUEUED, POD_SPEC)))
        .containsExactly("leader=2", "worker=6");
  }

  @Test
  void aJobIsAskedAboutWithTheSpecThatItRefersTo() throws IOException {
    JobKind trainJob = JobKind.of("trainer.kubeflow.org", "v1alpha1", "TrainJob");
    String manifest =
        ("{apiVersion: trainer.kubeflow.org/v1alpha1, kind: TrainJob, metadata: {name: a,"
                + " namespace: team, %s}, spec: {suspend: true, runtimeRef: {kind: TrainingRuntime,"
                + " apiGroup: trainer.kubeflow.org, name: torch}}}")
            .formatted(QUEUED);
    assertThat(((Preview.None) preview(manifest)).why()).contains("torch");
    registry.register(
        trainJob,
        new IntegrationRegistry.Finder() {
          @Override
          public Optional<CachedJob> find(String namespace, String name) {
            return Optional.empty();
          }

          @Override
          public JsonNode resolved(JsonNode job) {
            ObjectNode found = job.deepCopy();
            try {
              JobReference.setSpec(
                  found,
                  YAML.readTree(
                      ("{mlPolicy: {numNodes: 3}, template: {spec: {replicatedJobs: [{name: node,"
                              + " template: {metadata: {labels:"
                              + " {trainer.kubeflow.org/trainjob-ancestor-step: trainer}}, spec:"
                              + " {template: {%s}}}}]}}}")
                          .formatted(POD_SPEC)));
            } catch (IOException e) {
              throw new UncheckedIOException(e);
            }
            return found;
          }
        });
    assertThat(podSets(manifest)).containsExactly("node=3");
  }

  @Test
  void kindsThatAreNotQueuedAreNotKnown() {
    assertThat(preview.kind("batch/v1", "Job")).isPresent();
    assertThat(preview.kind("v1", "Secret")).isEmpty();
  }
}
