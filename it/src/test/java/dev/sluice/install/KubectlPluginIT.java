package dev.sluice.install;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.sluice.testing.BuildBreadth;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.LocalOperator;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.api.model.NamespaceBuilder;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Queues and Workloads are listed, stopped, held, resumed and deleted with the plugin alone. */
@ControlPlaneTest(exclusive = true)
@Tag(BuildBreadth.NIGHTLY)
class KubectlPluginIT {

  private static final Duration LIMIT = Duration.ofMinutes(3);

  private static String job(String name, String user) {
    return """
    apiVersion: batch/v1
    kind: Job
    metadata: {name: %s, labels: {kueue.x-k8s.io/queue-name: main, user: %s}}
    spec:
      suspend: true
      template:
        metadata: {annotations: {sluice.dev/run-for: 1h}}
        spec:
          restartPolicy: Never
          containers: [{name: main, image: none, resources: {requests: {cpu: 1}}}]
    """
        .formatted(name, user);
  }

  private static void awaitLine(KubectlPlugin plugin, String pattern, String... list) {
    await()
        .atMost(LIMIT)
        .untilAsserted(
            () -> assertThat(plugin.run(list)).containsPattern(pattern).endsWith("exit 0"));
  }

  /** Changes of 0.20, section 7. */
  @Test
  void whatPeopleDoToQueuesAndWorkloads(TestCluster cluster) throws Exception {
    String namespace = cluster.namespace();
    String pool = cluster.name("pool");
    KubectlPlugin plugin = new KubectlPlugin(cluster.kubeconfig());
    try (LocalOperator _ =
        LocalOperator.start(
            "operator-of-plugin",
            cluster.kubeconfig(),
            "integrations: {frameworks: [batch/job], labelKeysToCopy: [user]}")) {
      cluster.applyText(
          """
          apiVersion: kueue.x-k8s.io/v1beta2
          kind: ResourceFlavor
          metadata: {name: %1$s}
          ---
          apiVersion: kueue.x-k8s.io/v1beta2
          kind: ClusterQueue
          metadata: {name: %1$s}
          spec:
            namespaceSelector: {}
            resourceGroups:
            - coveredResources: [cpu]
              flavors: [{name: %1$s, resources: [{name: cpu, nominalQuota: 1}]}]
          ---
          apiVersion: kueue.x-k8s.io/v1beta2
          kind: LocalQueue
          metadata: {name: main, namespace: %2$s}
          spec: {clusterQueue: %1$s}
          """
              .formatted(pool, namespace));
      String[] list = {"list", "workloads", "-n", namespace};
      cluster.applyText(job("first", "ann"));
      awaitLine(
          plugin,
          "job-first-\\w+ +Job +first +main +%s +ADMITTED +- +\\d+s +\\d+s +true".formatted(pool),
          list);
      cluster.applyText(job("second", "bob"));
      awaitLine(
          plugin, "job-second-\\w+ +Job +second +main +%s +PENDING +1 +- ".formatted(pool), list);

      // positions come from the operator, which registered its API itself
      awaitLine(
          plugin,
          "(?m)^1 +0 +%s +job-second-\\w+ +main ".formatted(namespace),
          "pending",
          "main",
          "-n",
          namespace);
      namespacesAreLetGo(cluster);
      assertThat(plugin.run("list", "workloads", "-A", "--clusterqueue", pool, "--state=pending"))
          .contains("job-second-")
          .doesNotContain("job-first-");
      assertThat(plugin.run("list", "workloads", "-n", namespace, "-l", "user=ann"))
          .contains("job-first-")
          .doesNotContain("job-second-");
      assertThat(plugin.run("list", "workloads", "-n", namespace, "--for", "job.batch/first"))
          .contains("job-first-")
          .doesNotContain("job-second-");
      assertThat(plugin.run("list", "workloads", "-n", namespace, "--queue", "other"))
          .doesNotContain("job-");
      awaitLine(
          plugin,
          "main +" + pool + " +1 +1 +\\w+ +true +Ready +None",
          "list",
          "localqueues",
          "-n",
          namespace,
          "--active=true");
      assertThat(plugin.run("list", "clusterqueues", "--active", "false")).doesNotContain(pool);

      String first = workload(plugin.run(list), "first");
      String second = workload(plugin.run(list), "second");
      assertThat(plugin.run("hold", "workload", first, "-n", namespace))
          .contains("has quota")
          .endsWith("exit 1");
      assertThat(plugin.run("hold", "workload", second, "-n", namespace)).endsWith("exit 0");
      awaitLine(plugin, second + " .* PENDING .* false\n", list);
      assertThat(plugin.run("resume", "workload", second, "-n", namespace)).endsWith("exit 0");
      awaitLine(plugin, second + " .* PENDING .* true\n", list);

      // a queue that holds lets run what runs, one that is stopped doesn't
      assertThat(plugin.run("hold", "localqueue", "main", "-n", namespace)).endsWith("exit 0");
      awaitLine(plugin, "main +" + pool + " .* Hold\n", "list", "lq", "-n", namespace);
      assertThat(plugin.run(list)).containsPattern(first + " .* ADMITTED");
      assertThat(plugin.run("stop", "clusterqueue", pool)).endsWith("exit 0");
      awaitLine(plugin, first + " .* PENDING", list);
      awaitLine(plugin, pool + " .* false +\\w+ +Stopped +HoldAndDrain\n", "list", "cq");
      assertThat(plugin.run("resume", "clusterqueue", pool)).endsWith("exit 0");
      assertThat(plugin.run("resume", "localqueue", "main", "-n", namespace)).endsWith("exit 0");
      awaitLine(plugin, " Job +\\w+ .* ADMITTED ", list);
      assertThat(plugin.run("list", "rf")).containsPattern(pool + " +- +\\w+\n");
      assertThat(plugin.run("list", "lq", "-n", namespace, "-o", "name"))
          .contains("localqueue.kueue.x-k8s.io/main\n");

      // deleting without an answer deletes nothing
      assertThat(plugin.run("delete", "workload", first, "-n", namespace)).endsWith("exit 1");
      assertThat(plugin.run(list)).contains(first);
      assertThat(plugin.run("stop", "lq", "main", "-n", namespace, "--dry-run", "server", "-oname"))
          .isEqualTo("localqueue.kueue.x-k8s.io/main\nexit 0");
      assertThat(plugin.run("delete", "workload", first, "-n", namespace, "--dry-run=server"))
          .contains("(server dry run)")
          .endsWith("exit 0");
      assertThat(plugin.run("list", "pods", "--for", "job/first", "-n", namespace))
          .endsWith("exit 0");
      assertThat(plugin.run("delete", "workload", "--all", "-n", namespace, "-y"))
          .contains(first, second)
          .endsWith("exit 0");
      await()
          .atMost(LIMIT)
          .untilAsserted(() -> assertThat(plugin.run(list)).doesNotContain(" Job "));
      assertThat(cluster.client().batch().v1().jobs().inNamespace(namespace).list().getItems())
          .isEmpty();
      tellsOfBudgets(cluster, plugin);
      tellsWhatIsPlanned(cluster, plugin);
      assertThat(plugin.run("delete", "localqueue", "main", "-n", namespace, "--yes"))
          .endsWith("exit 0");

      assertThat(plugin.run("stop", "pod", "x")).contains("not pod").endsWith("exit 2");
      assertThat(plugin.run("list", "workloads", "--state=ready")).endsWith("exit 2");
      assertThat(plugin.run("top", "-A")).endsWith("exit 2");
    }
  }

