package dev.sluice.jobs.controller;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.annotation.JsonDeserialize;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.jobs.kind.JobIntegration;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.policy.CachedJob;
import dev.sluice.kube.reflect.CachedResource;
import dev.sluice.kube.reflect.ReadErrorLog;
import dev.sluice.kube.reflect.TolerantDeserializers;
import dev.sluice.kube.reflect.UnreadableMetadata;
import io.fabric8.kubernetes.api.model.DefaultKubernetesResourceList;
import io.fabric8.kubernetes.api.model.HasMetadata;
import io.fabric8.kubernetes.api.model.Namespaced;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import io.fabric8.kubernetes.client.dsl.internal.HasMetadataOperationsImpl;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import java.io.IOException;
import java.util.function.BiConsumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A job of any kind in an informer. The informer reads the object as a JSON tree, because the items
 * of a list don't name their kind; the store of the kind then has the tree parsed to a {@link
 * CachedJob} and dropped. The object is read-only and must never be written back.
 */
@JsonDeserialize(using = JobObject.Reader.class)
final class JobObject implements HasMetadata, Namespaced {

  private static final long serialVersionUID = 1L;
  private static final long PAGE = 500;

  private final transient BiConsumer<JsonNode, Throwable> faults;
  private transient volatile @Nullable JsonNode tree;
  private transient volatile @Nullable CachedJob view;
  private volatile ObjectMeta metadata;
  private volatile String apiVersion;
  private final String kind;

  private JobObject(JsonNode tree, ObjectMeta metadata, BiConsumer<JsonNode, Throwable> faults) {
    this.tree = tree;
    this.metadata = metadata;
    this.faults = faults;
    this.apiVersion = tree.path("apiVersion").asText();
    this.kind = tree.path("kind").asText();
  }

  /**
   * An informer of all objects of a kind, not started; events of its watch are read as this.
   *
   * @param namespaced whether objects of the kind are in namespaces
   */
  static SharedIndexInformer<JobObject> informer(
      KubernetesClient client, JobKind kind, boolean namespaced) {
    client
        .getKubernetesSerialization()
        .registerKubernetesResource(kind.apiVersion(), kind.kind(), JobObject.class);
    ResourceDefinitionContext definition =
        new ResourceDefinitionContext.Builder()
            .withGroup(kind.group())
            .withVersion(kind.version())
            .withKind(kind.kind())
            .withPlural(kind.plural())
            .withNamespaced(namespaced)
            .build();
    return new HasMetadataOperationsImpl<JobObject, DefaultKubernetesResourceList<JobObject>>(
            client, definition, JobObject.class, null)
        .inAnyNamespace()
        .withLimit(PAGE)
        .runnableInformer(0);
  }

  /**
   * Parses the object as a job of the integration's kind, once. An object that can't be parsed is
   * reported, and counts as unreadable from then on.
   */
  void parse(JobIntegration integration) {
    parse(integration, UnaryOperator.identity());
  }

  /**
   * The same.
   *
   * @param resolution adds to the object what the integration wants to see besides
   */
  void parse(JobIntegration integration, UnaryOperator<JsonNode> resolution) {
    JsonNode object = tree;
    if (object == null) {
      return;
    }
    try {
      view = CachedJobParser.of(integration, resolution.apply(object));
    } catch (RuntimeException | StackOverflowError e) {
      faults.accept(object, e);
      metadata = UnreadableMetadata.of(object);
      view = CachedJobParser.unreadable(integration.kind(), object);
    }
    tree = null;
  }

  /**
   * Drops all of the object but its generation and what is kept of its spec; for one that is not
   * parsed.
   */
  void keep(UnaryOperator<JsonNode> kept) {
    JsonNode object = tree;
    if (object != null && object.path("spec").isObject()) {
      ObjectNode rest = JsonNodeFactory.instance.objectNode();
      rest.putObject("metadata")
          .put("generation", object.path("metadata").path("generation").asLong());
      rest.set("spec", kept.apply(object.path("spec")));
      tree = rest;
    }
  }

  /** The object as it was read; a missing node after it was parsed. */
  JsonNode tree() {
    JsonNode object = tree;
    return object == null ? MissingNode.getInstance() : object;
  }

  /**
   * What is known of the job.
   *
   * @throws IllegalStateException before {@link #parse}
   */
  CachedJob view() {
    CachedJob parsed = view;
    if (parsed == null) {
      throw new IllegalStateException("the object is not parsed yet");
    }
    return parsed;
  }

  @Override
  public ObjectMeta getMetadata() {
    return metadata;
  }

  @Override
  public void setMetadata(ObjectMeta other) {
    this.metadata = other;
  }

  @Override
  public String getApiVersion() {
    return apiVersion;
  }

  @Override
  public void setApiVersion(String version) {
    this.apiVersion = version;
  }

  @Override
  public String getKind() {
    return kind;
  }

  /** Reads an object of any kind as a tree. */
  static final class Reader extends JsonDeserializer<JobObject> {

    @Override
    public JobObject deserialize(JsonParser parser, DeserializationContext context)
        throws IOException {
      BiConsumer<JsonNode, Throwable> faults = ReadErrorLog.reporter(context);
      return TolerantDeserializers.read(
          parser,
          context,
          object -> new JobObject(object, CachedResource.identity(object), faults),
          (object, unreadable) -> new JobObject(object, unreadable, faults));
    }
  }
}
