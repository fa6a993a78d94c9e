package dev.sluice.bench;

import static dev.sluice.jobs.GivenJob.job;
import static dev.sluice.jobs.GivenWorkload.workloadOf;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.sluice.accounting.AdmissionComparison;
import dev.sluice.accounting.PodAccounts;
import dev.sluice.accounting.PodAccounts.Account;
import dev.sluice.accounting.PodRecordParser;
import dev.sluice.workload.feed.AdmittedRequests;
import dev.sluice.workload.record.CachedWorkload;
import dev.sluice.workload.record.WorkloadLister;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * What pod accounting costs the operator for each pod: the heap that its record takes, and the
 * processor time of an event, from the bytes of the watch on. Jobs have a Workload with quota for
 * all of their pods each.
 */
public final class PodRecordsTable {

  private static final JsonMapper JSON = new JsonMapper();
  private static final int COLLECTIONS = 5;

  private final Known workloads = new Known(new HashMap<>());
  private final List<Account> changed = new ArrayList<>();
  private final PodAccounts accounts =
      new PodAccounts(
          workloads,
          new AdmissionComparison(AdmittedRequests.PLAIN, workload -> false, false),
          changed::add);
  private final PodRecordParser parser =
      new PodRecordParser(AdmittedRequests.PLAIN, image -> false);

  private PodRecordsTable() {}

  /** Workloads by the UIDs of their jobs. */
  private record Known(Map<String, CachedWorkload> byOwner) implements WorkloadLister {
    @Override
    public Optional<CachedWorkload> get(String namespace, String name) {
      return Optional.empty();
    }

    @Override
    public Collection<CachedWorkload> ownedBy(String ownerUid) {
      CachedWorkload found = byOwner.get(ownerUid);
      return found == null ? List.of() : List.of(found);
    }

    @Override
    public Collection<CachedWorkload> inQueue(String namespace, String queueName) {
      return List.of();
    }

    @Override
    public Collection<CachedWorkload> reservingIn(String clusterQueue) {
      return List.of();
    }

    @Override
    public Iterable<CachedWorkload> all() {
      return byOwner.values();
    }

    @Override
    public int size() {
      return byOwner.size();
    }
  }

  /**
   * Prints the table.
   *
   * @param args how many pods, and how many of a job
   */
  public static void main(String[] args) throws IOException {
    int pods = Integer.parseInt(args[0]);
    int each = Integer.parseInt(args[1]);
    new PodRecordsTable().events(Math.min(pods, 20_000), each, "warm-up");
    new PodRecordsTable().events(pods, each, "");
  }

  private void events(int pods, int each, String round) throws IOException {
    for (int job = 0; job < pods / each; job++) {
      String name = "job-" + job;
      String count = Integer.toString(each);
      CachedWorkload workload =
          workloadOf(job().spec("parallelism", count).spec("completions", count))
              .named(name)
              .ofJob(name)
              .admitted("spot", each)
              .get();
      workloads.byOwner().put("uid-of-" + name, workload);
      accounts.changed(null, workload);
    }
    long before = used();
    long created = 0;
    long looked = 0;
    for (int pod = 0; pod < pods; pod++) {
      byte[] bytes = pod(pod, each, "Pending");
      long start = cpu();
      JsonNode object = JSON.readTree(bytes);
      accounts.records().seen(parser.of(object));
      created += cpu() - start;
    }
    long records = used() - before;
    long unchanged = 0;
    for (int pod = 0; pod < pods; pod++) {
      byte[] bytes = pod(pod, each, "Running");
      long start = cpu();
      JsonNode object = JSON.readTree(bytes);
      accounts.records().seen(parser.of(object));
      unchanged += cpu() - start;
    }
    changed.clear();
    for (int job = 0; job < pods / each; job++) {
      Account account = new Account("team", "uid-of-job-" + job);
      long start = cpu();
      boolean exceeds =
          new AdmissionComparison(AdmittedRequests.PLAIN, workload -> false, false)
              .within(accounts.charge(account), accounts.podsOf(account));
      looked += cpu() - start;
      if (!exceeds) {
        throw new AssertionError(
            account
                + " has "
                + accounts.podsOf(account).size()
                + " pods of "
                + accounts.charge(account));
      }
    }
    if (round.isEmpty()) {
      System.out.printf(
          "%d pods of %d jobs: %d bytes of heap a pod; %.1f µs for a new pod, %.1f for a change of"
              + " its status; %.1f µs to compare a job of %d pods%n",
          pods,
          pods / each,
          records / pods,
          created / 1e3 / pods,
          unchanged / 1e3 / pods,
          looked / 1e3 / (pods / each),
          each);
    }
  }

  private static long cpu() {
    return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
  }

  private static long used() {
    for (int i = 0; i < COLLECTIONS; i++) {
      System.gc();
    }
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
  }

  /** A pod of a Job as the API server has it, with the fields that controllers write. */
  private static byte[] pod(int number, int each, String phase) {
    String job = "job-" + number / each;
    return """
    {"apiVersion": "v1", "kind": "Pod",
     "metadata": {"name": "%1$s-%2$d-x7k2p", "generateName": "%1$s-", "namespace": "team",
       "uid": "%3$s", "resourceVersion": "%2$d", "creationTimestamp": "2026-03-01T10:00:00Z",
       "labels": {"batch.kubernetes.io/controller-uid": "uid-of-%1$s",
         "batch.kubernetes.io/job-name": "%1$s", "controller-uid": "uid-of-%1$s",
         "job-name": "%1$s", "kueue.x-k8s.io/queue-name": "lq", "app": "training"},
       "annotations": {"example.com/team": "physics"},
       "finalizers": ["batch.kubernetes.io/job-tracking"],
       "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "%1$s",
         "uid": "uid-of-%1$s", "controller": true, "blockOwnerDeletion": true}],
       "managedFields": [{"manager": "kube-controller-manager", "operation": "Update",
         "apiVersion": "v1", "time": "2026-03-01T10:00:00Z", "fieldsType": "FieldsV1",
         "fieldsV1": {"f:metadata": {"f:generateName": {}, "f:labels": {".": {}, "f:app": {},
           "f:job-name": {}}}, "f:spec": {"f:containers": {}, "f:restartPolicy": {}}}}]},
     "spec": {"nodeName": "node-%4$d", "restartPolicy": "Never", "schedulerName": "default-scheduler",
       "serviceAccountName": "default", "terminationGracePeriodSeconds": 30,
       "containers": [{"name": "main", "image": "registry.example/train:1",
         "command": ["train", "--steps", "1000"],
         "env": [{"name": "A", "value": "1"}, {"name": "B", "value": "2"}],
         "resources": {"requests": {"cpu": "30m"}, "limits": {"memory": "1Gi"}},
         "volumeMounts": [{"name": "token", "mountPath": "/var/run/secrets", "readOnly": true}]}],
       "tolerations": [{"key": "node.kubernetes.io/not-ready", "operator": "Exists",
         "effect": "NoExecute", "tolerationSeconds": 300}]},
     "status": {"phase": "%5$s", "conditions": [
       {"type": "PodScheduled", "status": "True", "lastTransitionTime": "2026-03-01T10:00:01Z"},
       {"type": "Ready", "status": "True", "lastTransitionTime": "2026-03-01T10:00:05Z"}]}}
    """
        .formatted(job, number, new UUID(7, number), number % 500, phase)
        .getBytes(StandardCharsets.UTF_8);
  }
}
