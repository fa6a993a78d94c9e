package dev.sluice.checks.provisioning;

import dev.sluice.api.queueing.NodeCapacityAnnotations;
import dev.sluice.kube.definitions.ServedDefinitions;
import dev.sluice.kube.reflect.Reflector;
import dev.sluice.kube.reflect.Reflector.Store;
import dev.sluice.kube.reflect.Reflectors;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The placeholder pods and CapacityBuffers that the operator made, kept up to date from the first
 * moment on that somebody needs them; buffers while the API server serves them. Usable from any
 * thread.
 */
final class HolderInformers implements AutoCloseable {

  private static final String DEFINITION = CapacityHolder.BUFFERS + "." + RequestManifest.GROUP;

  /** The versions of buffers, the preferred one first: what is used of them is the same. */
  private static final List<String> VERSIONS = List.of("v1", "v1beta1", "v1alpha1");

  private final Reflectors reflectors;
  private final ServedDefinitions definitions;
  private final BiConsumer<@Nullable CapacityHolder, @Nullable CapacityHolder> holderChanged;
  private final Runnable availabilityChanged;
  private final ReentrantLock lock = new ReentrantLock();

  // Both are guarded by the lock.
  private boolean needed;
  private boolean closed;

  private volatile boolean definitionsListed;
  private volatile @Nullable Watch podWatch;
  private volatile @Nullable Watch bufferWatch;

  /** A watch of one resource. */
  private static final class Watch {

    private final String version;
    private final Store<CapacityHolder> store;
    private final Reflector<Store.Item<CapacityHolder>> reflector;
    private volatile boolean listed;

    private Watch(
        String version,
        Store<CapacityHolder> store,
        Reflector<Store.Item<CapacityHolder>> reflector) {
      this.version = version;
      this.store = store;
      this.reflector = reflector;
    }
  }

  /**
   * Watches nothing until {@link #need} is called.
   *
   * @param holderChanged called when an object appeared, changed or went
   * @param availabilityChanged called when {@link #listed} or {@link #bufferVersion} may have
   *     changed
   */
  HolderInformers(
      Reflectors reflectors,
      ServedDefinitions definitions,
      BiConsumer<@Nullable CapacityHolder, @Nullable CapacityHolder> holderChanged,
      Runnable availabilityChanged) {
    this.reflectors = reflectors;
    this.definitions = definitions;
    this.holderChanged = holderChanged;
    this.availabilityChanged = availabilityChanged;
    definitions.observe(
        name -> {
          if (name.equals(DEFINITION)) {
            follow();
          }
        });
  }

  /** From now on the objects are watched; calling it again does nothing. */
  void need() {
    lock.lock();
    try {
      if (needed || closed) {
        return;
      }
      needed = true;
      podWatch =
          start(
              "",
              new Store<>(CapacityHolder::ofPod, CapacityHolder::workloadUid),
              "api/v1/" + CapacityHolder.PODS);
    } finally {
      lock.unlock();
    }
    var unused =
        definitions
            .start()
            .thenRun(
                () -> {
                  definitionsListed = true;
                  follow();
                });
  }

  private Watch start(String version, Store<CapacityHolder> store, String path) {
    store.observe(holderChanged::accept);
    Watch watch =
        new Watch(
            version,
            store,
            reflectors.of(
                "placeholders in " + path,
                Reflectors.labeled(path, NodeCapacityAnnotations.PLACEHOLDER, "true"),
                store));
    var unused =
        watch
            .reflector
            .start()
            .thenRun(
                () -> {
                  watch.listed = true;
                  availabilityChanged.run();
                });
    return watch;
  }

  /** Starts or stops the watch of buffers by what is served now. */
  private void follow() {
    if (!definitionsListed) {
      return;
    }
    lock.lock();
    try {
      Optional<String> served =
          VERSIONS.stream().filter(it -> definitions.serves(DEFINITION, it)).findFirst();
      Watch present = bufferWatch;
      if (present != null && !served.equals(Optional.of(present.version))) {
        present.reflector.close();
        present = null;
        bufferWatch = null;
      }
      if (present == null && served.isPresent() && !closed) {
        bufferWatch =
            start(
                served.get(),
                new Store<>(CapacityHolder::ofBuffer, CapacityHolder::workloadUid),
                "apis/%s/%s/%s"
                    .formatted(RequestManifest.GROUP, served.get(), CapacityHolder.BUFFERS));
      }
    } finally {
      lock.unlock();
    }
    availabilityChanged.run();
  }

  /** Whether all objects are known, and whether the API server serves buffers. */
  boolean listed() {
    Watch ofPods = podWatch;
    Watch ofBuffers = bufferWatch;
    return definitionsListed
        && ofPods != null
        && ofPods.listed
        && (ofBuffers == null || ofBuffers.listed);
  }

  /** The version of the API in which buffers are served; empty if they aren't. */
  Optional<String> bufferVersion() {
    return Optional.ofNullable(bufferWatch).map(watch -> watch.version);
  }

  /** The objects that the Workload of this UID controls. */
  List<CapacityHolder> ownedBy(String workloadUid) {
    List<CapacityHolder> result = new ArrayList<>();
    Watch ofPods = podWatch;
    if (ofPods != null) {
      result.addAll(ofPods.store.with(workloadUid));
    }
    Watch ofBuffers = bufferWatch;
    if (ofBuffers != null) {
      result.addAll(ofBuffers.store.with(workloadUid));
    }
    return result;
  }

  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      Watch ofPods = podWatch;
      if (ofPods != null) {
        ofPods.reflector.close();
      }
      Watch ofBuffers = bufferWatch;
      if (ofBuffers != null) {
        ofBuffers.reflector.close();
      }
    } finally {
      lock.unlock();
    }
  }
}
