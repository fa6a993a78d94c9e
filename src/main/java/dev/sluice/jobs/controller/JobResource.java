package dev.sluice.jobs.controller;

import dev.sluice.jobs.policy.CachedJob;
import dev.sluice.kube.reflect.CachedResource;
import dev.sluice.kube.reflect.UnreadableMetadata;
import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.api.model.ObjectMeta;

/**
 * A pod or StatefulSet in an informer: holds the parsed view in place of the object. It is
 * read-only and must never be written back. Each subclass names its group, version and kind and its
 * deserializer. Other kinds are read as {@link JobObject}.
 */
public abstract class JobResource extends CachedResource implements Namespaced {

  private static final long serialVersionUID = 1L;

  private final transient CachedJob view;

  /** Holds this view. */
  protected JobResource(CachedJob view) {
    super(identity(view));
    this.view = view;
  }

  private static ObjectMeta identity(CachedJob view) {
    ObjectMeta metadata = new ObjectMeta();
    metadata.setNamespace(view.ref().namespace());
    metadata.setName(view.ref().name());
    metadata.setUid(view.ref().uid());
    metadata.setResourceVersion(Long.toString(view.version()));
    return metadata;
  }

  /** Stands for an object that could not be read. */
  protected JobResource(CachedJob view, UnreadableMetadata metadata) {
    super(metadata);
    this.view = view;
  }

  /** Whether the object could be read; otherwise nothing is known of it but its identity. */
  public boolean isReadable() {
    return !UnreadableMetadata.is(this);
  }

  /** What is known of the job. */
  public CachedJob view() {
    return view;
  }
}
