package dev.sluice.app.module;

import dev.sluice.api.config.FeatureGate;
import dev.sluice.checks.BuiltInCheckControllers;
import dev.sluice.queues.cache.AuxiliaryInformers;
import dev.sluice.queues.cache.InformerCaches;
import dev.sluice.queues.cache.LocalClusters;
import dev.sluice.workload.devices.ClaimedDevices;
import dev.sluice.workload.devices.DeviceReader;
import dev.sluice.workload.record.DeviceCharge;
import dev.sluice.workload.record.KubernetesResourceContext;
import dev.sluice.workload.record.PodTemplate;
import dev.sluice.workload.record.ResourceContext;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The caches of everything but Workloads and jobs, and the informers of the kinds that no
 * reconciler watches.
 */
public final class InformerModule implements OperatorModule {

  private static final Logger LOG = LoggerFactory.getLogger(InformerModule.class);

  private final InformerCaches caches = InformerCaches.empty(BuiltInCheckControllers.all());
  private final LocalClusters localClusters = new LocalClusters(caches);
  private final AuxiliaryInformers informers;
  private final KubernetesResourceContext resources;
  private final Optional<DeviceReader> devices;
  private final OperatorContext context;
  private volatile Consumer<String> claimAppeared = namespace -> {};
  private CompletableFuture<Void> informersListed = new CompletableFuture<>();
  private CompletableFuture<Void> resourcesListed = new CompletableFuture<>();
  private CompletableFuture<Void> devicesListed = CompletableFuture.completedFuture(null);

  /** Empty caches. */
  public InformerModule(OperatorContext context) {
    informers = new AuxiliaryInformers(context.client(), caches, context.informers());
    this.context = context;
    devices =
        countsDevices()
            ? Optional.of(
                new DeviceReader(context.reflectors(), deviceOptions(), new DeviceListener()))
            : Optional.empty();
    resources =
        new KubernetesResourceContext(context.client(), context.informers(), new CountedDevices());
  }

  /** The informer caches of this cluster, which all modules share. */
  public InformerCaches caches() {
    return caches;
  }

  /** Which worker clusters are this cluster. */
  LocalClusters localClusters() {
    return localClusters;
  }

  /** Limits of namespaces and overheads of runtime classes. */
  KubernetesResourceContext resources() {
    return resources;
  }

  /** Begins the listings; returns at once. To be called before the start. */
  public void beginListing() {
    informersListed = informers.start();
    resourcesListed = resources.start();
    devices.ifPresent(
        reader ->
            devicesListed =
                CompletableFuture.supplyAsync(this::servesDevices, context.executor())
                    .thenCompose(
                        served ->
                            served ? reader.start() : CompletableFuture.completedFuture(null)));
  }

  private boolean countsDevices() {
    return context.isEnabled(FeatureGate.KUEUE_DRA_INTEGRATION)
        && !context.configuration().resources().deviceClasses().isEmpty();
  }

  private DeviceReader.Options deviceOptions() {
    return new DeviceReader.Options(
        context.configuration().resources(),
        context.configuration().podAccounting().isOn(),
        context.isEnabled(FeatureGate.KUEUE_DRA_INTEGRATION_EXTENDED_RESOURCE),
        context.isEnabled(FeatureGate.KUEUE_DRA_DEVICE_TAINTS),
        context.isEnabled(FeatureGate.KUEUE_DRA_PRIORITIZED_LIST),
        context.isEnabled(FeatureGate.KUEUE_DRA_DEVICE_FEASIBILITY));
  }

  /** Counts devices if they are read, which is known after the constructor. */
  private final class CountedDevices implements KubernetesResourceContext.Devices {

    @Override
    public DeviceCharge of(String namespace, PodTemplate template) {
      return devices
          .map(reader -> reader.of(namespace, template))
          .orElseGet(() -> DeviceCharge.uncounted(template));
    }

    @Override
    public boolean mayUseDevices(PodTemplate template) {
      return devices.filter(reader -> reader.mayUseDevices(template)).isPresent();
    }
  }

  /** From now on this is called with the namespace in which a claim of devices appeared. */
  void whenClaimAppears(Consumer<String> listener) {
    claimAppeared = listener;
  }

  /** The devices of claims that exist. */
  ClaimedDevices claimedDevices() {
    return devices.<ClaimedDevices>map(reader -> reader).orElse(ClaimedDevices.NONE);
  }

  /** Whether the API server has devices at all; a later version of it may, after a restart. */
  private boolean servesDevices() {
    boolean served = context.client().raw(DeviceReader.API) != null;
    if (!served) {
      LOG.warn("devices=uncounted reason=\"{} is not served\"", DeviceReader.API);
    }
    return served;
  }

  /** Passes on what the reader of devices says, which is read after the constructor returned. */
  private final class DeviceListener implements DeviceReader.Listener {

    @Override
    public void devicesChanged(String namespace) {
      resources.devicesChanged(namespace);
    }

    @Override
    public void claimAppeared(String namespace) {
      claimAppeared.accept(namespace);
    }

    @Override
    public void schedule(Duration delay, Runnable task) {
      context.schedule(delay, task);
    }
  }

  /** From now on this is called with the namespace in which devices may count otherwise. */
  void whenDevicesChange(Consumer<String> listener) {
    resources.listen(
        new ResourceContext.Listener() {
          @Override
          public void devicesChanged(String namespace) {
            listener.accept(namespace);
          }
        });
  }

  @Override
  public void start(CacheSyncWaiter cacheSync) throws IOException {
    cacheSync.await("namespaces and priority classes", informersListed);
    cacheSync.await("limits and runtime classes", resourcesListed);
    cacheSync.await("devices", devicesListed);
  }

  @Override
  public void close() {
    devices.ifPresent(DeviceReader::close);
    try (resources;
        informers) {
      // The resources are closed in reverse order.
    }
  }
}
