package dev.sluice.jobs.kinds.jobset;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.lab.player.KindPlayer;
import dev.sluice.lab.player.PlayedDefinitions;
import dev.sluice.lab.player.PlayedJobSet;
import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.OperatorTest;
import dev.sluice.testing.QueuedJobs;
import dev.sluice.testing.TestCluster;
import dev.sluice.visibility.explain.ExplainCommand;
import io.fabric8.kubernetes.api.model.events.v1.Event;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import picocli.CommandLine;

/**
 * A Workload of as many pod sets as the API allows, from a JobSet. The configuration is written so
 * that no other class shares it: {@link JobSetsIT} takes the definition away.
 */
@OperatorTest(configuration = "integrations: {frameworks: [jobset.x-k8s.io/jobset]}")
@Execution(ExecutionMode.SAME_THREAD)
@Tag(BuildBreadth.NIGHTLY)
class ManyPodSetsIT {

  private static final String SET = "jobset.x-k8s.io/v1alpha2/JobSet";
  private static final int MOST = 18;

  /** Room for ten pods in the first flavor; the eight others go to the second. */
  private static final int FIRST = 10;

  /** Pods of another job, which has the first flavor when the job is started again. */
  private static final int OTHERS = 2;

  private static void givenQueues(TestCluster cluster, int first, int second) {
    for (String pool : List.of("first", "second")) {
      cluster.createNodes(NodeGroup.plentiful(cluster.name(pool), 1).withLabel("pool", pool));
    }
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ResourceFlavor
        metadata: {name: "first-${suffix}"}
        spec: {nodeLabels: {pool: first}}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ResourceFlavor
        metadata: {name: "second-${suffix}"}
        spec: {nodeLabels: {pool: second}}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: lq}
        spec: {clusterQueue: "cq-${suffix}"}
        """);
    setQuota(cluster, first, second);
  }

  private static void setQuota(TestCluster cluster, int first, int second) {
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: "cq-${suffix}"}
        spec:
          namespaceSelector: {}
          resourceGroups:
          - coveredResources: [cpu]
            flavors:
            - {name: "first-${suffix}", resources: [{name: cpu, nominalQuota: "%d"}]}
            - {name: "second-${suffix}", resources: [{name: cpu, nominalQuota: "%d"}]}
        """
            .formatted(first, second));
  }

  private static String name(int job) {
    return "job-%02d".formatted(job);
  }

  /** Of each pod one; the templates differ in what a start may not lose. */
  private static void submit(TestCluster cluster, String name, int jobs) {
    String templates =
        IntStream.range(0, jobs)
            .mapToObj(
                job ->
                    """
                      - name: %1$s
                        template:
                          spec:
                            backoffLimit: 0
                            template:
                              metadata:
                                labels: {part: "%2$d"}
                                annotations: {sluice.dev/run-for: 30m, note: "of %1$s"}
                              spec:
                                restartPolicy: Never
                                nodeSelector: {kubernetes.io/os: linux}
                                tolerations: [{key: "key-%2$d", operator: Exists}]
                                containers:
                                - {name: c, image: none, resources: {requests: {cpu: "1"}}}
                    """
                        .formatted(name(job), job))
            .collect(Collectors.joining());
    cluster.applyText(
        """
        apiVersion: jobset.x-k8s.io/v1alpha2
        kind: JobSet
        metadata: {name: %s, labels: {kueue.x-k8s.io/queue-name: lq}}
        spec:
          replicatedJobs:
        """
                .formatted(name)
            + templates);
  }

  private static String explained(TestCluster cluster, String workload) {
    StringWriter out = new StringWriter();
    int code =
        new CommandLine(new ExplainCommand())
            .setOut(new PrintWriter(out))
            .execute(
                "workload",
                workload,
                "-n",
                cluster.namespace(),
                "--kubeconfig",
                cluster.kubeconfig().toString());
    assertThat(code).isZero();
    return out.toString();
  }

  @Test
  void eachPodSetIsExplainedPlacedStartedGivenBackAndRestored(TestCluster cluster) {
    PlayedDefinitions.install(cluster.client(), new PlayedJobSet());
    try (KindPlayer player = new KindPlayer(cluster.client(), new PlayedJobSet())) {
      assertThat(player).isNotNull();
      goThrough(cluster, new QueuedJobs(cluster));
    }
  }

  private static void goThrough(TestCluster cluster, QueuedJobs api) {
    givenQueues(cluster, FIRST, MOST - FIRST - 1);
    submit(cluster, "many", MOST);
    String workload = api.workloadOf(SET, "many");
    api.awaitCondition(QueuedJobs.WORKLOAD, workload, "QuotaReserved", "False");
    assertThat(api.get(QueuedJobs.WORKLOAD, workload).at("/spec/podSets")).hasSize(MOST);
    String first = "pod set %s: flavor " + cluster.name("first") + ": cpu: 11 requested, more";
    String second = "flavor " + cluster.name("second") + ": cpu: 8 requested, more than";
    assertThat(explained(cluster, workload))
        .contains(first.formatted(name(FIRST)), first.formatted(name(MOST - 1)), second)
        .doesNotContain(first.formatted(name(FIRST - 1)));
    assertThat(api.pods()).isEmpty();
    String spec = api.get(SET, "many").path("spec").toString();

    // with room for one more (and two others), each pod set gets the first flavor that has room
    setQuota(cluster, FIRST, MOST - FIRST + OTHERS);
    awaitStarted(api, FIRST);
    assertAssigned(cluster, api.get(QueuedJobs.WORKLOAD, workload), FIRST);

    stop(api, workload, spec);

    // others have taken a part of the first flavor meanwhile: it starts whole, and elsewhere
    submit(cluster, "others", OTHERS);
    String others = api.workloadOf(SET, "others");
    api.awaitCondition(QueuedJobs.WORKLOAD, others, "Admitted", "True");
    api.patch(QueuedJobs.WORKLOAD, workload, "{'spec': {'active': true}}");
    awaitStarted(api, FIRST - OTHERS);
    assertAssigned(cluster, api.get(QueuedJobs.WORKLOAD, workload), FIRST - OTHERS);

    // what has ended gives its quota back, each pod set for itself
    List<String> done = List.of(name(0), name(FIRST), name(MOST - 1));
    api.pods().stream()
        .filter(ManyPodSetsIT::isOne)
        .filter(pod -> done.contains(podSet(pod)))
        .forEach(pod -> succeed(cluster, pod.at("/metadata/name").asText()));
    await()
        .untilAsserted(
            () ->
                assertThat(
                        api.get(QueuedJobs.WORKLOAD, workload)
                            .at("/status/reclaimablePods")
                            .valueStream())
                    .extracting(of -> of.path("name").asText() + " " + of.path("count").asInt())
                    .containsExactlyInAnyOrderElementsOf(
                        done.stream().map(name -> name + " 1").toList()));

    stop(api, workload, spec);
  }

  /** Stopped, it is as it was, in each byte. */
  private static void stop(QueuedJobs api, String workload, String spec) {
    api.patch(QueuedJobs.WORKLOAD, workload, "{'spec': {'active': false}}");
    await()
        .untilAsserted(
            () -> {
              assertThat(api.get(SET, "many").path("spec").toString()).isEqualTo(spec);
              assertThat(running(api)).isEmpty();
            });
    api.awaitCondition(QueuedJobs.WORKLOAD, workload, "QuotaReserved", "False");
  }

  private static void assertAssigned(TestCluster cluster, JsonNode workload, int first) {
    assertThat(workload.at("/status/admission/podSetAssignments").valueStream())
        .extracting(
            of ->
                "%d %s %s"
                    .formatted(
                        of.path("count").asInt(),
                        of.path("name").asText(),
                        of.at("/flavors/cpu").asText()))
        .containsExactlyElementsOf(
            IntStream.range(0, MOST)
                .mapToObj(job -> "1 " + name(job) + " " + cluster.name(pool(job, first)))
                .toList());
  }

  private static String pool(int job, int first) {
    return job < first ? "first" : "second";
  }

  private static String podSet(JsonNode pod) {
    return pod.at("/metadata/labels/jobset.sigs.k8s.io~1replicatedjob-name").asText();
  }

  /** Each pod runs where its pod set was placed, with what its own template says. */
  private static void awaitStarted(QueuedJobs api, int first) {
    await()
        .untilAsserted(
            () ->
                assertThat(running(api))
                    .containsExactlyInAnyOrderElementsOf(
                        IntStream.range(0, MOST)
                            .mapToObj(
                                job ->
                                    "%s of %s in %s linux tolerates key-%d"
                                        .formatted(name(job), name(job), pool(job, first), job))
                            .toList()));
  }

  private static boolean isOne(JsonNode pod) {
    return pod.at("/metadata/name").asText().startsWith("many-");
  }

  private static List<String> running(QueuedJobs api) {
    return api.pods().stream()
        .filter(ManyPodSetsIT::isOne)
        .filter(pod -> pod.at("/status/phase").asText().equals("Running"))
        .map(ManyPodSetsIT::placed)
        .toList();
  }

  private static String placed(JsonNode pod) {
    String key =
        pod.at("/spec/tolerations")
            .valueStream()
            .map(toleration -> toleration.path("key").asText())
            .filter(it -> it.startsWith("key-"))
            .collect(Collectors.joining("+"));
    return "%s %s in %s %s tolerates %s"
        .formatted(
            podSet(pod),
            pod.at("/metadata/annotations/note").asText(),
            pod.at("/spec/nodeSelector/pool").asText(),
            pod.at("/spec/nodeSelector/kubernetes.io~1os").asText(),
            key);
  }

  private static void succeed(TestCluster cluster, String pod) {
    cluster
        .client()
        .pods()
        .inNamespace(cluster.namespace())
        .withName(pod)
        .subresource("status")
        .patch(PatchContext.of(PatchType.JSON_MERGE), "{\"status\":{\"phase\":\"Succeeded\"}}");
  }

  /** The API's Workload has no room for it; people are told, and nothing of it runs. */
  @Test
  void aJobSetOfMorePodSetsStaysSuspendedAndIsToldWhy(TestCluster cluster) {
    QueuedJobs api = new QueuedJobs(cluster);
    PlayedDefinitions.install(cluster.client(), new PlayedJobSet().kind());
    givenQueues(cluster, MOST + 1, 0);

    submit(cluster, "more", MOST + 1);

    await()
        .untilAsserted(
            () ->
                assertThat(cluster.events())
                    .anySatisfy(
                        event -> {
                          assertThat(event.getRegarding().getName()).isEqualTo("more");
                          assertThat(event.getReason()).isEqualTo("ErrWorkloadCompose");
                          assertThat(event.getNote()).contains("spec.podSets", "18");
                        }));
    assertThat(api.get(SET, "more").at("/spec/suspend").asBoolean()).isTrue();
    assertThat(api.workloads()).isEmpty();
    assertThat(api.pods()).isEmpty();
  }

  /** The definition of JobSets allows requests that no Workload may have. */
  @Test
  void aJobSetThatRequestsTheReservedResourceIsToldWhyAndQueuedWhenItDoesNotAnyMore(
      TestCluster cluster) {
    QueuedJobs api = new QueuedJobs(cluster);
    PlayedDefinitions.install(cluster.client(), new PlayedJobSet().kind());
    givenQueues(cluster, 1, 0);
    String set =
        """
        apiVersion: jobset.x-k8s.io/v1alpha2
        kind: JobSet
        metadata: {name: greedy, labels: {kueue.x-k8s.io/queue-name: lq}}
        spec:
          replicatedJobs:
          - name: one
            template: {spec: {template: {spec: {restartPolicy: Never, containers: [
              {name: c, image: none, resources: {requests: {%s: "1"}}}]}}}}
        """;

    cluster.applyText(set.formatted("pods"));

    await()
        .untilAsserted(
            () ->
                assertThat(notes(cluster, "greedy", "ErrWorkloadCompose"))
                    .singleElement()
                    .asString()
                    .contains(
                        "spec.podSets[0].template.spec.containers[0].resources.requests[pods]"));
    assertThat(api.workloads()).isEmpty();

    cluster.applyText(set.formatted("cpu"));
    api.workloadOf(SET, "greedy");
  }

  private static List<String> notes(TestCluster cluster, String job, String reason) {
    return cluster.events().stream()
        .filter(event -> event.getRegarding().getName().equals(job))
        .filter(event -> event.getReason().equals(reason))
        .map(Event::getNote)
        .toList();
  }
}
