package dev.sluice.workload.devices;

import dev.sluice.api.config.Resources;
import dev.sluice.kube.reflect.Reflector;
import dev.sluice.kube.reflect.Reflectors;
import dev.sluice.kube.reflect.Store;
import dev.sluice.workload.record.DeviceCharge;
import dev.sluice.workload.record.PodTemplate;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;

/**
 * Reads what the devices of pods depend on, and counts them. Nothing is read while no device class
 * is mapped: each claim is a defect then.
 */
public final class DeviceReader implements AutoCloseable {

  /** The group and version whose objects are read; a cluster that lacks it has no devices. */
  public static final String API = "/apis/resource.k8s.io/v1";

  private static final String TEMPLATES = "resourceclaimtemplates";

  private final boolean mapped;
  private final Store<ClaimTemplate> templates = new Store<>(ClaimTemplate::of);
  private final DeviceCounting counting;
  private final List<Reflector<?>> reflectors;

  /**
   * Reads nothing yet.
   *
   * @param resources says which device classes are mapped
   * @param changed is called with a namespace in which devices may count otherwise; empty: in all
   */
  public DeviceReader(Reflectors reflectors, Resources resources, Consumer<String> changed) {
    mapped = !resources.deviceClasses().isEmpty();
    counting = new DeviceCounting(templates::find, resources.deviceClasses());
    this.reflectors = List.of(reflectors.of(TEMPLATES, API + "/" + TEMPLATES, templates));
    templates.observe(
        (before, after) -> {
          ClaimTemplate template = after == null ? Objects.requireNonNull(before) : after;
          if (!Optional.ofNullable(before).equals(Optional.ofNullable(after))) {
            changed.accept(template.namespace());
          }
        });
  }

  /** Whether anything has to be read. */
  public boolean isNeeded() {
    return mapped;
  }

  /** Begins to read; completes when all objects are listed. */
  public CompletableFuture<Void> start() {
    return CompletableFuture.allOf(
        reflectors.stream().map(Reflector::start).toArray(CompletableFuture[]::new));
  }

  /** What quota counts of the devices of one pod of a template. */
  public DeviceCharge of(String namespace, PodTemplate template) {
    return mapped ? counting.of(namespace, template) : DeviceCharge.uncounted(template);
  }

  @Override
  public void close() {
    reflectors.forEach(Reflector::close);
  }
}
