package dev.sluice.topology;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.lab.audit.AuditedKind;
import dev.sluice.lab.audit.NodeAuditor;
import dev.sluice.lab.audit.WatchRecorder;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.LocalOperator;
import dev.sluice.testing.QueuedJobs;
import dev.sluice.testing.TestCluster;
import dev.sluice.visibility.explain.ExplainCommand;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/**
 * Whatever a job asks of the topology, its pods are bound to the nodes of its assignment, each rank
 * to its own, and no node ever has more pods than it has room for.
 */
@ControlPlaneTest(exclusive = true, fresh = false)
class TopologyFormsIT {

  private static final Duration LIMIT = Duration.ofMinutes(5);

  /** The length of the name of a rack, such as b1r2, and of its block, such as b1. */
  private static final int RACK = 4;

  private static final int BLOCK = 2;

  private static final String PREFERRED =
      "kueue.x-k8s.io/podset-preferred-topology: example.com/rack,";
  private static final String SLICES =
      "kueue.x-k8s.io/podset-slice-required-topology: example.com/rack,"
          + " kueue.x-k8s.io/podset-slice-size: '2',";
  private static final String LAYERS =
      "kueue.x-k8s.io/podset-slice-required-topology-constraints:"
          + " '[{\"topology\":\"example.com/block\",\"size\":4},"
          + "{\"topology\":\"example.com/rack\",\"size\":2}]',";

  /**
   * A form of request. A rack has room for four of the pods.
   *
   * @param annotations what the template of a Job says
   * @param racks judges the racks of the pods in the order of ranks
   */
  private record Form(String name, String annotations, int pods, Consumer<List<String>> racks) {}

  private static final List<Form> FORMS =
      List.of(
          new Form(
              "required",
              "kueue.x-k8s.io/podset-required-topology: example.com/rack,",
              4,
              racks -> together(racks, 4, RACK)),
          new Form(
              "preferred",
              PREFERRED,
              6,
              racks -> {
                together(racks, 6, BLOCK);
                assertThat(perRack(racks)).containsExactly(2L, 4L);
              }),
          new Form(
              "unconstrained",
              "kueue.x-k8s.io/podset-unconstrained-topology: 'true',",
              6,
              racks -> assertThat(racks).hasSize(6)),
          new Form("slices", SLICES, 6, racks -> together(racks, 2, RACK)),
          new Form(
              "required-slices",
              "kueue.x-k8s.io/podset-required-topology: example.com/block, " + SLICES,
              8,
              racks -> {
                together(racks, 8, BLOCK);
                together(racks, 2, RACK);
              }),
          new Form(
              "layers",
              LAYERS,
              12,
              racks -> {
                together(racks, 4, BLOCK);
                together(racks, 2, RACK);
              }),
          new Form("implied", "", 5, racks -> assertThat(racks).hasSize(5)));

  private static final Form BALANCED =
      new Form(
          "balanced",
          PREFERRED,
          6,
          racks -> {
            together(racks, 6, BLOCK);
            assertThat(perRack(racks)).containsExactly(3L, 3L);
          });

  /** Each so many pods, in the order of ranks, are in one domain. */
  private static void together(List<String> racks, int pods, int length) {
    for (int i = 0; i < racks.size(); i += pods) {
      assertThat(racks.subList(i, i + pods).stream().map(rack -> rack.substring(0, length)))
          .as("pods from rank %s of %s", i, racks)
          .containsOnly(racks.get(i).substring(0, length));
    }
  }

  private static List<Long> perRack(List<String> racks) {
    return racks.stream()
        .collect(Collectors.groupingBy(Function.identity(), Collectors.counting()))
        .values()
        .stream()
        .sorted()
        .toList();
  }

  @Test
  void podsOfEveryFormOfRequestAreBoundWhereTheAssignmentSays(
      TestCluster cluster, @TempDir Path directory) throws IOException {
    RackedCluster racked = new RackedCluster(cluster).withNodes();
    try (WatchRecorder recorder =
        new WatchRecorder(
                cluster.client(), InstantSource.system(), change -> {}, Set.of(AuditedKind.POD))
            .start()) {
      try (LocalOperator operator =
          LocalOperator.start("operator-of-forms", cluster.kubeconfig(), "")) {
        racked.withQueues();
        FORMS.forEach(form -> run(racked, form));
        explain(cluster, operator.settings().visibilityPort(), directory);
      }
      try (LocalOperator _ =
          LocalOperator.start(
              "operator-of-balance",
              cluster.kubeconfig(),
              "integrations: {frameworks: [batch/job, pod]}\n"
                  + "featureGates: {TASBalancedPlacement: true}\n")) {
        run(racked, BALANCED);
        growAndShrink(cluster, racked);
        growOnProvisionedNodes(cluster, racked);
        runGroup(cluster, racked);
      }
      assertThat(recorder.catchUp(LIMIT)).isTrue();
      assertThat(recorder.gap()).isEmpty();
      NodeAuditor.Result result = NodeAuditor.audit(recorder.history(), racked.allocatable());
      assertThat(result.violations()).isEmpty();
      int pods = FORMS.stream().mapToInt(Form::pods).sum() + BALANCED.pods() + 4 + ELASTIC_PODS;
      assertThat(result.pods()).isEqualTo(pods);
    }
  }

