package dev.sluice.lab.player;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.ObjectKey;
import dev.sluice.kube.client.ApiClient;
import dev.sluice.kube.client.ApiOutcome;
import dev.sluice.kube.client.ApiRequest;
import dev.sluice.kube.client.Futures;
import dev.sluice.kube.client.ObjectPath;
import dev.sluice.kube.controller.WorkQueue;
import dev.sluice.kube.controller.WorkQueueSettings;
import dev.sluice.kube.json.JsonMergePatch;
import dev.sluice.kube.reflect.GuardedEventHandler;
import dev.sluice.kube.reflect.InformerSupervisor;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.api.model.OwnerReference;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import io.fabric8.kubernetes.client.informers.ResourceEventHandler;
import io.fabric8.kubernetes.client.informers.SharedIndexInformer;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * Plays the controller of one kind: makes the children that its description wants, changes and
 * deletes them with their owner, and writes the status. Pods are run by KWOK as those of Jobs are,
 * so their annotations say how long they run and whether they fail.
 */
public final class KindPlayer implements AutoCloseable {

  private static final String PLAYED = "sluice.dev/played";
  private static final String BY_NOBODY = "nobody";

  /** The labels of an object that no player plays: a test stands in for its controller. */
  public static final Map<String, String> LEFT_ALONE = Map.of(PLAYED, BY_NOBODY);

  private static final int REQUESTS_AT_A_TIME = 16;
  private static final Duration AGAIN = Duration.ofMillis(100);

  /** What a controller changes in the template of a suspended Job before it resumes the Job. */
  private static final List<String> SCHEDULING =
      List.of("nodeSelector", "tolerations", "schedulingGates");

  private final PlayedKind played;
  private final KubernetesClient client;
  private final Map<String, KubernetesClient> accounts = new ConcurrentHashMap<>();
  private final ApiClient api;
  private final ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();
  private final WorkQueue<ObjectKey> queue;
  private final SharedIndexInformer<GenericKubernetesResource> objects;
  private final List<SharedIndexInformer<GenericKubernetesResource>> children;
  private final List<SharedIndexInformer<GenericKubernetesResource>> read;

  /** Plays from now on; the API server must serve the kind. */
  public KindPlayer(KubernetesClient client, PlayedKind played) {
    this.played = played;
    this.client = client;
    this.api = new ApiClient(client, ApiClient.Options.atATime(REQUESTS_AT_A_TIME));
    this.queue =
        new WorkQueue<>(
            this::reconcile,
            WorkQueueSettings.of(
                executor,
                (delay, task) ->
                    CompletableFuture.delayedExecutor(
                            delay.toMillis() + 1, TimeUnit.MILLISECONDS, executor)
                        .execute(task)));
    InformerSupervisor supervisor = new InformerSupervisor();
    this.objects =
        supervisor.keep(
            played.kind().plural(),
            client
                .genericKubernetesResources(definition(played.kind()))
                .inAnyNamespace()
                .withoutLabel(PLAYED, BY_NOBODY)
                .runnableInformer(0));
    GuardedEventHandler.add(
        objects, handler(object -> Optional.of(key(object, object.getMetadata().getName()))));
    this.children =
        played.childKinds().stream()
            .map(
                kind ->
                    supervisor.keep(
                        kind.plural(),
                        client
                            .genericKubernetesResources(definition(kind))
                            .inAnyNamespace()
                            .withLabel(PLAYED, played.kind().kind())
                            .runnableInformer(0)))
            .toList();
    children.forEach(
        each ->
            GuardedEventHandler.add(
                each, handler(child -> owner(child).map(it -> key(child, it.getName())))));
    this.read =
        played.reads().stream()
            .map(
                kind ->
                    supervisor.keep(
                        kind.kind().plural(),
                        client
                            .genericKubernetesResources(definition(kind.kind(), kind.namespaced()))
                            .inAnyNamespace()
                            .runnableInformer(0)))
            .toList();
    read.forEach(each -> GuardedEventHandler.add(each, everything()));
    read.forEach(each -> each.start().toCompletableFuture().join());
    // A kind that was just installed may refuse its first listing; the listing is repeated.
    children.forEach(each -> each.start().toCompletableFuture().join());
    objects.start().toCompletableFuture().join();
  }

