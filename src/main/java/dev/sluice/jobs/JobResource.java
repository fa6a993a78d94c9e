package dev.sluice.jobs;

import dev.sluice.kube.reading.UnreadableMetadata;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.api.model.ObjectMeta;

/**
 * A pod or StatefulSet in an informer: holds the parsed view in place of the object. It is
 * read-only and must never be written back. Each subclass names its group, version and kind and its
 * deserializer. Other kinds are read as {@link JobObject}.
 */
public abstract class JobResource implements HasMetadata, Namespaced {

  private static final long serialVersionUID = 1L;

  private final transient CachedJob view;
  private ObjectMeta metadata;

  /** Holds this view. */
  protected JobResource(CachedJob view) {
    this.view = view;
    this.metadata = new ObjectMeta();
    metadata.setNamespace(view.ref().namespace());
    metadata.setName(view.ref().name());
    metadata.setUid(view.ref().uid());
    metadata.setResourceVersion(Long.toString(view.version()));
  }

  /** Stands for an object that could not be read. */
  protected JobResource(CachedJob view, UnreadableMetadata metadata) {
    this.view = view;
    this.metadata = metadata;
  }

  /** Whether the object could be read; otherwise nothing is known of it but its identity. */
  public boolean isReadable() {
    return !UnreadableMetadata.is(this);
  }

  /** What is known of the job. */
  public CachedJob view() {
    return view;
  }

  @Override
  public ObjectMeta getMetadata() {
    return metadata;
  }

  @Override
  public void setMetadata(ObjectMeta metadata) {
    this.metadata = metadata;
  }

  @Override
  public void setApiVersion(String version) {
    if (!version.equals(getApiVersion())) {
      throw new IllegalArgumentException("version is " + getApiVersion() + ", not " + version);
    }
  }
}
