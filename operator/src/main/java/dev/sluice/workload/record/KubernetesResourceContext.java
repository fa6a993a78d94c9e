package dev.sluice.workload.record;

import dev.sluice.api.Quantities;
import dev.sluice.kube.reflect.GuardedEventHandler;
import dev.sluice.kube.reflect.InformerSupervisor;
import dev.sluice.workload.record.NamespaceLimits.ItemRules;
import io.fabric8.kubernetes.api.model.LimitRange;
import io.fabric8.kubernetes.api.model.LimitRangeItem;
import io.fabric8.kubernetes.api.model.Quantity;
import io.fabric8.kubernetes.api.model.node.v1.RuntimeClass;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.fabric8.kubernetes.client.informers.cache.Cache;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.BinaryOperator;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The resource context of a cluster: its LimitRanges and RuntimeClasses, kept up to date by
 * informers.
 */
public final class KubernetesResourceContext implements ResourceContext, AutoCloseable {

  private final SharedIndexInformer<LimitRange> limitRanges;
  private final SharedIndexInformer<RuntimeClass> runtimeClasses;
  private final Map<String, NamespaceLimits> rules = new ConcurrentHashMap<>();
  private final Map<String, Map<String, Long>> overheads = new ConcurrentHashMap<>();
  private final Devices devices;
  private final List<ResourceContext.Listener> listeners = new CopyOnWriteArrayList<>();

  /** Counts the devices of pods. Usable from any thread. */
  public interface Devices {

    /** What quota counts of the devices of one pod of a template. */
    DeviceCharge of(String namespace, PodTemplate template);

    /** Whether pods of this template may count otherwise when devices do. */
    boolean mayUseDevices(PodTemplate template);
  }

  /**
   * Creates a context with informers of {@code client}, not started yet; {@code informers} restarts
   * them.
   *
   * @param devices counts the devices of pods
   */
  public KubernetesResourceContext(
      KubernetesClient client, InformerSupervisor informerSupervisor, Devices devices) {
    this.devices = devices;
    limitRanges = client.limitRanges().inAnyNamespace().runnableInformer(0);
    runtimeClasses = client.resources(RuntimeClass.class).runnableInformer(0);
    informerSupervisor.keep("limitranges", limitRanges);
    informerSupervisor.keep("runtimeclasses", runtimeClasses);
    GuardedEventHandler.add(
        limitRanges,
        new Changes<LimitRange>(range -> rulesChanged(range.getMetadata().getNamespace())));
    GuardedEventHandler.add(
        runtimeClasses,
        new Changes<RuntimeClass>(kind -> overheadChanged(kind.getMetadata().getName())));
  }

  /** Adds a listener; to be called before {@link #start}. */
  public void listen(ResourceContext.Listener listener) {
    listeners.add(listener);
  }

  /** Starts the informers; completes when they have read all existing objects. */
  public CompletableFuture<Void> start() {
    return CompletableFuture.allOf(
        limitRanges.start().toCompletableFuture(), runtimeClasses.start().toCompletableFuture());
  }

  @Override
  public NamespaceLimits rules(String namespace) {
    return rules.getOrDefault(namespace, NamespaceLimits.NONE);
  }

  @Override
  public Map<String, Long> overhead(String runtimeClass) {
    return overheads.getOrDefault(runtimeClass, Map.of());
  }

  @Override
  public DeviceCharge devices(String namespace, PodTemplate template) {
    return devices.of(namespace, template);
  }

  @Override
  public boolean mayUseDevices(PodTemplate template) {
    return devices.mayUseDevices(template);
  }

  /** Tells the listeners that devices may count otherwise; empty: in all namespaces. */
  public void devicesChanged(String namespace) {
    listeners.forEach(listener -> listener.devicesChanged(namespace));
  }

  private void rulesChanged(String namespace) {
    NamespaceLimits now =
        merged(
            limitRanges.getIndexer().byIndex(Cache.NAMESPACE_INDEX, namespace).stream()
                .sorted(Comparator.comparing((LimitRange range) -> range.getMetadata().getName()))
                .toList());
    NamespaceLimits before =
        now.equals(NamespaceLimits.NONE) ? rules.remove(namespace) : rules.put(namespace, now);
    if (!now.equals(before == null ? NamespaceLimits.NONE : before)) {
      listeners.forEach(listener -> listener.rulesChanged(namespace));
    }
  }

