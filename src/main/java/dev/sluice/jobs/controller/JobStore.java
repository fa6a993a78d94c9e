package dev.sluice.jobs.controller;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.jobs.kind.JobIntegration;
import dev.sluice.jobs.policy.CachedJob;
import dev.sluice.kube.controller.ObservableItemStore;
import io.fabric8.kubernetes.client.informers.cache.ItemStore;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The store of an informer of jobs of one kind: parses each object as it arrives. An object that
 * can't be parsed stays as it was known before. Readable from any thread.
 */
final class JobStore implements ItemStore<JobObject> {

  private final JobIntegration integration;
  private final UnaryOperator<JsonNode> resolution;
  private final ObservableItemStore<JobObject> objects = new ObservableItemStore<>();

  /**
   * A store of jobs of the integration's kind.
   *
   * @param resolution adds to an object what the integration wants to see besides
   */
  JobStore(JobIntegration integration, UnaryOperator<JsonNode> resolution) {
    this.integration = integration;
    this.resolution = resolution;
  }

  /** Adds an observer, which is called on the informer's thread after the store has the change. */
  void observe(ObservableItemStore.Observer<JobObject> observer) {
    objects.observe(observer);
  }

  /** The job of this name, if it exists. */
  Optional<CachedJob> find(String namespace, String name) {
    return objects.find(namespace, name).map(JobObject::view);
  }

  /** All jobs, in no order; jobs may come and go while the stream is read. */
  Stream<CachedJob> jobs() {
    return objects.values().map(JobObject::view);
  }

  @Override
  public String getKey(JobObject object) {
    return objects.getKey(object);
  }

  @Override
  public @Nullable JobObject put(String key, JobObject object) {
    object.parse(integration, resolution);
    return objects.put(key, object);
  }

  @Override
  public @Nullable JobObject remove(String key) {
    return objects.remove(key);
  }

  @Override
  public Stream<String> keySet() {
    return objects.keySet();
  }

  @Override
  public Stream<JobObject> values() {
    return objects.values();
  }

  @Override
  public int size() {
    return objects.size();
  }

  @Override
  public @Nullable JobObject get(String key) {
    return objects.get(key);
  }
}
