package dev.sluice.bench;

import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.JobKindDescription;
import dev.sluice.jobs.kinds.BuiltInIntegrations;
import dev.sluice.lab.player.KindManifest;
import dev.sluice.lab.player.PlayedDefinitions;
import dev.sluice.lab.player.PlayedKinds;
import dev.sluice.lab.process.OperatorProcess;
import dev.sluice.lab.process.OperatorSettings;
import dev.sluice.testing.AdditionalControlPlane;
import dev.sluice.testing.MetricsEndpoint;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Measures what kinds of jobs cost that are turned on: while their definitions are absent, while
 * they are installed and unused, and for objects of each. Counts requests, lines of the log and
 * bytes, which other work on the machine doesn't change.
 */
public final class JobKindsTable implements AutoCloseable {

  private static final Duration LIMIT = Duration.ofMinutes(5);
  private static final int SETTLE_SECONDS = 20;
  private static final String NAMESPACE = "bench";
  private static final String WORKLOADS = "kueue.x-k8s.io/v1beta2";
  private static final Pattern HEAP_USED = Pattern.compile("used (\\d+)K");
  private static final Pattern RESIDENT = Pattern.compile("VmRSS:\\s+(\\d+) kB");
  private static final Pattern REQUESTS =
      Pattern.compile("(?m)^rest_client_requests_total\\{[^}]*} (\\S+)$");

  private final AdditionalControlPlane cluster = AdditionalControlPlane.start("kinds");
  private final KubernetesClient client = cluster.client();
  private final int seconds;
  private int runs;

  private JobKindsTable(int seconds) {
    this.seconds = seconds;
  }

  /** What an operator has used up to a moment. */
  private record Reading(double requests, long lines) {}

  /** An operator and its metrics. */
  private record Running(OperatorProcess process, MetricsEndpoint metrics, String token)
      implements AutoCloseable {

    @Override
    public void close() {
      process.close();
    }
  }

  /**
   * Prints the tables.
   *
   * @param args {@code SECONDS OBJECTS}: how long each rest is measured, and how many objects there
   *     are of each kind
   * @throws Exception when anything fails
   */
  public static void main(String[] args) throws Exception {
    try (JobKindsTable table = new JobKindsTable(Integer.parseInt(args[0]))) {
      table.unused();
      table.used(Integer.parseInt(args[1]));
    }
  }

  /** Of all kinds that have a sample. */
  private static String frameworks() {
    return KindManifest.all().stream()
        .map(manifest -> kind(manifest).framework())
        .distinct()
        .sorted()
        .collect(Collectors.joining(", "));
  }

  private Running start(String frameworks) {
    OperatorSettings settings =
        OperatorSettings.onFreePorts(new SecureRandom())
            .with(
                "integrations: {frameworks: ["
                    + frameworks
                    + "]}\nfeatureGates: {SparkApplicationIntegration: true}\n");
    OperatorProcess process =
        OperatorProcess.start(
                "operator-" + runs++,
                cluster.controlPlane().kubeconfig(),
                settings,
                cluster.controlPlane().logs(),
                List.of())
            .awaitReady();
    MetricsEndpoint metrics = new MetricsEndpoint(client, settings.metricsPort());
    return new Running(process, metrics, metrics.token());
  }

  private static Reading reading(Running operator) throws Exception {
    String metrics = operator.metrics().get(operator.token()).body();
    double requests =
        REQUESTS
            .matcher(metrics)
            .results()
            .mapToDouble(each -> Double.parseDouble(each.group(1)))
            .sum();
    try (var lines = Files.lines(operator.process().log())) {
      return new Reading(requests, lines.count());
    }
  }

  private static long kibibytes(Pattern pattern, String text) {
    Matcher matcher = pattern.matcher(text);
    return matcher.find() ? Long.parseLong(matcher.group(1)) : 0;
  }

