package dev.sluice.queues.cache;

import dev.sluice.api.KueueConstants;
import dev.sluice.api.queueing.QueueAnnotations;
import dev.sluice.core.model.PreemptionRules;
import dev.sluice.workload.record.CachedWorkload;
import io.fabric8.kubernetes.api.model.HasMetadata;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Looks up the rules of preemption of a Workload's WorkloadPriorityClass, and knows whether any
 * ClusterQueue, Cohort or WorkloadPriorityClass has such a rule. Thread-safe.
 */
public final class CachedPreemptionRules
    implements Function<CachedWorkload, Optional<PreemptionRules>> {

  private static final String CLASS = "WorkloadPriorityClass";

  private final Map<String, PreemptionRules> byClass = new ConcurrentHashMap<>();

  /** Kinds and names of all objects with a rule. */
  private final Map<String, Boolean> users = new ConcurrentHashMap<>();

  private volatile Runnable listener = () -> {};

  /** Creates a lookup that follows these caches, before they are filled. */
  public CachedPreemptionRules(InformerCaches informerCaches) {
    informerCaches
        .clusterQueues()
        .observe((before, after) -> changed("ClusterQueue", before, after, true));
    informerCaches.cohorts().observe((before, after) -> changed("Cohort", before, after, false));
    informerCaches.workloadPriorityClasses().observe(this::classChanged);
  }

  /** Calls the listener when Workloads have to be told of anew. */
  public void onChange(Runnable told) {
    listener = told;
  }

  @Override
  public Optional<PreemptionRules> apply(CachedWorkload workload) {
    if (users.isEmpty()) {
      return Optional.empty();
    }
    return Optional.of(
        className(workload)
            .map(name -> byClass.getOrDefault(name, PreemptionRules.NONE))
            .orElse(PreemptionRules.NONE));
  }

  /** The name of a Workload's WorkloadPriorityClass; empty if it has none. */
  public static Optional<String> className(CachedWorkload workload) {
    return workload
        .spec()
        .priorityClass()
        .filter(ref -> ref.group().equals(KueueConstants.GROUP) && ref.kind().equals(CLASS))
        .map(ref -> ref.name());
  }

  private void changed(
      String kind, @Nullable HasMetadata before, @Nullable HasMetadata after, boolean queue) {
    HasMetadata named = after != null ? after : before;
    if (named == null) {
      return;
    }
    Map<String, String> annotations = after == null ? null : after.getMetadata().getAnnotations();
    PreemptionRules rules =
        queue
            ? QueueAnnotations.ofClusterQueue(annotations).rules().quota().preemption()
            : QueueAnnotations.ofCohort(annotations).rules().preemption();
    if (use(kind + "/" + named.getMetadata().getName(), !rules.isNone())) {
      listener.run();
    }
  }

  private void classChanged(@Nullable HasMetadata before, @Nullable HasMetadata after) {
    HasMetadata named = after != null ? after : before;
    if (named == null) {
      return;
    }
    String name = named.getMetadata().getName();
    PreemptionRules rules =
        QueueAnnotations.ofPriorityClass(
                after == null ? null : after.getMetadata().getAnnotations())
            .rules();
    boolean none = rules.equals(PreemptionRules.NONE);
    PreemptionRules known = none ? byClass.remove(name) : byClass.put(name, rules);
    boolean changes = !rules.equals(known == null ? PreemptionRules.NONE : known);
    use(CLASS + "/" + name, !none);
    if (changes) {
      listener.run();
    }
  }

  /** Records whether an object has a rule; returns whether it is now known if any object has. */
  private boolean use(String object, boolean uses) {
    boolean before = users.isEmpty();
    if (uses) {
      users.put(object, true);
    } else {
      users.remove(object);
    }
    return before != users.isEmpty();
  }
}
