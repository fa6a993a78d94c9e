package dev.sluice.dashboard;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.lab.controlplane.ControlPlane.FreePorts;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.LocalOperator;
import dev.sluice.testing.TestCluster;
import dev.sluice.topology.RackedCluster;
import io.fabric8.kubernetes.api.model.ServiceAccountBuilder;
import io.fabric8.kubernetes.api.model.authentication.TokenRequestBuilder;
import io.fabric8.kubernetes.api.model.rbac.ClusterRoleBindingBuilder;
import io.fabric8.kubernetes.api.model.rbac.RoleBindingBuilder;
import java.io.IOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The dashboard of the real operator for a real cluster, in a real browser. */
@ControlPlaneTest(exclusive = true, fresh = false)
@Execution(ExecutionMode.SAME_THREAD)
class DashboardIT {

  private static final Path IMAGES = Path.of("target", "dashboard");

  private static String token(TestCluster cluster, String name, String role, boolean everywhere) {
    String namespace = cluster.namespace();
    cluster.create(
        new ServiceAccountBuilder()
            .withNewMetadata()
            .withName(name)
            .withNamespace(namespace)
            .endMetadata()
            .build());
    if (everywhere) {
      cluster.create(
          new ClusterRoleBindingBuilder()
              .withNewMetadata()
              .withName(cluster.name(name))
              .endMetadata()
              .withNewRoleRef("rbac.authorization.k8s.io", "ClusterRole", role)
              .addNewSubject("", "ServiceAccount", name, namespace)
              .build());
    } else {
      cluster.create(
          new RoleBindingBuilder()
              .withNewMetadata()
              .withName(name)
              .withNamespace(namespace)
              .endMetadata()
              .withNewRoleRef("rbac.authorization.k8s.io", "ClusterRole", role)
              .addNewSubject("", "ServiceAccount", name, namespace)
              .build());
    }
    return cluster
        .client()
        .serviceAccounts()
        .inNamespace(namespace)
        .withName(name)
        .tokenRequest(new TokenRequestBuilder().withNewSpec().endSpec().build())
        .getStatus()
        .getToken();
  }

