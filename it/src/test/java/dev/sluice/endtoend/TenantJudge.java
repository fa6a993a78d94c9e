package dev.sluice.endtoend;

import dev.sluice.api.json.JsonMappers;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/**
 * Watches what runs in a namespace in which everything has to be queued, and records for how long
 * it was too much. Which Workload a pod belongs to is told by the UIDs of the controllers that it,
 * and what controls it, had at any time; labels and annotations aren't read. A Workload that has
 * ended, or lost its quota, stays charged until its job has no pods any more. Pods are watched by
 * one watch, in order; Workloads and owners by others, so that what {@link Series#CHARGE} and
 * {@link Series#UNEXPLAINED} have for some milliseconds may not have been so. Thread-safe.
 */
final class TenantJudge implements AutoCloseable {

  /** What is recorded. */
  enum Series {
    /** The namespace ran more than the quota of its queue. */
    QUOTA,
    /**
     * A pod ran while all pods of its job together were more than its Workloads are charged for.
     */
    CHARGE,
    /** The namespace ran more than its quota although no job ran more than it is charged for. */
    UNEXPLAINED
  }

  private static final String NAMESPACE = "";

  private final long quota;
  private final InstantSource clock;
  private final Consumer<Excess> ended;
  private final ReentrantLock lock = new ReentrantLock();
  private final SharedIndexInformer<Pod> pods;

  // All of these are guarded by the lock.
  private final Map<String, RunningPod> running = new LinkedHashMap<>();
  private final Set<String> living = new HashSet<>();
  private final Map<String, Set<String>> controllers = new HashMap<>();
  private final Map<String, String> accountOfOwner = new HashMap<>();
  private final Map<String, Charge> charges = new HashMap<>();
  private final Map<Series, Map<String, Excess>> present = new EnumMap<>(Series.class);
  private final Map<Series, List<Excess>> past = new EnumMap<>(Series.class);
  private final Instant begin;
  private Instant last;
  private double used;
  private long sum;
  private long ran;

  /** What a Workload is, or was, charged for. */
  private record Charge(String account, long cpu, boolean ended) {}

  /**
   * A time in which too much ran.
   *
   * @param cpu thousandths of a CPU that ran when it began
   * @param pods those that ran then
   */
  record Excess(Series series, Instant since, Instant until, long cpu, List<String> pods) {

    Duration lasted() {
      return Duration.between(since, until);
    }
  }

  /**
   * Watches pods from now on.
   *
   * @param ended called with each excess when it is over
   */
  TenantJudge(
      KubernetesClient client,
      String namespace,
      int cpus,
      InstantSource clock,
      Consumer<Excess> ended) {
    this.quota = 1000L * cpus;
    this.clock = clock;
    this.ended = ended;
    this.begin = clock.instant();
    this.last = begin;
    for (Series series : Series.values()) {
      present.put(series, new HashMap<>());
      past.put(series, new ArrayList<>());
    }
    this.pods = client.pods().inNamespace(namespace).inform(new Handler());
  }

  private final class Handler implements ResourceEventHandler<Pod> {
    @Override
    public void onAdd(Pod pod) {
      pod(pod, false);
    }

    @Override
    public void onUpdate(Pod before, Pod pod) {
      pod(pod, false);
    }

    @Override
    public void onDelete(Pod pod, boolean unknown) {
      pod(pod, true);
    }
  }

  private void pod(Pod pod, boolean gone) {
    lock.lock();
    try {
      control(pod);
      String uid = pod.getMetadata().getUid();
      if (gone || RunningPod.isStopped(pod)) {
        living.remove(uid);
        running.remove(uid);
      } else {
        living.add(uid);
        if (RunningPod.runs(pod) && running.put(uid, RunningPod.of(pod)) == null) {
          ran++;
        }
      }
      judge();
    } finally {
      lock.unlock();
    }
  }

  /** An object that is no pod exists in this version, or doesn't any more. */
  void object(GenericKubernetesResource object, boolean gone) {
    lock.lock();
    try {
      if (object.getKind().equals("Workload")) {
        workload(object, gone);
      } else {
        control(object);
      }
      judge();
    } finally {
      lock.unlock();
    }
  }

  private void control(HasMetadata object) {
    for (OwnerReference owner : object.getMetadata().getOwnerReferences()) {
      if (Boolean.TRUE.equals(owner.getController())) {
        controllers
            .computeIfAbsent(object.getMetadata().getUid(), any -> new LinkedHashSet<>())
            .add(owner.getUid());
      }
    }
  }

  private void workload(GenericKubernetesResource object, boolean gone) {
    String uid = object.getMetadata().getUid();
    Charge before = charges.get(uid);
    String account = before == null ? account(object) : before.account();
    object
        .getMetadata()
        .getOwnerReferences()
        .forEach(owner -> accountOfOwner.putIfAbsent(owner.getUid(), account));
    long cpu = gone ? 0 : ChargedCpu.of(JsonMappers.JSON.valueToTree(object));
    if (cpu > 0) {
      charges.put(uid, new Charge(account, cpu, false));
    } else if (before != null) {
      charges.put(uid, new Charge(account, before.cpu(), true));
    }
  }