  private void overheadChanged(String name) {
    RuntimeClass kind = runtimeClasses.getStore().getByKey(name);
    Map<String, Long> now =
        kind == null || kind.getOverhead() == null
            ? Map.of()
            : amounts(kind.getOverhead().getPodFixed());
    Map<String, Long> before = now.isEmpty() ? overheads.remove(name) : overheads.put(name, now);
    if (!now.equals(before == null ? Map.of() : before)) {
      listeners.forEach(listener -> listener.overheadChanged(name));
    }
  }

  /**
   * The LimitRanges of a namespace as one: of several bounds the strictest holds, of several
   * defaults the first (docs/scheduling-semantics.md#what-is-pending).
   */
  public static NamespaceLimits merged(List<LimitRange> ranges) {
    return new NamespaceLimits(merged(ranges, "Container"), merged(ranges, "Pod"));
  }

  private static ItemRules merged(List<LimitRange> ranges, String type) {
    Map<String, Long> max = new HashMap<>();
    Map<String, Long> min = new HashMap<>();
    Map<String, Long> ratio = new HashMap<>();
    Map<String, Long> defaultLimit = new HashMap<>();
    Map<String, Long> defaultRequest = new HashMap<>();
    for (LimitRange range : ranges) {
      if (range.getSpec() == null) {
        continue;
      }
      for (LimitRangeItem item : range.getSpec().getLimits()) {
        if (item != null && type.equals(item.getType())) {
          merge(max, amounts(item.getMax()), Math::min);
          merge(min, amounts(item.getMin()), Math::max);
          merge(ratio, thousandths(item.getMaxLimitRequestRatio()), Math::min);
          merge(defaultLimit, amounts(item.getDefault()), (first, second) -> first);
          merge(defaultRequest, amounts(item.getDefaultRequest()), (first, second) -> first);
        }
      }
    }
    return new ItemRules(max, min, ratio, defaultLimit, defaultRequest);
  }

  private static void merge(
      Map<String, Long> into, Map<String, Long> amounts, BinaryOperator<Long> chooser) {
    amounts.forEach((resource, amount) -> into.merge(resource, amount, chooser));
  }

  private static Map<String, Long> amounts(@Nullable Map<String, Quantity> quantities) {
    return amounts(quantities, resource -> resource);
  }

  /** Numbers without a unit, by resource, in thousandths, as only CPU has them. */
  private static Map<String, Long> thousandths(@Nullable Map<String, Quantity> numbers) {
    return amounts(numbers, resource -> Quantities.CPU);
  }

  private static Map<String, Long> amounts(
      @Nullable Map<String, Quantity> quantities, UnaryOperator<String> countedAs) {
    Map<String, Long> result = new HashMap<>();
    if (quantities != null) {
      quantities.forEach(
          (resource, quantity) ->
              amount(countedAs.apply(resource), quantity)
                  .ifPresent(amount -> result.put(resource, amount)));
    }
    return result;
  }

  /** Treats an invalid quantity as absent. */
  private static OptionalLong amount(String resource, @Nullable Quantity quantity) {
    try {
      return quantity == null
          ? OptionalLong.empty()
          : OptionalLong.of(Quantities.amount(resource, quantity.toString()));
    } catch (IllegalArgumentException e) {
      return OptionalLong.empty();
    }
  }

  @Override
  public void close() {
    limitRanges.close();
    runtimeClasses.close();
  }

  /** Recomputes the object's namespace or class after any event. */
  private record Changes<T>(Consumer<T> look) implements ResourceEventHandler<T> {

    @Override
    public void onAdd(T object) {
      look.accept(object);
    }

    @Override
    public void onUpdate(T before, T after) {
      look.accept(after);
    }

    @Override
    public void onDelete(T object, boolean unknown) {
      look.accept(object);
    }
  }
}