  private static ResourceDefinitionContext definition(JobKind kind) {
    return definition(kind, true);
  }

  private static ResourceDefinitionContext definition(JobKind kind, boolean namespaced) {
    return new ResourceDefinitionContext.Builder()
        .withGroup(kind.group())
        .withVersion(kind.version())
        .withKind(kind.kind())
        .withPlural(kind.plural())
        .withNamespaced(namespaced)
        .build();
  }

  private static ObjectKey key(GenericKubernetesResource object, String name) {
    return new ObjectKey(object.getMetadata().getNamespace(), name);
  }

  /** The object whose child it is, unless somebody took that from it. */
  private static Optional<OwnerReference> owner(GenericKubernetesResource child) {
    return child.getMetadata().getOwnerReferences().stream().findFirst();
  }

  /** Names the object that a change concerns. */
  private interface Concerned {
    Optional<ObjectKey> of(GenericKubernetesResource changed);
  }

  private ResourceEventHandler<GenericKubernetesResource> handler(Concerned concerned) {
    return new ResourceEventHandler<>() {
      @Override
      public void onAdd(GenericKubernetesResource object) {
        concerned.of(object).ifPresent(queue::enqueue);
      }

      @Override
      public void onUpdate(GenericKubernetesResource before, GenericKubernetesResource object) {
        concerned.of(object).ifPresent(queue::enqueue);
      }

      @Override
      public void onDelete(GenericKubernetesResource object, boolean unknown) {
        concerned.of(object).ifPresent(queue::enqueue);
      }
    };
  }

  /** A change of what is read may concern every object. */
  private ResourceEventHandler<GenericKubernetesResource> everything() {
    return new ResourceEventHandler<>() {
      @Override
      public void onAdd(GenericKubernetesResource object) {
        enqueueAll();
      }

      @Override
      public void onUpdate(GenericKubernetesResource before, GenericKubernetesResource object) {
        enqueueAll();
      }

      @Override
      public void onDelete(GenericKubernetesResource object, boolean unknown) {
        enqueueAll();
      }
    };
  }

  private void enqueueAll() {
    objects
        .getStore()
        .list()
        .forEach(object -> queue.enqueue(key(object, object.getMetadata().getName())));
  }

  private Optional<Duration> reconcile(ObjectKey key) throws InterruptedException {
    GenericKubernetesResource found =
        objects.getIndexer().getByKey(key.namespace() + "/" + key.name());
    if (found == null || found.getMetadata().getDeletionTimestamp() != null) {
      return Optional.empty();
    }
    ObjectNode object = tree(found);
    Map<String, ObjectNode> existing = existing(object);
    boolean ended = played.isFinal(object);
    boolean settled = true;
    Map<String, ObjectNode> wanted = new HashMap<>();
    List<ObjectNode> others =
        read.stream()
            .flatMap(informer -> informer.getStore().list().stream())
            .map(KindPlayer::tree)
            .toList();
    for (ObjectNode child : played.children(object, others)) {
      wanted.put(child.path("metadata").path("name").asText(), child);
    }
    for (Map.Entry<String, ObjectNode> child : existing.entrySet()) {
      if (!wanted.containsKey(child.getKey())) {
        settled &= delete(child.getValue());
      }
    }
    for (Map.Entry<String, ObjectNode> child : wanted.entrySet()) {
      ObjectNode present = existing.get(child.getKey());
      if (present == null) {
        settled &= ended || !played.creates(object) || create(object, child.getValue(), existing);
      } else if (played.replaces(present, child.getValue())) {
        settled &= delete(present);
      } else {
        settled &= adjust(present, child.getValue());
      }
    }
    settled &= ended || writeStatus(object, played.status(object, List.copyOf(existing.values())));
    return settled ? Optional.empty() : Optional.of(AGAIN);
  }

