package dev.sluice.endtoend;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.lab.audit.AuditReport;
import dev.sluice.lab.audit.AuditReport.JobRecord;
import dev.sluice.lab.audit.AuditedKind;
import dev.sluice.lab.audit.ObjectChange;
import dev.sluice.lab.audit.WatchRecorder;
import dev.sluice.lab.controlplane.NodeGroup;
import dev.sluice.lab.process.OperatorSettings;
import dev.sluice.reference.RunAudit;
import dev.sluice.testing.ControlPlaneTest;
import dev.sluice.testing.TestCluster;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.batch.v1.Job;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A quota tree changes at random under Jobs that run and wait, while operators are killed
 * (docs/kube-queue.md#when-quotas-change). The whole history proves that the root's quota was kept
 * at every instant; in the end every Job runs, and nothing is left; strangers' objects of the same
 * names stay as they are. {@code -Dsluice.tree.changes=N} says how often the tree changes; profile
 * nightly changes it 200 times under 400 Jobs.
 */
@ControlPlaneTest(exclusive = true, fresh = false)
@ResourceLock(JobLoad.PROCESSORS)
@Tag("faults")
class QuotaTreeChangesIT {

  private static final Logger LOG = LoggerFactory.getLogger(QuotaTreeChangesIT.class);
  private static final int CHANGES = 20;
  private static final int CHANGES_PER_KILL = 20;
  private static final int NAMESPACES = 5;
  private static final Duration LIMIT = Duration.ofMinutes(10);
  private static final String TREE = "scheduling.sigs.k8s.io/v1beta1";
  private static final String GROUP = "kueue.x-k8s.io/v1beta2";

  /** From one change to the next, in milliseconds. */
  private static final int LONGEST_PAUSE = 1_500;

  private final int changes = Integer.getInteger("sluice.tree.changes", CHANGES);
  private final int room = Math.max(10, changes / 2);
  private final int jobs = 4 * room;
  private final TreeMap<String, Integer> seenRunning = new TreeMap<>();

  @Test
  void quotaIsKeptAndNothingIsLost(TestCluster cluster, @TempDir Path directory)
      throws InterruptedException, ExecutionException {
    long seed = Long.getLong("sluice.seed", 20_26);
    LOG.info("changes={} jobs={} room={} seed={}", changes, jobs, room, seed);
    KubernetesClient client = cluster.client();
    cluster.createNodes(NodeGroup.plentiful(cluster.name("node"), 4));
    List<String> namespaces =
        IntStream.range(0, NAMESPACES).mapToObj(i -> cluster.createNamespace("n" + i)).toList();
    InstantSource clock = InstantSource.system();
    Map<Long, Instant> seen = new ConcurrentHashMap<>();
    OperatorSettings settings =
        OperatorSettings.onFreePorts(new SecureRandom())
            .withLeases(Duration.ofSeconds(6), Duration.ofSeconds(4), Duration.ofMillis(500))
            .with(
                "kubeQueue: {enabled: true, oversellRate: 1, policy: Block, queueUnits:"
                    + " \"Off\"}\n");
    try (Restarts operators = new Restarts(cluster.kubeconfig(), settings, directory);
        ScheduledExecutorService timer = Executors.newScheduledThreadPool(1);
        WatchRecorder recorder =
            new WatchRecorder(
                client,
                clock,
                change -> seen.put(change.revision(), clock.instant()),
                EnumSet.allOf(AuditedKind.class))) {
      operators.awaitLeading(LIMIT);
      Strangers strangers = new Strangers(cluster, namespaces.getFirst());
      recorder.start();
      RandomQuotaTree tree = new RandomQuotaTree(new Random(seed), room, namespaces);
      apply(client, tree.yaml());
      submit(client, namespaces);
      awaitRunning(client, namespaces, room);

      change(tree, client, operators, new Random(seed + 1), timer, namespaces);

      tree.open(jobs);
      // What a write returns may be later: the client sends again what wasn't answered in time, and
      // finds what followed from the first time.
      long opened = 1 + revision(client);
      apply(client, tree.yaml());
      awaitRunning(client, namespaces, jobs);
      awaitFollowed(client, tree);
      assertThat(recorder.catchUp(LIMIT)).isTrue();
      assertThat(recorder.gap()).isEmpty();
      List<ObjectChange> history =
          recorder.history().stream().filter(each -> isOwn(each, namespaces)).toList();
      QuotaTreeAudit audit = new QuotaTreeAudit(history, room).from(opened, jobs);
      AuditReport report = audit.whole();
      LOG.info(
          "kills={} ends={} running={} {}; evictions={}",
          operators.kills(),
          operators.ends(),
          seenRunning,
          report.summary(),
          report.jobs().stream().mapToInt(JobRecord::evictions).sum());
      assertThat(report.violations()).isEmpty();
      assertThat(report.jobs()).hasSize(jobs);
      assertThat(audit.overGiven()).isEmpty();
      assertThat(operators.kills()).isEqualTo(changes / CHANGES_PER_KILL);
      judgeNodes(history, seen);

      namespaces.forEach(
          each -> client.batch().v1().jobs().inNamespace(each).withLabel("load").delete());
      client
          .genericKubernetesResources(TREE, "ElasticQuotaTree")
          .inNamespace("kube-system")
          .withName("random")
          .delete();
      awaitNothingMade(client);
      strangers.assertUntouched(recorder.history());
    }
  }

  /** At every level of the tree each admission fitted, by the reference. */
  private static void judgeNodes(List<ObjectChange> history, Map<Long, Instant> seen) {
    List<RunAudit.Moment> moments =
        history.stream()
            .map(
                each ->
                    new RunAudit.Moment(each, Objects.requireNonNull(seen.get(each.revision()))))
            .toList();
    RunAudit.Report judged = RunAudit.audit(moments, Optional.empty());
    LOG.info("admissions={} victims={}", judged.admissions(), judged.victims());
    assertThat(judged.violations()).as(() -> String.join("\n", RunAudit.story(moments))).isEmpty();
  }

  private static boolean isOwn(ObjectChange change, List<String> namespaces) {
    return switch (change.kind()) {
      case CLUSTER_QUEUE, COHORT -> QuotaTreeAudit.isMade(change.object());
      case JOB, POD, WORKLOAD, LOCAL_QUEUE ->
          namespaces.contains(change.object().at("/metadata/namespace").asText())
              && !Strangers.isTheirs(change.object());
    };
  }

  private void change(
      RandomQuotaTree tree,
      KubernetesClient client,
      Restarts operators,
      Random random,
      ScheduledExecutorService timer,
      List<String> namespaces)
      throws InterruptedException, ExecutionException {
    boolean valid = true;
    for (int i = 1; i <= changes; i++) {
      int dice = random.nextInt(12);
      if (dice == 0) {
        client
            .genericKubernetesResources(TREE, "ElasticQuotaTree")
            .inNamespace("kube-system")
            .withName("random")
            .delete();
      } else if (dice <= 2) {
        apply(client, tree.invalid());
      } else {
        tree.change();
        apply(client, tree.yaml());
      }
      valid = dice > 2;
      if (i % CHANGES_PER_KILL == CHANGES_PER_KILL / 2) {
        operators.kill();
      }
      timer.schedule(operators::watch, random.nextInt(LONGEST_PAUSE), TimeUnit.MILLISECONDS).get();
      seenRunning.merge(
          running(client, namespaces) >= room * 3 / 4 ? "three quarters or more" : "fewer",
          1,
          Integer::sum);
      if (i % CHANGES_PER_KILL == 0) {
        operators.awaitLeading(LIMIT);
        if (!valid) {
          apply(client, tree.yaml());
        }
        awaitFollowed(client, tree);
      }
    }
  }

  /** The newest write of the store. */
  private static long revision(KubernetesClient client) {
    return Long.parseLong(
        client.namespaces().withLabel("none").list().getMetadata().getResourceVersion());
  }

  private static void apply(KubernetesClient client, String yaml) {
    client.resource(yaml).fieldManager("test").forceConflicts().serverSideApply();
  }

  private void submit(KubernetesClient client, List<String> namespaces) {
    IntStream.range(0, jobs)
        .forEach(
            i -> client.resource(job("job-" + i, namespaces.get(i % namespaces.size()))).create());
  }

  private static String job(String name, String namespace) {
    return """
    apiVersion: batch/v1
    kind: Job
    metadata: {name: %s, namespace: %s, labels: {load: random}}
    spec:
      suspend: true
      template:
        metadata: {annotations: {sluice.dev/run-for: "60m"}}
        spec:
          restartPolicy: Never
          terminationGracePeriodSeconds: 1
          containers:
          - {name: main, image: none, resources: {requests: {cpu: "1", memory: 1Gi}}}
    """
        .formatted(name, namespace);
  }

  private static int running(KubernetesClient client, List<String> namespaces) {
    return (int)
        namespaces.stream()
            .flatMap(
                each ->
                    client
                        .batch()
                        .v1()
                        .jobs()
                        .inNamespace(each)
                        .withLabel("load")
                        .list()
                        .getItems()
                        .stream())
            .filter(QuotaTreeChangesIT::isRunning)
            .count();
  }

  private static boolean isRunning(Job job) {
    return Boolean.FALSE.equals(job.getSpec().getSuspend())
        && Objects.equals(job.getStatus().getActive(), 1);
  }

  private static void awaitRunning(KubernetesClient client, List<String> namespaces, int jobs) {
    await(jobs + " Jobs run")
        .atMost(LIMIT)
        .pollInterval(Duration.ofMillis(500))
        .untilAsserted(() -> assertThat(running(client, namespaces)).isEqualTo(jobs));
  }

  /**
   * Each leaf has its queue with its guarantee, each namespace one LocalQueue of its leaf, and
   * every Job without quota waits there. Nothing else is left, if all is over.
   */
  private static void awaitFollowed(KubernetesClient client, RandomQuotaTree tree) {
    await("queues as the tree says: " + tree.yaml())
        .atMost(LIMIT)
        .pollInterval(Duration.ofMillis(500))
        .untilAsserted(
            () -> {
              Map<String, Integer> guarantees = new TreeMap<>();
              for (JsonNode queue : made(client, "ClusterQueue")) {
                if (!isRemoved(queue) && tree.guarantees().containsKey(path(queue))) {
                  guarantees.put(path(queue), nominal(queue));
                }
              }
              assertThat(guarantees).isEqualTo(tree.guarantees());
              Map<String, String> quotas = new TreeMap<>();
              Map<String, String> names = new TreeMap<>();
              for (JsonNode queue : made(client, "LocalQueue")) {
                if (!isRemoved(queue)) {
                  String namespace = queue.at("/metadata/namespace").asText();
                  assertThat(quotas.put(namespace, path(queue))).as(namespace).isNull();
                  names.put(namespace, queue.at("/metadata/name").asText());
                }
              }
              assertThat(quotas).isEqualTo(tree.quotas());
              for (JsonNode workload : all(client, "Workload")) {
                String namespace = workload.at("/metadata/namespace").asText();
                if (names.containsKey(namespace)
                    && !Strangers.isTheirs(workload)
                    && workload.at("/status/admission").isMissingNode()) {
                  assertThat(workload.at("/spec/queueName").asText())
                      .as("queue of " + namespace)
                      .isEqualTo(names.get(namespace));
                }
              }
            });
  }

  private static List<JsonNode> all(KubernetesClient client, String kind) {
    return client
        .genericKubernetesResources(GROUP, kind)
        .inAnyNamespace()
        .list()
        .getItems()
        .stream()
        .map(Strangers::tree)
        .toList();
  }

  private static List<JsonNode> made(KubernetesClient client, String kind) {
    boolean namespaced = kind.equals("LocalQueue");
    List<GenericKubernetesResource> found =
        namespaced
            ? client.genericKubernetesResources(GROUP, kind).inAnyNamespace().list().getItems()
            : client.genericKubernetesResources(GROUP, kind).list().getItems();
    return found.stream().map(Strangers::tree).filter(QuotaTreeAudit::isMade).toList();
  }

  private static String path(JsonNode object) {
    return object.at("/metadata/annotations/sluice.dev~1source-path").asText();
  }

  private static boolean isRemoved(JsonNode object) {
    return !object.at("/metadata/annotations/sluice.dev~1source-removed").isMissingNode();
  }

  private static int nominal(JsonNode queue) {
    for (JsonNode each : queue.at("/spec/resourceGroups/0/flavors/0/resources")) {
      if (each.path("name").asText().equals("cpu")) {
        return each.path("nominalQuota").asInt();
      }
    }
    return -1;
  }

  private static void awaitNothingMade(KubernetesClient client) {
    await("nothing of the tree is left")
        .atMost(LIMIT)
        .pollInterval(Duration.ofMillis(500))
        .untilAsserted(
            () -> {
              for (String kind :
                  List.of("LocalQueue", "ClusterQueue", "Cohort", "ResourceFlavor")) {
                assertThat(made(client, kind)).as(kind).isEmpty();
              }
            });
  }
}
