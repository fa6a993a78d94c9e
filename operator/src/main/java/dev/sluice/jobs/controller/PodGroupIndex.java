package dev.sluice.jobs.controller;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.jobs.policy.NativePodGroups;
import dev.sluice.kube.reflect.Reflector;
import dev.sluice.kube.reflect.Reflectors;
import dev.sluice.kube.reflect.Store;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Whether and in which version the API server serves PodGroups of kube-scheduler, and which of
 * those that the operator made are scheduled. Usable from any thread.
 */
public final class PodGroupIndex implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(PodGroupIndex.class);

  /** The versions whose PodGroups are made, the best one first. */
  private static final List<String> VERSIONS = List.of("v1beta1", "v1alpha3", "v1alpha2");

  private final Reflectors reflectors;
  private final Store<Boolean> scheduledStore = new Store<>(PodGroupMaker::isScheduled);
  private volatile @Nullable Reflector<Store.Item<Boolean>> reflector;
  private volatile Optional<String> version = Optional.empty();
  private volatile boolean closed;

  /** Nothing is asked before the start. */
  public PodGroupIndex(Reflectors reflectors) {
    this.reflectors = reflectors;
  }

  /**
   * Asks what the API server serves; completes when the PodGroups are listed, or there are none.
   *
   * @param executor asks
   */
  public CompletableFuture<Void> start(Executor executor) {
    return CompletableFuture.supplyAsync(this::served, executor).thenCompose(this::follow);
  }

  private Optional<String> served() {
    Set<String> groupVersions = names("/apis/" + NativePodGroups.GROUP, "versions", "version");
    return VERSIONS.stream()
        .filter(groupVersions::contains)
        .filter(
            each ->
                names("/apis/" + NativePodGroups.GROUP + "/" + each, "resources", "name")
                    .contains(NativePodGroups.PLURAL))
        .findFirst();
  }

  private Set<String> names(String path, String list, String field) {
    String answer = reflectors.client().raw(path);
    Set<String> names = new HashSet<>();
    try {
      if (answer != null) {
        for (JsonNode each : JsonMappers.JSON.readTree(answer).path(list)) {
          names.add(each.path(field).asText());
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException("what " + path + " answers is not JSON", e);
    }
    return names;
  }

  private CompletableFuture<Void> follow(Optional<String> found) {
    if (found.isEmpty() || closed) {
      LOG.warn(
          "feature gate WASPodGroups has no effect: the API server serves no {} of {} in {};"
              + " jobs that ask for them start without",
          NativePodGroups.PLURAL,
          NativePodGroups.GROUP,
          String.join(", ", VERSIONS));
      return CompletableFuture.completedFuture(null);
    }
    version = found;
    Reflector<Store.Item<Boolean>> made =
        reflectors.of(
            NativePodGroups.PLURAL,
            Reflectors.labeled(
                "apis/" + NativePodGroups.GROUP + "/" + found.get() + "/" + NativePodGroups.PLURAL,
                KueueConstants.MANAGED,
                "true"),
            scheduledStore);
    reflector = made;
    return made.start();
  }

  /** The version in which PodGroups are made; empty if the API server serves none. */
  public Optional<String> version() {
    return version;
  }

  /**
   * Whether kube-scheduler has once found a node for every pod of a PodGroup; a pod that comes
   * after that is a replacement, for which no others need be waited for.
   */
  public boolean isScheduled(String namespace, String podGroup) {
    return scheduledStore.find(namespace, podGroup).orElse(false);
  }

  @Override
  public void close() {
    closed = true;
    Reflector<?> started = reflector;
    if (started != null) {
      started.close();
    }
  }
}
