package dev.sluice.endtoend;

import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.Pod;
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
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Watches the pods of a namespace whose queue has so many CPUs, and tells when more ran than that,
 * and how long. A pod runs from its node on, and until it has ended. It is taken as stopped when it
 * is being deleted with a grace period of half a minute at most. It knows nothing of jobs and
 * Workloads: what runs on a node is what counts. Thread-safe.
 */
final class QuotaWatch implements AutoCloseable {

  private static final long LONGEST_GRACE_SECONDS = 30;

  private final BigDecimal quota;
  private final InstantSource clock;
  private final ReentrantLock lock = new ReentrantLock();
  private final Map<String, BigDecimal> running = new HashMap<>();
  private final Set<String> everRan = new HashSet<>();
  private final List<Excess> excesses = new ArrayList<>();
  private @Nullable Excess present;
  private final SharedIndexInformer<Pod> pods;

  /**
   * A time in which more ran than the quota.
   *
   * @param since its beginning
   * @param lasted how long
   * @param most the most CPUs that ran in it
   */
  record Excess(Instant since, Duration lasted, BigDecimal most) {}

  /** Watches from now on. */
  QuotaWatch(KubernetesClient client, String namespace, int cpus, InstantSource clock) {
    this.quota = BigDecimal.valueOf(cpus);
    this.clock = clock;
    this.pods = client.pods().inNamespace(namespace).inform(new Handler());
  }

  private final class Handler implements ResourceEventHandler<Pod> {
    @Override
    public void onAdd(Pod pod) {
      seen(pod);
    }

    @Override
    public void onUpdate(Pod before, Pod pod) {
      seen(pod);
    }

    @Override
    public void onDelete(Pod pod, boolean unknown) {
      change(pod, false);
    }
  }

  private void seen(Pod pod) {
    String phase = pod.getStatus() == null ? "" : String.valueOf(pod.getStatus().getPhase());
    boolean ended = phase.equals("Succeeded") || phase.equals("Failed");
    boolean bound = pod.getSpec().getNodeName() != null;
    Long grace = pod.getMetadata().getDeletionGracePeriodSeconds();
    boolean stopped =
        pod.getMetadata().getDeletionTimestamp() != null
            && grace != null
            && grace <= LONGEST_GRACE_SECONDS;
    change(pod, bound && !ended && !stopped);
  }

  private void change(Pod pod, boolean runs) {
    lock.lock();
    try {
      String uid = pod.getMetadata().getUid();
      if (runs) {
        running.put(uid, cpus(pod));
        everRan.add(uid);
      } else {
        running.remove(uid);
      }
      judge();
    } finally {
      lock.unlock();
    }
  }

  private void judge() {
    BigDecimal sum = running.values().stream().reduce(BigDecimal.ZERO, BigDecimal::add);
    Instant now = clock.instant();
    Excess open = present;
    if (sum.compareTo(quota) > 0) {
      Instant since = open == null ? now : open.since();
      BigDecimal most = open == null ? sum : open.most().max(sum);
      present = new Excess(since, Duration.between(since, now), most);
    } else if (open != null) {
      excesses.add(new Excess(open.since(), Duration.between(open.since(), now), open.most()));
      present = null;
    }
  }

  /** What the scheduler counts: containers together, or one container of the beginning. */
  private static BigDecimal cpus(Pod pod) {
    BigDecimal sum =
        pod.getSpec().getContainers().stream()
            .map(QuotaWatch::cpus)
            .reduce(BigDecimal.ZERO, BigDecimal::add);
    BigDecimal first =
        pod.getSpec().getInitContainers().stream()
            .map(QuotaWatch::cpus)
            .reduce(BigDecimal.ZERO, BigDecimal::max);
    ResourceRequirements whole = pod.getSpec().getResources();
    BigDecimal declared = whole == null ? BigDecimal.ZERO : cpus(whole.getRequests());
    return declared.signum() > 0 ? declared : sum.max(first);
  }

  private static BigDecimal cpus(Container container) {
    return container.getResources() == null
        ? BigDecimal.ZERO
        : cpus(container.getResources().getRequests());
  }

  private static BigDecimal cpus(@Nullable Map<String, Quantity> requests) {
    Quantity cpu = requests == null ? null : requests.get("cpu");
    return cpu == null ? BigDecimal.ZERO : cpu.getNumericalAmount();
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

  /** The time in which more runs, if it isn't over. */
  Optional<Excess> present() {
    lock.lock();
    try {
      return Optional.ofNullable(present)
          .map(
              open ->
                  new Excess(
                      open.since(), Duration.between(open.since(), clock.instant()), open.most()));
    } finally {
      lock.unlock();
    }
  }

  /** How many pods ever ran. */
  int everRan() {
    lock.lock();
    try {
      return everRan.size();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    pods.close();
  }
}