  /** The administrator sees budgets and what they hold; a team, what holds its own Workloads. */
  private static void tellsOfBudgets(TestCluster cluster, KubectlPlugin plugin) throws Exception {
    String namespace = cluster.namespace();
    String name = cluster.name("spends");
    cluster.applyText(
        """
        apiVersion: sluice.dev/v1alpha1
        kind: Budget
        metadata: {name: %1$s}
        spec:
          scope: {clusterQueue: %2$s}
          limits: [{resource: cpu, hours: 5}]
        ---
        apiVersion: rbac.authorization.k8s.io/v1
        kind: Role
        metadata: {name: team, namespace: %3$s}
        rules: [{apiGroups: [kueue.x-k8s.io], resources: [workloads], verbs: [list]}]
        ---
        apiVersion: rbac.authorization.k8s.io/v1
        kind: RoleBinding
        metadata: {name: team, namespace: %3$s}
        roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: team}
        subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: dora}]
        """
            .formatted(name, cluster.name("pool"), namespace));
    awaitLine(plugin, name + " +cpu +5 +0 +0 +5 .* 0\n", "budget");
    cluster.applyText(job("unbounded", "dora"));
    String held = namespace + "/job-unbounded-\\w+: BudgetExhausted: Budget " + name;
    awaitLine(plugin, "(?s)" + name + " +cpu .* 1\n.*" + held, "budget");
    awaitLine(plugin, "(?s)^Budget " + name + ", .*" + held, "budget", name);
    awaitLine(plugin, "\"name\":\"" + name + "\",\"action\":\"Hold\"", "budget", "-o", "json");
    assertThat(plugin.run("budget", "--as=dora", "-n", namespace))
        .contains("cannot list resource \"budgets\"", "held in namespace " + namespace)
        .containsPattern(held)
        .doesNotContain("RESERVED")
        .endsWith("exit 1");
    cluster
        .client()
        .genericKubernetesResources("sluice.dev/v1alpha1", "Budget")
        .withName(name)
        .delete();
  }