  private Map<String, ObjectNode> existing(ObjectNode object) {
    String uid = object.path("metadata").path("uid").asText();
    Map<String, ObjectNode> result = new HashMap<>();
    children.stream()
        .flatMap(informer -> informer.getStore().list().stream())
        .filter(child -> owner(child).filter(it -> it.getUid().equals(uid)).isPresent())
        .forEach(child -> result.put(child.getMetadata().getName(), tree(child)));
    return result;
  }

  private static ObjectNode tree(GenericKubernetesResource object) {
    try {
      return (ObjectNode) JsonMappers.JSON.readTree(Serialization.asJson(object));
    } catch (JsonProcessingException ownText) {
      throw new IllegalStateException(ownText);
    }
  }

  /** The first owner is the object, by which the player knows its children. */
  private boolean create(ObjectNode object, ObjectNode child, Map<String, ObjectNode> existing)
      throws InterruptedException {
    Optional<String> name = played.creator(object, child);
    Optional<ObjectNode> creator = name.flatMap(it -> Optional.ofNullable(existing.get(it)));
    if (name.isPresent() && creator.isEmpty()) {
      return false;
    }
    ObjectNode metadata = child.withObjectProperty("metadata");
    metadata.put("namespace", object.path("metadata").path("namespace").asText());
    metadata.withObjectProperty("labels").put(PLAYED, played.kind().kind());
    ArrayNode owners = metadata.putArray("ownerReferences");
    own(owners, played.kind().apiVersion(), object, creator.isEmpty());
    creator.ifPresent(pod -> own(owners, "v1", pod, true));
    ApiRequest request = ApiRequest.create(path(child).collection(), child);
    return creator.isEmpty()
        ? send(request)
        : send(asAccountOf(metadata.path("namespace").asText()), request);
  }

  /** Pods that pods create are created by a service account of their namespace. */
  private ApiClient asAccountOf(String namespace) {
    KubernetesClient account =
        accounts.computeIfAbsent(
            namespace,
            it -> {
              Config config = new ConfigBuilder(client.getConfiguration()).build();
              config.setImpersonateUsername("system:serviceaccount:" + it + ":default");
              config.setImpersonateGroups("system:masters");
              return new KubernetesClientBuilder().withConfig(config).build();
            });
    return new ApiClient(account, ApiClient.Options.atATime(REQUESTS_AT_A_TIME));
  }

  private static void own(ArrayNode owners, String apiVersion, JsonNode owner, boolean controls) {
    owners
        .addObject()
        .put("apiVersion", apiVersion)
        .put("kind", owner.path("kind").asText())
        .put("name", owner.path("metadata").path("name").asText())
        .put("uid", owner.path("metadata").path("uid").asText())
        .put("controller", controls)
        .put("blockOwnerDeletion", controls);
  }

  private boolean delete(ObjectNode child) throws InterruptedException {
    return child.path("metadata").has("deletionTimestamp")
        || send(
            ApiRequest.delete(path(child).object(), child.path("metadata").path("uid").asText()));
  }