  private static void run(RackedCluster racked, Form form) {
    racked.job(form.name(), "lq", form.annotations(), form.pods(), 2);
    String workload = racked.jobs().workloadOf(RackedCluster.JOB, form.name());
    racked.awaitRunning(form.name(), form.pods());
    Map<String, List<String>> places = racked.placesOf(workload);
    assertThat(places.get("main")).as(form.name()).hasSize(form.pods());
    // who asks for nothing doesn't tell which label has the rank
    if (form.annotations().isEmpty()) {
      assertThat(sorted(racked.boundOf(workload))).as(form.name()).isEqualTo(sorted(places));
    } else {
      assertThat(racked.boundOf(workload)).as(form.name()).isEqualTo(places);
    }
    form.racks()
        .accept(places.getOrDefault("main", List.of()).stream().map(racked::rackOf).toList());
    racked.jobs().delete(RackedCluster.JOB, form.name());
    RackedCluster.eventually(
        "empty nodes for the next form",
        () -> {
          assertThat(racked.jobs().pods()).isEmpty();
          assertThat(racked.jobs().workloads()).isEmpty();
        });
  }

  /** The command finds all nodes of the flavor free again, and doesn't know another flavor. */
  private static void explain(TestCluster cluster, int port, Path directory) throws IOException {
    String authority =
        cluster
            .client()
            .secrets()
            .inNamespace("kueue-system")
            .withName("kueue-webhook-server-cert")
            .require()
            .getData()
            .getOrDefault("ca.crt", "");
    Path trusted =
        Files.write(directory.resolve("operator-ca.crt"), Base64.getDecoder().decode(authority));
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    CommandLine command =
        new CommandLine(new ExplainCommand())
            .setOut(new PrintWriter(out, true))
            .setErr(new PrintWriter(err, true));
    List<String> operator =
        List.of(
            "--kubeconfig",
            cluster.kubeconfig().toString(),
            "--operator",
            "https://127.0.0.1:" + port,
            "--operator-ca",
            trusted.toString());
    Function<String, Integer> explained =
        flavor ->
            command.execute(
                Stream.concat(Stream.of("topology", flavor), operator.stream())
                    .toArray(String[]::new));

    assertThat(explained.apply(cluster.name("racked"))).as(err::toString).isZero();
    assertThat(out.toString().lines())
        .startsWith(
            "flavor %s: 8 nodes in topology %s (example.com/block > example.com/rack >"
                    .formatted(cluster.name("racked"), cluster.name("racks"))
                + " kubernetes.io/hostname)")
        .anyMatch(line -> line.startsWith("  b1: cpu 16 of 16 free"));
    assertThat(explained.apply("no-flavor")).isOne();
    assertThat(command.execute("topology", "no-operator")).isEqualTo(2);
  }

  /** The pods of an elastic job at its largest, and those that others have beside it. */
  private static final int ELASTIC_PODS = 5 + 4 + 6;

  /**
   * An elastic job whose pods take a node each grows when others have left: its pods stay where
   * they are. When it shrinks, others get exactly the nodes that its pods have left.
   */
  private static void growAndShrink(TestCluster cluster, RackedCluster racked) {
    ElasticJob elastic = new ElasticJob(cluster, racked, "elastic").submit("lq", 3, 4);
    Map<String, String> three = elastic.awaitPods(3);
    String anywhere = "kueue.x-k8s.io/podset-unconstrained-topology: 'true',";
    racked.job("neighbour", "lq", anywhere, 4, 4);
    racked.awaitRunning("neighbour", 4);

    elastic.scale(5);
    String larger = elastic.awaitSlice(5);
    racked.jobs().awaitCondition(QueuedJobs.WORKLOAD, larger, "QuotaReserved", "False");
    assertThat(elastic.awaitPods(3)).as("one node is free, two are needed").isEqualTo(three);
    racked.jobs().delete(RackedCluster.JOB, "neighbour");
    Map<String, String> five = elastic.awaitPods(5);
    assertThat(five).containsAllEntriesOf(three);
    assertThat(five.values()).doesNotHaveDuplicates();
    assertThat(racked.placesOf(larger).get("main"))
        .containsExactlyInAnyOrderElementsOf(five.values());

    elastic.scale(2);
    Map<String, String> two = elastic.awaitPods(2);
    assertThat(five).containsAllEntriesOf(two);
    RackedCluster.eventually(
        "places of the smaller job",
        () ->
            assertThat(racked.placesOf(larger).get("main"))
                .containsExactlyInAnyOrderElementsOf(two.values()));
    racked.job("second", "lq", anywhere, 6, 4);
    assertThat(racked.awaitRunning("second", 6).values())
        .doesNotHaveDuplicates()
        .doesNotContainAnyElementsOf(two.values());
    assertThat(elastic.awaitPods(2)).isEqualTo(two);
    racked.jobs().delete(RackedCluster.JOB, "second");
    racked.jobs().delete(RackedCluster.JOB, "elastic");
    RackedCluster.eventually("empty nodes", () -> assertThat(racked.jobs().workloads()).isEmpty());
  }