  /** Reservations, windows and quota by time of day; who may not read them sees no empty table. */
  private static void tellsWhatIsPlanned(TestCluster cluster, KubectlPlugin plugin)
      throws Exception {
    String halved = cluster.name("halved");
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: %1$s, annotations: {sluice.dev/quota-schedule: Mon-Sun 0.5}}
        spec:
          namespaceSelector: {}
          resourceGroups:
          - coveredResources: [cpu]
            flavors: [{name: %2$s, resources: [{name: cpu, nominalQuota: 8}]}]
        ---
        apiVersion: sluice.dev/v1alpha1
        kind: CapacityReservation
        metadata: {name: %1$s}
        spec:
          clusterQueue: %1$s
          capacity: [{flavor: %2$s, resource: cpu, amount: 2}]
          users: {localQueues: [{namespace: course, name: students}]}
          lend: true
          start: "2099-12-01T08:00:00Z"
          end: "2099-12-01T18:00:00Z"
        ---
        apiVersion: sluice.dev/v1alpha1
        kind: MaintenanceWindow
        metadata: {name: %1$s}
        spec:
          nodeLabels: {rack: none}
          schedule: {times: [{days: [Monday], from: "08:00", to: "09:00"}]}
        """
            .formatted(halved, cluster.name("pool")));
    awaitLine(plugin, halved + " +0 +0 +" + cluster.name("pool") + " +cpu +8 +0.5 +0 +0\n", "top");
    awaitLine(
        plugin,
        "2099-12-01T08:00:00Z +2099-12-01T18:00:00Z +Upcoming +CapacityReservation +%1$s"
                .formatted(halved)
            + " +course/students +%1$s: %2$s cpu 2, lent while unused\n"
                .formatted(halved, cluster.name("pool")),
        "calendar");
    awaitLine(
        plugin,
        "Invalid +MaintenanceWindow +" + halved + " +nobody +nodes rack=none\n",
        "calendar");
    assertThat(plugin.run("calendar"))
        .containsPattern(
            "Current +quota-schedule +%1$s +everybody +ClusterQueue %1$s: factor 0.5\n"
                .formatted(halved))
        .contains(halved + ": no LocalQueue course/students of ClusterQueue " + halved)
        .contains(halved + ": counts nothing: no ResourceFlavor with nodeLabels rack=none");
    assertThat(plugin.run("calendar", "--as=dora"))
        .contains("cannot list resource \"capacityreservations\"", "\"quotaschedules\"")
        .endsWith("exit 1");
    assertThat(plugin.run("tree", "--as=dora")).endsWith("exit 1");
    assertThat(plugin.run("tree")).contains(halved + ": 0 pending, 0 admitted").endsWith("exit 0");
    for (String kind : List.of("CapacityReservation", "MaintenanceWindow")) {
      cluster
          .client()
          .genericKubernetesResources("sluice.dev/v1alpha1", kind)
          .withName(halved)
          .delete();
    }
  }

  /** Where the API server can't discover an aggregated API, no namespace ends. */
  private static void namespacesAreLetGo(TestCluster cluster) {
    var namespace = cluster.client().namespaces().withName(cluster.name("let-go"));
    cluster
        .client()
        .resource(
            new NamespaceBuilder()
                .withNewMetadata()
                .withName(cluster.name("let-go"))
                .endMetadata()
                .build())
        .create();
    namespace.delete();
    await().atMost(LIMIT).until(() -> namespace.get() == null);
  }

  private static String workload(String list, String job) {
    Matcher found = Pattern.compile("(job-" + job + "-\\w+) ").matcher(list);
    assertThat(found.find()).isTrue();
    return found.group(1);
  }
}