  /**
   * Suspends a Job with its owner, and resumes it with the template that the owner has now. A child
   * of another kind gets the spec that its owner wants whenever it is suspended or resumed.
   */
  private boolean adjust(ObjectNode present, ObjectNode wanted) throws InterruptedException {
    boolean suspend = wanted.path("spec").path("suspend").asBoolean();
    boolean isJob = present.path("kind").asText().equals("Job");
    if (present.path("kind").asText().equals("Pod")
        || present.path("spec").path("suspend").asBoolean() == suspend) {
      return true;
    }
    ObjectNode after = present.deepCopy();
    if (!isJob) {
      after.set("spec", wanted.path("spec"));
      return send(ApiRequest.patch(path(present).object(), patch(present, after)));
    }
    after.withObjectProperty("spec").put("suspend", suspend);
    if (suspend) {
      return send(ApiRequest.patch(path(present).object(), patch(present, after)));
    }
    if (present.path("status").has("startTime")) {
      ObjectNode unstarted = JsonNodeFactory.instance.objectNode();
      unstarted.putObject("status").putNull("startTime");
      send(ApiRequest.patch(path(present).status(), unstarted));
      return false;
    }
    resume(after.withObject("/spec/template"), wanted.at("/spec/template"));
    return send(ApiRequest.patch(path(present).object(), patch(present, after)));
  }

  /** Labels that the API server gave to the template stay. */
  private static void resume(ObjectNode template, JsonNode wanted) {
    ObjectNode labels = template.withObject("/metadata").withObjectProperty("labels");
    Map<String, JsonNode> given = new HashMap<>();
    labels.properties().stream()
        .filter(label -> label.getKey().contains("controller-uid") || isJobName(label.getKey()))
        .forEach(label -> given.put(label.getKey(), label.getValue()));
    labels.removeAll();
    labels.setAll(given);
    wanted
        .at("/metadata/labels")
        .properties()
        .forEach(it -> labels.set(it.getKey(), it.getValue()));
    replace(template.withObject("/metadata"), wanted.path("metadata"), "annotations");
    for (String field : SCHEDULING) {
      replace(template.withObject("/spec"), wanted.path("spec"), field);
    }
  }

  private static boolean isJobName(String label) {
    return label.equals("job-name") || label.equals("batch.kubernetes.io/job-name");
  }

  private static void replace(ObjectNode in, JsonNode from, String field) {
    if (from.has(field)) {
      in.set(field, from.get(field));
    } else {
      in.remove(field);
    }
  }

  private static ObjectNode patch(ObjectNode before, ObjectNode after) {
    ObjectNode patch = JsonMergePatch.between(before, after);
    patch
        .withObjectProperty("metadata")
        .set("resourceVersion", before.path("metadata").path("resourceVersion"));
    return patch;
  }

  private boolean writeStatus(ObjectNode object, ObjectNode status) throws InterruptedException {
    ObjectNode patch = JsonMergePatch.between(object.path("status"), status);
    if (patch.isEmpty()) {
      return true;
    }
    ObjectNode body = JsonNodeFactory.instance.objectNode();
    body.set("status", patch);
    ObjectPath path = path(object);
    return send(
        ApiRequest.patch(played.hasStatusSubresource() ? path.status() : path.object(), body));
  }

  private ObjectPath path(ObjectNode object) {
    String kind = object.path("kind").asText();
    String plural = kind.equals(played.kind().kind()) ? played.kind().plural() : plural(kind);
    return new ObjectPath(
        object.path("apiVersion").asText(),
        object.path("metadata").path("namespace").asText(),
        plural,
        object.path("metadata").path("name").asText());
  }

  private static String plural(String kind) {
    return JobKind.of("", "v1", kind).plural();
  }

  /** Whether the request did what it should, so that only an event brings more to do. */
  private boolean send(ApiRequest request) throws InterruptedException {
    return send(api, request);
  }

  private static boolean send(ApiClient as, ApiRequest request) throws InterruptedException {
    ApiOutcome outcome = Futures.forResult(as.send(request));
    return outcome instanceof ApiOutcome.Written || outcome instanceof ApiOutcome.Gone;
  }

  @Override
  public void close() {
    objects.stop();
    children.forEach(SharedIndexInformer::stop);
    read.forEach(SharedIndexInformer::stop);
    queue.close();
    executor.shutdownNow();
    accounts.values().forEach(KubernetesClient::close);
  }
}