  /**
   * Places are found when the nodes of a provisioning request are there, which the test plays: for
   * the first pods of an elastic job, and for those it grows by, which leave the first ones where
   * they are.
   */
  private static void growOnProvisionedNodes(TestCluster cluster, RackedCluster racked) {
    PlayedAutoscaler autoscaler = new PlayedAutoscaler(cluster, racked).withQueue();
    ElasticJob job = new ElasticJob(cluster, racked, "provisioned").submit("lq-new", 2, 4);
    String first = job.awaitSlice(2);
    autoscaler.awaitRequest(first);
    assertThat(racked.placesOf(first).get("main")).isEmpty();
    assertThat(racked.jobs().pods()).isEmpty();
    autoscaler.approve(first);
    RackedCluster.eventually(
        "places are awaited",
        () ->
            assertThat(racked.condition(first, "Admitted").path("reason").asText())
                .isEqualTo("PendingDelayedTopologyRequests"));
    RackedCluster.eventually(
        "a search in vain", () -> assertThat(racked.eventsOf(first)).contains("SecondPassFailed"));
    autoscaler.addNodes("r1", 2);
    Map<String, String> two = job.awaitPods(2);
    assertThat(racked.placesOf(first).get("main"))
        .containsExactlyInAnyOrderElementsOf(two.values());
    assertThat(autoscaler.delayed(first)).isEqualTo("Ready");

    job.scale(3);
    String second = job.awaitSlice(3);
    autoscaler.awaitRequest(second);
    autoscaler.addNodes("r2", 1);
    assertThat(job.awaitPods(2)).isEqualTo(two);
    autoscaler.approve(second);
    Map<String, String> three = job.awaitPods(3);
    assertThat(three).containsAllEntriesOf(two);
    assertThat(racked.placesOf(second).get("main"))
        .doesNotHaveDuplicates()
        .containsExactlyInAnyOrderElementsOf(three.values());
    job.delete();
  }

  /** Three workers of two CPUs and a leader of one, in the same rack: plain pods of one group. */
  private static void runGroup(TestCluster cluster, RackedCluster racked) {
    List<String> pods = List.of("leader", "worker-0", "worker-1", "worker-2");
    pods.forEach(name -> cluster.applyText(podOfGroup(name, name.equals("leader") ? 1 : 2)));
    RackedCluster.eventually(
        "pods of the group",
        () ->
            assertThat(racked.boundOf("team").values().stream().flatMap(List::stream).toList())
                .as(() -> racked.jobs().workloads().toString())
                .hasSize(4));
    Map<String, List<String>> places = sorted(racked.placesOf("team"));
    assertThat(places).hasSize(2);
    assertThat(sorted(racked.boundOf("team"))).isEqualTo(places);
    together(places.values().stream().flatMap(List::stream).map(racked::rackOf).toList(), 4, RACK);
  }

  private static Map<String, List<String>> sorted(Map<String, List<String>> nodes) {
    Map<String, List<String>> result = new TreeMap<>(nodes);
    result.replaceAll((podSet, names) -> names.stream().sorted().toList());
    return result;
  }

  private static String podOfGroup(String name, int cpus) {
    return """
    apiVersion: v1
    kind: Pod
    metadata:
      name: %s
      labels: {kueue.x-k8s.io/queue-name: lq, kueue.x-k8s.io/pod-group-name: team}
      annotations:
        kueue.x-k8s.io/pod-group-total-count: "4"
        kueue.x-k8s.io/podset-required-topology: example.com/rack
        kueue.x-k8s.io/podset-group-name: team
        sluice.dev/run-for: "60m"
    spec:
      restartPolicy: Never
      containers:
      - {name: main, image: none, resources: {requests: {cpu: "%d"}}}
    """
        .formatted(name, cpus);
  }
}
