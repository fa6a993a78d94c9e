package dev.sluice.kube.definitions;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JsonDeserializer;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.annotation.JsonDeserialize;
import dev.sluice.kube.controller.ObservableItemStore;
import dev.sluice.kube.reflect.CachedResource;
import dev.sluice.kube.reflect.InformerSupervisor;
import dev.sluice.kube.reflect.TolerantDeserializers;
import dev.sluice.kube.reflect.UnreadableMetadata;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.fabric8.kubernetes.model.annotation.Group;
import io.fabric8.kubernetes.model.annotation.Kind;
import io.fabric8.kubernetes.model.annotation.Plural;
import io.fabric8.kubernetes.model.annotation.Version;
import java.io.IOException;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The CustomResourceDefinitions of the cluster, kept up to date by one watch. Readable from any
 * thread.
 */
public final class ServedDefinitions implements AutoCloseable {

  private static final long PAGE = 50;

  private final KubernetesClient client;
  private final InformerSupervisor supervisor;
  private final ObservableItemStore<DefinitionResource> definitions = new ObservableItemStore<>();
  private final ReentrantLock lock = new ReentrantLock();

  // All of these are guarded by the lock.
  private @Nullable SharedIndexInformer<DefinitionResource> informer;
  private @Nullable CompletableFuture<Void> listed;
  private boolean closed;

  /** Knows of no definition until it is started. */
  public ServedDefinitions(KubernetesClient client, InformerSupervisor supervisor) {
    this.client = client;
    this.supervisor = supervisor;
  }

  /**
   * Adds an observer of changes.
   *
   * @param observer gets the name of a definition that appeared, changed or went, on the thread of
   *     the watch
   */
  public void observe(Consumer<String> observer) {
    definitions.observe(
        (before, after) -> {
          DefinitionResource either = after == null ? before : after;
          if (either != null) {
            observer.accept(either.getMetadata().getName());
          }
        });
  }

  /**
   * Starts the watch, if it isn't started yet. From now on the client reads definitions of any
   * watch as this does.
   *
   * @return completes when every definition is known; never if this was closed before
   */
  public CompletableFuture<Void> start() {
    lock.lock();
    try {
      if (closed) {
        return new CompletableFuture<>();
      }
      CompletableFuture<Void> begun = listed == null ? begin() : listed;
      listed = begun;
      return begun.copy();
    } finally {
      lock.unlock();
    }
  }

  private CompletableFuture<Void> begin() {
    client.getKubernetesSerialization().registerKubernetesResource(DefinitionResource.class);
    SharedIndexInformer<DefinitionResource> started =
        client
            .resources(DefinitionResource.class)
            .withLimit(PAGE)
            .runnableInformer(0)
            .itemStore(definitions);
    informer = started;
    return supervisor.keep("customresourcedefinitions", started).start().toCompletableFuture();
  }

  /**
   * Whether the API server serves a version of a kind.
   *
   * @param name of the definition: plural and group, with a dot between them
   */
  public boolean serves(String name, String version) {
    return definitions
        .find(name)
        .filter(definition -> definition.served().contains(version))
        .isPresent();
  }

  @Override
  public void close() {
    lock.lock();
    try {
      closed = true;
      if (informer != null) {
        informer.stop();
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * A CustomResourceDefinition in the cache: its name and the versions that the API server serves.
   * Its schemas are dropped. It is read-only and must never be written back.
   */
  @Group("apiextensions.k8s.io")
  @Version("v1")
  @Kind("CustomResourceDefinition")
  @Plural("customresourcedefinitions")
  @JsonDeserialize(using = DefinitionResource.Reader.class)
  public static final class DefinitionResource extends CachedResource {

    private static final long serialVersionUID = 1L;

    private final transient Set<String> served;

    private DefinitionResource(Set<String> served, ObjectMeta metadata) {
      super(metadata);
      this.served = served;
    }

    /** Reads a definition from its JSON. */
    static DefinitionResource of(JsonNode object) {
      return new DefinitionResource(
          isEstablished(object) ? servedVersions(object) : Set.of(), identity(object));
    }

    /** The versions that the API server serves; none before the definition is established. */
    Set<String> served() {
      return served;
    }

    private static boolean isEstablished(JsonNode object) {
      for (JsonNode condition : object.path("status").path("conditions")) {
        if (condition.path("type").asText().equals("Established")) {
          return condition.path("status").asText().equals("True");
        }
      }
      return false;
    }

    private static Set<String> servedVersions(JsonNode object) {
      Set<String> names = new HashSet<>();
      for (JsonNode version : object.path("spec").path("versions")) {
        if (version.path("served").asBoolean()) {
          names.add(version.path("name").asText());
        }
      }
      return Set.copyOf(names);
    }

    /** Reads a definition, and keeps what is needed of it. */
    static final class Reader extends JsonDeserializer<DefinitionResource> {

      @Override
      public DefinitionResource deserialize(JsonParser parser, DeserializationContext context)
          throws IOException {
        return TolerantDeserializers.read(
            parser,
            context,
            DefinitionResource::of,
            (JsonNode object, UnreadableMetadata metadata) ->
                new DefinitionResource(Set.of(), metadata));
      }
    }
  }
}
