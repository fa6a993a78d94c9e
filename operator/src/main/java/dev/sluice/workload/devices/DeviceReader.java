package dev.sluice.workload.devices;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.config.Resources;
import dev.sluice.kube.reflect.Reflector;
import dev.sluice.kube.reflect.Reflector.Store;
import dev.sluice.kube.reflect.Reflectors;
import dev.sluice.workload.devices.DeviceInventory.DeviceSlice;
import dev.sluice.workload.record.DeviceCharge;
import dev.sluice.workload.record.PodTemplate;
import java.time.Duration;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;

/** Reads what the devices of pods depend on, and counts them. */
public final class DeviceReader implements ClaimedDevices, AutoCloseable {

  /** The group and version whose objects are read; a cluster that lacks it has no devices. */
  public static final String API = "/apis/resource.k8s.io/v1";

  private static final String CLAIMS = "resourceclaims";
  private static final String CLASSES = "deviceclasses";
  private static final String SLICES = "resourceslices";
  private static final String TEMPLATES = "resourceclaimtemplates";

  /** Many objects are published at a time: what follows from them is worked out once. */
  private static final Duration BATCH = Duration.ofSeconds(1);

  private final Options options;
  private final Store<ClaimSpec> claimStore = new Store<>(ClaimSpec::ofClaim);
  private final Store<DeviceClass> classStore = new Store<>(DeviceClass::of);
  private final Store<DeviceSlice> sliceStore = new Store<>(DeviceSlice::of);
  private final Store<ClaimSpec> templateStore = new Store<>(ClaimSpec::ofTemplate);
  private final Listener listener;
  private final DeviceSelectors selectors = new DeviceSelectors();
  private final DeviceCounting counting;
  private final List<Reflector<?>> reflectors;
  private final AtomicBoolean scheduled = new AtomicBoolean();
  private final Set<String> withNewTemplates = ConcurrentHashMap.newKeySet();

  /** The resources that devices stand behind, or once did. */
  private final Set<String> names = ConcurrentHashMap.newKeySet();

  private volatile ExtendedResources extended = ExtendedResources.NONE;
  private volatile DeviceInventory inventory;

  /**
   * What is read and counted.
   *
   * @param resources says which device classes are mapped
   * @param podsCounted whether claims that exist are read as well
   * @param extendedResources whether devices stand behind resources that pods request
   * @param taints whether devices with taints that a request doesn't tolerate are left out
   * @param prioritizedLists whether requests with alternatives count
   * @param perNode whether one node must have all devices that a pod requests
   */
  public record Options(
      Resources resources,
      boolean podsCounted,
      boolean extendedResources,
      boolean taints,
      boolean prioritizedLists,
      boolean perNode) {}

  /** Is told of changes. */
  public interface Listener {

    /** Devices may count otherwise in this namespace; empty: in all namespaces. */
    void devicesChanged(String namespace);

    /** A claim appeared in this namespace, or got devices: pods that use it may count otherwise. */
    void claimAppeared(String namespace);

    /** Runs a task later, on any thread. */
    void schedule(Duration delay, Runnable task);
  }

  /** Reads nothing yet. */
  public DeviceReader(Reflectors reflectors, Options options, Listener listener) {
    this.options = options;
    this.listener = listener;
    inventory = new DeviceInventory(List.of(), selectors, options.taints());
    counting =
        new DeviceCounting(
            new Read(),
            selectors,
            options.resources().deviceClasses(),
            new DeviceCounting.Rules(options.prioritizedLists(), options.perNode()));
    this.reflectors =
        Stream.of(
                reflector(reflectors, TEMPLATES, templateStore),
                reflector(reflectors, CLASSES, classStore),
                reflector(reflectors, SLICES, sliceStore),
                reflector(reflectors, CLAIMS, claimStore))
            .limit(options.podsCounted() ? 4 : 3)
            .toList();
    templateStore.observe(
        (before, after) -> {
          if (!Objects.equals(before, after)) {
            templateChanged((after == null ? Objects.requireNonNull(before) : after).namespace());
          }
        });
    classStore.observe(
        (before, after) -> {
          if (!Objects.equals(before, after)) {
            update();
          }
        });
    sliceStore.observe(
        (before, after) -> {
          if (!Objects.equals(before, after)) {
            update();
          }
        });
    claimStore.observe(
        (before, after) -> {
          if (after != null && !after.equals(before)) {
            listener.claimAppeared(after.namespace());
          }
        });
  }

  private static Reflector<?> reflector(Reflectors reflectors, String plural, Store<?> store) {
    return reflectors.of(plural, API + "/" + plural, store);
  }

  /** Many templates are made at a time: their namespace is looked at once. */
  private void templateChanged(String namespace) {
    if (withNewTemplates.add(namespace)) {
      listener.schedule(
          BATCH,
          () -> {
            withNewTemplates.remove(namespace);
            listener.devicesChanged(namespace);
          });
    }
  }

