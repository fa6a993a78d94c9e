package dev.sluice.endtoend;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodSpec;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.ResourceRequirements;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Watches the pods of a namespace in which everything has to be queued, and records each time in
 * which more CPUs ran than its queue has. A pod runs from its node on until it has ended; one that
 * is being deleted with a grace period of half a minute at most is taken as stopped. Nothing else
 * is known here: neither jobs nor Workloads, nor what anybody's labels say. Thread-safe.
 */
final class NamespaceJudge implements AutoCloseable {

  private static final long LONGEST_GRACE_SECONDS = 30;
  private static final int MILLIS = 3;

  private final long quota;
  private final InstantSource clock;
  private final Consumer<Excess> ended;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<String, Running> running = new HashMap<>();
  private final List<Excess> excesses = new ArrayList<>();
  private @Nullable Excess present;
  private long sum;
  private long ran;
  private final Instant begin;
  private Instant changed;
  private double used;
  private final SharedIndexInformer<Pod> pods;

  /** A pod that runs, its thousandths of a CPU, and what else helps to understand an excess. */
  private record Running(long cpu, String about) {

    static Running of(Pod pod, long cpu) {
      return new Running(
          cpu,
          "%s=%dm created=%s owners=%s labels=%s"
              .formatted(
                  pod.getMetadata().getName(),
                  cpu,
                  pod.getMetadata().getCreationTimestamp(),
                  pod.getMetadata().getOwnerReferences().stream()
                      .map(owner -> owner.getKind() + "/" + owner.getName())
                      .toList(),
                  pod.getMetadata().getLabels()));
    }
  }

  /**
   * A time in which more ran than the quota.
   *
   * @param since its beginning
   * @param until its end
   * @param most the most thousandths of a CPU that ran in it
   * @param pods those that ran then, with what each requested
   */
  record Excess(Instant since, Instant until, long most, List<String> pods) {

    Duration lasted() {
      return Duration.between(since, until);
    }
  }

  /**
   * Watches from now on.
   *
   * @param ended called with each excess when it is over
   */
  NamespaceJudge(
      KubernetesClient client,
      String namespace,
      int cpus,
      InstantSource clock,
      Consumer<Excess> ended) {
    this.quota = 1000L * cpus;
    this.clock = clock;
    this.ended = ended;
    this.begin = clock.instant();
    this.changed = begin;
    this.pods = client.pods().inNamespace(namespace).inform(new Handler());
  }

  private final class Handler implements ResourceEventHandler<Pod> {
    @Override
    public void onAdd(Pod pod) {
      change(pod, runs(pod));
    }

    @Override
    public void onUpdate(Pod before, Pod pod) {
      change(pod, runs(pod));
    }

    @Override
    public void onDelete(Pod pod, boolean unknown) {
      change(pod, false);
    }
  }

  private static boolean runs(Pod pod) {
    String phase = pod.getStatus() == null ? "" : String.valueOf(pod.getStatus().getPhase());
    Long grace = pod.getMetadata().getDeletionGracePeriodSeconds();
    boolean stopped =
        pod.getMetadata().getDeletionTimestamp() != null
            && grace != null
            && grace <= LONGEST_GRACE_SECONDS;
    return pod.getSpec().getNodeName() != null
        && !phase.equals("Succeeded")
        && !phase.equals("Failed")
        && !stopped;
  }

  private void change(Pod pod, boolean runs) {
    lock.lock();
    try {
      String uid = pod.getMetadata().getUid();
      Running now = Running.of(pod, runs ? cpu(pod.getSpec()) : 0);
      integrate();
      Running before = runs ? running.put(uid, now) : running.remove(uid);
      sum += now.cpu() - (before == null ? 0 : before.cpu());
      ran += runs && before == null ? 1 : 0;
      judge();
    } finally {
      lock.unlock();
    }
  }

  private void integrate() {
    Instant now = clock.instant();
    used += (double) sum * Duration.between(changed, now).toMillis();
    changed = now;
  }

  private void judge() {
    Instant now = clock.instant();
    Excess open = present;
    if (sum > quota) {
      if (open == null || sum > open.most()) {
        List<String> names = running.values().stream().map(Running::about).toList();
        present = new Excess(open == null ? now : open.since(), now, sum, names);
      }
    } else if (open != null) {
      Excess over = new Excess(open.since(), now, open.most(), open.pods());
      excesses.add(over);
      present = null;
      ended.accept(over);
    }
  }

  /**
   * What the scheduler counts: containers and those that begin before them and stay, or what runs
   * while one of the beginning does; what the whole pod declares instead; and the overhead.
   */
  static long cpu(PodSpec spec) {
    long together = 0;
    long first = 0;
    for (Container container : spec.getInitContainers()) {
      long cpu = cpu(container.getResources());
      if ("Always".equals(container.getRestartPolicy())) {
        together += cpu;
        first = Math.max(first, together);
      } else {
        first = Math.max(first, together + cpu);
      }
    }
    for (Container container : spec.getContainers()) {
      together += cpu(container.getResources());
    }
    boolean declared =
        spec.getResources() != null
            && spec.getResources().getRequests() != null
            && spec.getResources().getRequests().containsKey("cpu");
    long whole = declared ? cpu(spec.getResources()) : Math.max(together, first);
    return whole + cpu(spec.getOverhead());
  }

  private static long cpu(@Nullable ResourceRequirements resources) {
    return resources == null ? 0 : cpu(resources.getRequests());
  }

  private static long cpu(@Nullable Map<String, Quantity> amounts) {
    Quantity cpu = amounts == null ? null : amounts.get("cpu");
    BigDecimal cpus = cpu == null ? BigDecimal.ZERO : cpu.getNumericalAmount();
    return cpus.movePointRight(MILLIS).longValue();
  }

  /** The times in which more ran, those that are over. */
  List<Excess> excesses() {
    lock.lock();
    try {
      return List.copyOf(excesses);
    } finally {
      lock.unlock();
    }
  }

  /** The time in which more runs, until now. */
  Optional<Excess> present() {
    lock.lock();
    try {
      return Optional.ofNullable(present)
          .map(open -> new Excess(open.since(), clock.instant(), open.most(), open.pods()));
    } finally {
      lock.unlock();
    }
  }

  /** How much of the quota ran on average, in percent. */
  long usedPercent() {
    lock.lock();
    try {
      integrate();
      long millis = Math.max(1, Duration.between(begin, changed).toMillis());
      return Math.round(100 * used / millis / quota);
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