  /** The Workloads of a job are one account; that of a group of pods is one by itself. */
  private static String account(GenericKubernetesResource workload) {
    return workload.getMetadata().getOwnerReferences().stream()
        .filter(
            owner -> Boolean.TRUE.equals(owner.getController()) || !owner.getKind().equals("Pod"))
        .map(OwnerReference::getUid)
        .findFirst()
        .orElse(workload.getMetadata().getUid());
  }

  /** The account that is nearest above a pod; the pod's own UID if there is none. */
  private String accountOf(String pod) {
    Deque<String> next = new ArrayDeque<>(List.of(pod));
    Set<String> visited = new HashSet<>();
    for (String uid = next.poll(); uid != null; uid = next.poll()) {
      String account = accountOfOwner.get(uid);
      if (account != null) {
        return account;
      }
      if (visited.add(uid)) {
        next.addAll(controllers.getOrDefault(uid, Set.of()));
      }
    }
    return pod;
  }

  private void judge() {
    Instant now = clock.instant();
    used += (double) sum * Duration.between(last, now).toMillis();
    last = now;
    Map<String, Set<String>> byAccount = new LinkedHashMap<>();
    running
        .keySet()
        .forEach(pod -> byAccount.computeIfAbsent(accountOf(pod), any -> new HashSet<>()).add(pod));
    Map<String, Long> allowed = allowed();
    Map<String, List<String>> beyond = new HashMap<>();
    byAccount.forEach(
        (account, uids) -> {
          long charged = allowed.getOrDefault(account, 0L);
          if (cpu(uids) > charged) {
            List<String> about =
                uids.stream().map(uid -> about(uid) + " charged=" + charged).toList();
            uids.forEach(uid -> beyond.put(uid, about));
          }
        });
    sum = cpu(running.keySet());
    List<String> all = running.values().stream().map(RunningPod::about).toList();
    Map<String, List<String>> whole = sum > quota ? Map.of(NAMESPACE, all) : Map.of();
    // A pod that requests nothing is of no account's excess.
    beyond.keySet().removeIf(pod -> cpu(Set.of(pod)) == 0);
    record(Series.CHARGE, beyond, now);
    record(Series.QUOTA, whole, now);
    record(Series.UNEXPLAINED, beyond.isEmpty() ? whole : Map.of(), now);
  }

  private Map<String, Long> allowed() {
    Set<String> alive = new HashSet<>();
    living.forEach(pod -> alive.add(accountOf(pod)));
    charges.values().removeIf(charge -> charge.ended() && !alive.contains(charge.account()));
    Map<String, Long> allowed = new HashMap<>();
    charges.values().forEach(charge -> allowed.merge(charge.account(), charge.cpu(), Long::sum));
    return allowed;
  }

  private long cpu(Collection<String> uids) {
    long cpu = 0;
    for (String uid : uids) {
      RunningPod pod = running.get(uid);
      cpu += pod == null ? 0 : pod.cpu();
    }
    return cpu;
  }

  private String about(String uid) {
    RunningPod pod = running.get(uid);
    return pod == null ? uid : pod.about();
  }

  private void record(Series series, Map<String, List<String>> exceeding, Instant now) {
    Map<String, Excess> open = present.getOrDefault(series, Map.of());
    exceeding.forEach(
        (key, about) -> open.computeIfAbsent(key, any -> new Excess(series, now, now, sum, about)));
    List<String> over = open.keySet().stream().filter(key -> !exceeding.containsKey(key)).toList();
    for (String key : over) {
      Excess begun = open.remove(key);
      if (begun != null) {
        Excess excess = new Excess(series, begun.since(), now, begun.cpu(), begun.pods());
        past.getOrDefault(series, List.of()).add(excess);
        ended.accept(excess);
      }
    }
  }

  /** The times in which too much ran, those that are over. */
  List<Excess> past(Series series) {
    lock.lock();
    try {
      return List.copyOf(past.getOrDefault(series, List.of()));
    } finally {
      lock.unlock();
    }
  }

  /** Those that are not over. */
  List<Excess> present() {
    lock.lock();
    try {
      return present.values().stream().flatMap(open -> open.values().stream()).toList();
    } finally {
      lock.unlock();
    }
  }

  /** How much of the quota ran on average, in percent. */
  long usedPercent() {
    lock.lock();
    try {
      return Math.round(100 * used / Math.max(1, Duration.between(begin, last).toMillis()) / quota);
    } finally {
      lock.unlock();
    }
  }

  /** How many pods ran at any time. */
  long ran() {
    lock.lock();
    try {
      return ran;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    pods.close();
  }
}