  private static void queues(TestCluster cluster, String otherNamespace) {
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ResourceFlavor
        metadata: {name: "spot-${suffix}"}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: Cohort
        metadata: {name: "everybody-${suffix}"}
        spec: {}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: "wide-${suffix}"}
        spec:
          cohortName: "everybody-${suffix}"
          namespaceSelector: {}
          resourceGroups:
          - coveredResources: [cpu]
            flavors: [{name: "spot-${suffix}", resources: [{name: cpu, nominalQuota: "2"}]}]
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: mine, namespace: "${namespace}"}
        spec: {clusterQueue: "wide-${suffix}"}
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: theirs, namespace: "%s"}
        spec: {clusterQueue: "wide-${suffix}"}
        """
            .formatted(otherNamespace));
  }

  private static void submit(TestCluster cluster, String namespace, String queue, String job) {
    cluster.applyText(
        """
        apiVersion: batch/v1
        kind: Job
        metadata: {name: %s, namespace: "%s", labels: {kueue.x-k8s.io/queue-name: %s}}
        spec:
          template:
            metadata: {annotations: {sluice.dev/run-for: "10m"}}
            spec:
              restartPolicy: Never
              containers: [{name: main, image: none, resources: {requests: {cpu: "2"}}}]
        """
            .formatted(job, namespace, queue));
  }

  private static void logIn(Chromium browser, String address, String token) {
    browser.open(address);
    browser.evaluate("sessionStorage.clear(); window.old = true");
    browser.send("Page.reload", Map.of());
    browser.await("!window.old && document.getElementById('token')");
    browser.evaluate("document.getElementById('token').focus()");
    browser.type(token);
    browser.press("Enter");
  }

  @Test
  void everybodySeesWhatHeMayAndSeesItChange(TestCluster cluster) throws Exception {
    String other = cluster.createNamespace("other");
    int port = FreePorts.choose(1, new SecureRandom()).getFirst();
    String address = "https://127.0.0.1:" + port + "/";
    try (Chromium browser = Chromium.startOrSkip();
        LocalOperator operator =
            LocalOperator.start(
                "dashboard",
                cluster.kubeconfig(),
                "dashboard: {enabled: true, bindAddress: 127.0.0.1, bindPort: " + port + "}")) {
      assertThat(operator.isAlive()).isTrue();
      queues(cluster, other);
      submit(cluster, cluster.namespace(), "mine", "first");
      browser.show(1280, 860, false);

      logIn(browser, address, "not-a-token");
      browser.awaitText("This token is not valid in this cluster.");

      logIn(browser, address, token(cluster, "admin", "kueue-batch-admin-role", true));
      browser.awaitText(cluster.name("wide"));
      browser.awaitText(cluster.name("everybody"));
      browser.awaitText("1 admitted");
      submit(cluster, other, "theirs", "second");
      browser.awaitText("1 pending");
      browser.picture(IMAGES.resolve("real-cohorts.png"));
      browser.evaluate("location.hash = '#/queue/" + cluster.name("wide") + "'");
      browser.await("document.querySelector('.rows a.row .why')?.textContent.includes('missing')");

      nodes(cluster, browser);
      plans(cluster, browser, other);

      logIn(browser, address, token(cluster, "tenant", "kueue-batch-user-role", false));
      browser.awaitText(cluster.namespace() + "/mine");
      assertThat(browser.text())
          .doesNotContain("theirs", cluster.name("everybody"))
          .doesNotContain("Topology");
      browser.evaluate("location.hash = '#/workloads'");
      browser.awaitText("1 found");
      assertThat(browser.text()).contains("first").doesNotContain("second");
      assertThat(
              browser
                  .evaluate(
                      "fetch('api/v1/pending/clusterqueues/"
                          + cluster.name("wide")
                          + "', {headers: {Authorization: 'Bearer ' +"
                          + " sessionStorage.getItem('sluice.token')}}).then(r => r.status)")
                  .asInt())
          .isEqualTo(403);
      inTheCluster(cluster, browser);
      browser.evaluate("location.hash = '#/workloads'");
      browser.awaitText("1 found");

      live(cluster, browser);
      browser.picture(IMAGES.resolve("real-tenant.png"));
      assertThat(browser.complaints()).isEmpty();
    }
  }

  /** An administrator looks at a budget that holds a Job, and at what is reserved tomorrow. */
  private static void plans(TestCluster cluster, Chromium browser, String other)
      throws IOException {
    Instant tomorrow = Instant.now().plus(Duration.ofDays(1)).truncatedTo(ChronoUnit.SECONDS);
    cluster.applyText(
        """
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: ClusterQueue
        metadata: {name: "spends-${suffix}", annotations: {sluice.dev/quota-schedule: Mon-Sun 1.5}}
        spec:
          namespaceSelector: {}
          resourceGroups:
          - coveredResources: [cpu]
            flavors: [{name: "spot-${suffix}", resources: [{name: cpu, nominalQuota: "2"}]}]
        ---
        apiVersion: kueue.x-k8s.io/v1beta2
        kind: LocalQueue
        metadata: {name: spends, namespace: "%s"}
        spec: {clusterQueue: "spends-${suffix}"}
        ---
        apiVersion: sluice.dev/v1alpha1
        kind: Budget
        metadata: {name: "spends-${suffix}"}
        spec:
          scope: {clusterQueue: "spends-${suffix}"}
          limits: [{resource: cpu, hours: 5}]
        ---
        apiVersion: sluice.dev/v1alpha1
        kind: CapacityReservation
        metadata: {name: "course-${suffix}"}
        spec:
          clusterQueue: "wide-${suffix}"
          capacity: [{flavor: "spot-${suffix}", resource: cpu, amount: 1}]
          users: {localQueues: [{namespace: "${namespace}", name: mine}]}
          start: "%s"
          end: "%s"
        """
            .formatted(other, tomorrow, tomorrow.plus(Duration.ofHours(2))));
    browser.evaluate("location.hash = '#/calendar'");
    browser.awaitText("1 cpu of " + cluster.name("spot"));
    browser.awaitText("quota at factor 1.5");
    browser.picture(IMAGES.resolve("real-calendar.png"));
    browser.evaluate("location.hash = '#/usage'");
    browser.awaitText("There is no ledger");
    browser.evaluate("location.hash = '#/budgets'");
    browser.awaitText("% spent, ");
    submit(cluster, other, "spends", "unbounded");
    browser.awaitText("BudgetExhausted: Budget " + cluster.name("spends"));
    assertThat(browser.text()).contains("Job " + other + "/unbounded");
    browser.picture(IMAGES.resolve("real-budgets.png"));
    cluster.client().batch().v1().jobs().inNamespace(other).withName("unbounded").delete();
    for (String kind : List.of("Budget", "CapacityReservation")) {
      cluster
          .client()
          .genericKubernetesResources("sluice.dev/v1alpha1", kind)
          .withName(cluster.name(kind.equals("Budget") ? "spends" : "course"))
          .delete();
    }
  }

  /** The API server decides by the rights of who clicks, who gets more of them meanwhile. */
  private static void inTheCluster(TestCluster cluster, Chromium browser) throws IOException {
    String click = "[...document.querySelectorAll('button.ask')].forEach(each => each.click())";
    browser.evaluate("document.querySelector('.rows a.row').click()");
    browser.awaitText("Show events, pods and YAML");
    browser.evaluate(click);
    browser.awaitText("queueName: mine");
    browser.awaitText("you may not list pods here");
    browser.awaitText("you may not list events here");
    cluster.create(
        new RoleBindingBuilder()
            .withNewMetadata()
            .withName("tenant-views")
            .withNamespace(cluster.namespace())
            .endMetadata()
            .withNewRoleRef("rbac.authorization.k8s.io", "ClusterRole", "view")
            .addNewSubject("", "ServiceAccount", "tenant", cluster.namespace())
            .build());
    Awaitility.await("his new right")
        .atMost(Duration.ofMinutes(2))
        .pollInterval(Duration.ofSeconds(1))
        .untilAsserted(
            () -> {
              browser.evaluate(click);
              assertThat(browser.text())
                  .contains("first-", "Running", "Admitted", "SuccessfulCreate")
                  .doesNotContain("you may not");
            });
    browser.picture(IMAGES.resolve("real-cluster.png"));
  }

  @Test
  @Tag("faults")
  void tenThousandWorkloadsScrollAndOneMoreComesByItself(TestCluster cluster) throws Exception {
    int port = FreePorts.choose(1, new SecureRandom()).getFirst();
    String address = "https://127.0.0.1:" + port + "/";
    try (Chromium browser = Chromium.startOrSkip();
        LocalOperator operator =
            LocalOperator.start(
                "dashboard-10000",
                cluster.kubeconfig(),
                "dashboard: {enabled: true, bindAddress: 127.0.0.1, bindPort: " + port + "}")) {
      queues(cluster, cluster.createNamespace("other"));
      IntStream.range(0, 10_000).parallel().forEach(number -> workload(cluster, "many-" + number));
      logIn(browser, address, token(cluster, "admin", "kueue-batch-admin-role", true));
      browser.awaitText(cluster.name("wide"));
      browser.evaluate("location.hash = '#/workloads'");
      browser.awaitText("10,000 found");
      RowScrolling.through(browser, 10_000);
      browser.evaluate("scrollTo(0, 0)");
      workload(cluster, "one-more");
      browser.awaitText("10,001 found");
      browser.picture(IMAGES.resolve("real-10000.png"));
      assertThat(browser.complaints()).isEmpty();
      assertThat(operator.isAlive()).isTrue();
    }
  }

  private static void workload(TestCluster cluster, String name) {
    cluster
        .client()
        .resource(
            """
            apiVersion: kueue.x-k8s.io/v1beta2
            kind: Workload
            metadata: {name: %s, namespace: %s}
            spec:
              queueName: mine
              podSets:
              - name: main
                count: 1
                template:
                  spec:
                    restartPolicy: Never
                    containers: [{name: main, image: none, resources: {requests: {cpu: "1"}}}]
            """
                .formatted(name, cluster.namespace()))
        .create();
  }

  /** The nodes of a topology fill while an administrator looks at them. */
  private static void nodes(TestCluster cluster, Chromium browser) throws IOException {
    RackedCluster racks = new RackedCluster(cluster).withNodes().withQueues();
    browser.evaluate("location.hash = '#/topology/" + cluster.name("racked") + "'");
    browser.awaitText("8 nodes");
    browser.awaitText("Nobody");
    racks.job("placed", "lq", "kueue.x-k8s.io/podset-required-topology: example.com/rack,", 2, 3);
    browser.awaitText("placed");
    browser.awaitText("6 / 32");
    assertThat(browser.text()).as("what is used, not what is free").doesNotContain("26 / 32");
    browser.picture(IMAGES.resolve("real-topology.png"));
    cluster
        .client()
        .batch()
        .v1()
        .jobs()
        .inNamespace(cluster.namespace())
        .withName("placed")
        .delete();
    browser.awaitText("Nobody");
  }

  /** A new Job appears on the page without anybody doing anything; how soon is printed. */
  private static void live(TestCluster cluster, Chromium browser) {
    browser.awaitText("live");
    for (int number = 0; number < 3; number++) {
      String job = "live-" + number;
      submit(cluster, cluster.namespace(), "mine", job);
      Awaitility.await("the Workload of " + job)
          .atMost(Duration.ofMinutes(2))
          .pollInterval(Duration.ofMillis(5))
          .until(() -> workloads(cluster).contains(job));
      long written = System.nanoTime();
      browser.awaitText(job);
      System.out.printf(
          Locale.ROOT,
          "dashboard: a new Workload was on the page %.0f ms after the API server had it%n",
          (System.nanoTime() - written) / 1e6);
    }
  }

  private static String workloads(TestCluster cluster) {
    return String.valueOf(
        cluster
            .client()
            .genericKubernetesResources("kueue.x-k8s.io/v1beta2", "Workload")
            .inNamespace(cluster.namespace())
            .list()
            .getItems()
            .stream()
            .map(item -> item.getMetadata().getName())
            .toList());
  }
}