  private void update() {
    if (scheduled.compareAndSet(false, true)) {
      listener.schedule(
          BATCH,
          () -> {
            scheduled.set(false);
            refresh();
            listener.devicesChanged("");
            if (counting.countsBySources()) {
              claimStore
                  .all()
                  .map(ClaimSpec::namespace)
                  .distinct()
                  .forEach(listener::claimAppeared);
            }
          });
    }
  }

  /** Takes over the classes and slices that are known now. */
  private void refresh() {
    inventory = new DeviceInventory(sliceStore.all().toList(), selectors, options.taints());
    if (options.extendedResources()) {
      ExtendedResources now = counting.extended(classStore.all().toList());
      names.addAll(now.replaced().keySet());
      names.addAll(now.refused());
      extended = now;
    }
  }

  /** The objects as they were last read. */
  private final class Read implements DeviceObjects {

    @Override
    public Optional<ClaimSpec> template(String namespace, String name) {
      return templateStore.find(namespace, name);
    }

    @Override
    public Optional<DeviceClass> deviceClass(String name) {
      return classStore.find(name);
    }

    @Override
    public DeviceInventory devices() {
      return inventory;
    }
  }

  /** Begins to read; completes when all objects are listed. */
  public CompletableFuture<Void> start() {
    return CompletableFuture.allOf(
            reflectors.stream().map(Reflector::start).toArray(CompletableFuture[]::new))
        .thenRun(this::refresh);
  }

  /** What quota counts of the devices of one pod of a template. */
  public DeviceCharge of(String namespace, PodTemplate template) {
    return counting.of(namespace, template, extended);
  }

  /** Whether pods of this template may count otherwise after a change. */
  public boolean mayUseDevices(PodTemplate template) {
    return !template.resourceClaims().isEmpty() || template.resources().anyMatch(names::contains);
  }

  @Override
  public SortedMap<String, Long> of(String namespace, String claim) {
    return claimStore.find(namespace, claim).map(counting::of).orElseGet(TreeMap::new);
  }

  @Override
  public Set<String> resources() {
    return counting.resources();
  }

  @Override
  public DeviceCharge extended() {
    return extended.charge();
  }

  @Override
  public void close() {
    reflectors.forEach(Reflector::close);
  }

  /** The objects of a cluster that tell what claims are made of. Readable from any thread. */
  interface DeviceObjects {

    /** The ResourceClaimTemplate of this name, if it exists. */
    Optional<ClaimSpec> template(String namespace, String name);

    /** The DeviceClass of this name, if it exists. */
    Optional<DeviceClass> deviceClass(String name);

    /** The devices that the cluster has now. */
    DeviceInventory devices();
  }

  /**
   * Resources that pods may request instead of claims, because DeviceClasses stand behind them.
   *
   * @param replaced the resources that count as others, by the name that pods request
   * @param refused the resources that can't be counted
   * @param charge the charge of a pod without claims that requests none of those refused
   */
  record ExtendedResources(Map<String, String> replaced, Set<String> refused, DeviceCharge charge) {

    /** No such resources. */
    static final ExtendedResources NONE =
        new ExtendedResources(Map.of(), Set.of(), DeviceCharge.NONE);

    static ExtendedResources of(Map<String, String> replaced, Set<String> refused) {
      Map<String, String> names = Map.copyOf(replaced);
      return new ExtendedResources(
          names,
          Set.copyOf(refused),
          names.isEmpty()
              ? DeviceCharge.NONE
              : new DeviceCharge(Collections.emptySortedMap(), names, List.of(), List.of()));
    }

    /** The refused resources that a template requests, each once and sorted. */
    List<String> refusedBy(PodTemplate template) {
      return refused.isEmpty()
          ? List.of()
          : template.resources().filter(refused::contains).distinct().sorted().toList();
    }
  }

  /**
   * What is kept of a DeviceClass of {@code resource.k8s.io/v1}.
   *
   * @param name its name
   * @param createdAt its creation, as the API server writes it
   * @param extendedResource the resource that pods may request instead of claims; empty: none
   * @param selectors the expressions in CEL that each device of the class meets
   */
  record DeviceClass(
      String name, String createdAt, String extendedResource, List<String> selectors) {

    /** Of several classes with one extended resource, the newest counts, then the first by name. */
    static final Comparator<DeviceClass> NEWEST_FIRST =
        Comparator.comparing(DeviceClass::createdAt).reversed().thenComparing(DeviceClass::name);

    /** Reads a DeviceClass. */
    static DeviceClass of(JsonNode object) {
      return new DeviceClass(
          object.path("metadata").path("name").asText(""),
          object.path("metadata").path("creationTimestamp").asText(""),
          object.path("spec").path("extendedResourceName").asText(""),
          ClaimSpec.selectors(object.path("spec").path("selectors")));
    }
  }
}