  private static String jcmd(Running operator, String command)
      throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "jcmd").toString(),
                Long.toString(operator.process().pid()),
                command)
            .redirectErrorStream(true)
            .start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    process.waitFor();
    return output;
  }

  /** A line of the table of rests: up to its beginning, per minute, and memory. */
  private void rest(String what, Running operator) throws Exception {
    TimeUnit.SECONDS.sleep(SETTLE_SECONDS);
    Reading before = reading(operator);
    TimeUnit.SECONDS.sleep(seconds);
    Reading after = reading(operator);
    jcmd(operator, "GC.run");
    jcmd(operator, "GC.run");
    long heap = kibibytes(HEAP_USED, jcmd(operator, "GC.heap_info"));
    long resident =
        kibibytes(
            RESIDENT, Files.readString(Path.of("/proc", "" + operator.process().pid(), "status")));
    System.out.printf(
        "| %s | %.0f | %d | %.1f | %.1f | %.1f | %d |%n",
        what,
        before.requests(),
        before.lines(),
        (after.requests() - before.requests()) * 60 / seconds,
        (after.lines() - before.lines()) * 60.0 / seconds,
        heap / 1024.0,
        resident / 1024);
  }

  private void unused() throws Exception {
    System.out.println(
        "| | requests until then | lines | requests per minute | lines per minute | heap MiB |"
            + " resident MiB |");
    System.out.println("|---|---:|---:|---:|---:|---:|---:|");
    try (Running operator = start("batch/job")) {
      rest("batch/job alone", operator);
    }
    try (Running operator = start(frameworks())) {
      rest("all, definitions absent", operator);
    }
    PlayedKinds.all().forEach(played -> PlayedDefinitions.install(client, played));
    try (Running operator = start(frameworks())) {
      rest("all, definitions installed, unused", operator);
    }
  }

  private void apply(String yaml) {
    client.load(new ByteArrayInputStream(yaml.getBytes(StandardCharsets.UTF_8))).serverSideApply();
  }

  private void used(int count) throws Exception {
    try (Running operator = start(frameworks());
        PlayedKinds played = PlayedKinds.play(client)) {
      apply(
          """
          apiVersion: v1
          kind: Namespace
          metadata: {name: bench}
          ---
          apiVersion: kueue.x-k8s.io/v1beta2
          kind: ResourceFlavor
          metadata: {name: default}
          ---
          apiVersion: kueue.x-k8s.io/v1beta2
          kind: ClusterQueue
          metadata: {name: cq}
          spec:
            namespaceSelector: {}
            resourceGroups:
            - coveredResources: [cpu]
              flavors: [{name: default, resources: [{name: cpu, nominalQuota: 1000}]}]
          ---
          apiVersion: kueue.x-k8s.io/v1beta2
          kind: LocalQueue
          metadata: {name: q, namespace: bench}
          spec: {clusterQueue: cq}
          """);
      TimeUnit.SECONDS.sleep(SETTLE_SECONDS);
      System.err.println(played.count() + " kinds are played");
      System.out.println();
      System.out.println(
          "| "
              + count
              + " of | Workloads | requests to run | lines | requests to delete | lines |");
      System.out.println("|---|---:|---:|---:|---:|---:|");
      for (KindManifest manifest : KindManifest.all()) {
        use(operator, manifest, count, false);
        use(operator, manifest, count, true);
      }
      for (KindManifest manifest : KindManifest.all()) {
        submit(manifest, count);
        awaitRunning();
      }
      System.out.println();
      rest("all, " + count + " objects of each run", operator);
    }
  }

  /** The first use of a kind pays for what is made once; only the second one is printed. */
  private void use(Running operator, KindManifest manifest, int count, boolean printed)
      throws Exception {
    Reading before = reading(operator);
    submit(manifest, count);
    int workloads = awaitRunning();
    Reading running = reading(operator);
    JobKind kind = kind(manifest);
    client
        .genericKubernetesResources(kind.apiVersion(), kind.kind())
        .inNamespace(NAMESPACE)
        .delete();
    await()
        .atMost(LIMIT)
        .until(() -> all(WORKLOADS, "Workload").isEmpty() && all("v1", "Pod").isEmpty());
    Reading gone = reading(operator);
    if (printed) {
      System.out.printf(
          "| %s | %d | %.0f | %d | %.0f | %d |%n",
          manifest.name(),
          workloads,
          running.requests() - before.requests(),
          running.lines() - before.lines(),
          gone.requests() - running.requests(),
          gone.lines() - running.lines());
    }
  }

  private static JobKind kind(KindManifest manifest) {
    ObjectNode job = manifest.jobs().getFirst();
    return BuiltInIntegrations.descriptions().stream()
        .map(JobKindDescription::kind)
        .filter(it -> it.apiVersion().equals(job.path("apiVersion").asText()))
        .filter(it -> it.kind().equals(job.path("kind").asText()))
        .findFirst()
        .orElseThrow();
  }

  private void submit(KindManifest manifest, int count) {
    for (int i = 0; i < count; i++) {
      String suffix = "-" + i;
      for (ObjectNode object : manifest.inQueue("q").runningFor("2h").objects()) {
        object.withObjectProperty("metadata").put("namespace", NAMESPACE);
        apply(named(manifest, object.toString(), suffix));
      }
    }
  }

  /**
   * The objects of each copy of a sample have names of its own, wherever the sample mentions its
   * name.
   */
  private static String named(KindManifest manifest, String object, String suffix) {
    String sample = manifest.name() + "-sample";
    return object.replace(sample, sample + suffix);
  }

  private List<GenericKubernetesResource> all(String apiVersion, String kind) {
    return client
        .genericKubernetesResources(apiVersion, kind)
        .inNamespace(NAMESPACE)
        .list()
        .getItems();
  }

  /** Awaits that all Workloads are admitted and all pods run; returns how many Workloads. */
  private int awaitRunning() {
    await()
        .atMost(LIMIT)
        .until(
            () -> {
              List<GenericKubernetesResource> workloads = all(WORKLOADS, "Workload");
              List<GenericKubernetesResource> pods = all("v1", "Pod");
              return !workloads.isEmpty()
                  && pods.size() == workloads.stream().mapToInt(JobKindsTable::pods).sum()
                  && workloads.stream().allMatch(JobKindsTable::isAdmitted)
                  && pods.stream().allMatch(JobKindsTable::isRunning);
            });
    return all(WORKLOADS, "Workload").size();
  }

  private static boolean isAdmitted(GenericKubernetesResource workload) {
    List<Map<String, Object>> conditions = workload.get("status", "conditions");
    return conditions != null
        && conditions.stream()
            .anyMatch(
                each -> "Admitted".equals(each.get("type")) && "True".equals(each.get("status")));
  }

  private static int pods(GenericKubernetesResource workload) {
    List<Map<String, Object>> podSets = workload.get("spec", "podSets");
    return podSets.stream().mapToInt(each -> (Integer) each.getOrDefault("count", 1)).sum();
  }

  private static boolean isRunning(GenericKubernetesResource pod) {
    return "Running".equals(pod.get("status", "phase"));
  }

  @Override
  public void close() {
    cluster.close();
  }
}
