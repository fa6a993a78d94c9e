package dev.sluice.jobs.importer;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.KueueConstants;
import dev.sluice.api.Quantities;
import dev.sluice.api.json.JsonFields;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.jobs.importer.ImportQueues.ImportDecision;
import dev.sluice.jobs.importer.ImportRules.ImportRule;
import dev.sluice.jobs.kind.JobIntegration;
import dev.sluice.jobs.kind.JobKind;
import dev.sluice.jobs.kind.ObjectKey;
import dev.sluice.jobs.kind.PodSetTemplate;
import dev.sluice.jobs.kinds.batch.BatchJob;
import dev.sluice.jobs.kinds.pod.SinglePod;
import dev.sluice.jobs.policy.CachedJob;
import dev.sluice.jobs.policy.CachedJob.CachedJobParser;
import dev.sluice.jobs.policy.JobOptions;
import dev.sluice.jobs.policy.WorkloadFactory;
import dev.sluice.jobs.policy.WorkloadFactory.PriorityLookup;
import dev.sluice.jobs.policy.WorkloadFactory.PrioritySource;
import dev.sluice.kube.client.ApiErrorText;
import dev.sluice.kube.client.RequestLimiter;
import dev.sluice.workload.feed.AdmittedRequests;
import io.fabric8.kubernetes.api.model.GenericKubernetesResource;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.dsl.Resource;
import io.fabric8.kubernetes.client.dsl.base.PatchContext;
import io.fabric8.kubernetes.client.dsl.base.PatchType;
import io.fabric8.kubernetes.client.dsl.base.ResourceDefinitionContext;
import java.net.HttpURLConnection;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;

/** Reads a cluster, decides about its running objects, and carries the decisions out. */
public final class ClusterImport {

  private static final List<JobIntegration> KINDS = List.of(new BatchJob(), new SinglePod());
  private static final JobKind WORKLOAD =
      new JobKind(KueueConstants.GROUP, "v1beta2", "Workload", "workloads", "");
  private static final int ATTEMPTS = 10;
  private static final PatchContext MERGE = PatchContext.of(PatchType.JSON_MERGE);

  private final KubernetesClient client;
  private final List<String> namespaces;
  private final ImportRules rules;
  private final Options options;
  private final RequestLimiter limiter;
  private final InstantSource clock;

  /**
   * Options of an import.
   *
   * @param moreLabels labels that objects and Workloads get
   * @param excludedPrefixes resources with one of these prefixes take no quota
   * @param workers objects at a time
   */
  public record Options(
      Map<String, String> moreLabels, List<String> excludedPrefixes, int workers) {

    public Options {
      moreLabels = Map.copyOf(moreLabels);
      excludedPrefixes = List.copyOf(excludedPrefixes);
    }
  }

  /**
   * An object, and what is decided about it.
   *
   * @param name kind, namespace and name
   */
  public record Item(String name, JobIntegration kind, JsonNode object, ImportDecision decision) {}

  /** Creates an import that has not read anything. */
  public ClusterImport(
      KubernetesClient client,
      List<String> namespaces,
      ImportRules rules,
      Options options,
      RequestLimiter limiter,
      InstantSource clock) {
    this.client = client;
    this.namespaces = List.copyOf(namespaces);
    this.rules = rules;
    this.options = options;
    this.limiter = limiter;
    this.clock = clock;
  }

  /**
   * Decides about every Job and every pod of the namespaces; nothing is written.
   *
   * @throws KubernetesClientException when something can't be read
   */
  public List<Item> plan() {
    ImportPlanner planner =
        new ImportPlanner(
            rules, queues(), priorities(), options.moreLabels(), options.excludedPrefixes());
    Map<String, Map<String, String>> nodes = new HashMap<>();
    list("", "v1", "Node", "nodes", "")
        .forEach(node -> nodes.put(name(node), JsonFields.labels(node)));
    List<Item> items = new ArrayList<>();
    for (String namespace : namespaces) {
      Set<String> owners = owners(namespace);
      Map<String, String> nodeOf = nodesByOwner(namespace);
      for (JobIntegration kind : KINDS) {
        JobKind of = kind.kind();
        for (JsonNode object : list(of.group(), of.version(), of.kind(), of.plural(), namespace)) {
          Optional<Map<String, String>> node =
              Optional.ofNullable(
                  nodes.get(nodeOf.getOrDefault(JsonFields.text(object, "metadata", "uid"), "")));
          items.add(
              new Item(
                  of.kind() + " " + namespace + "/" + name(object),
                  kind,
                  object,
                  planner.decide(kind, object, owners, node, clock.instant())));
        }
      }
    }
    return items;
  }

  /** The node of each pod, and of a pod of each owner of pods. */
  private Map<String, String> nodesByOwner(String namespace) {
    Map<String, String> nodeOf = new HashMap<>();
    for (JsonNode pod : listed(SinglePod.KIND, namespace)) {
      String node = JsonFields.text(pod, "spec", "nodeName");
      if (!node.isEmpty()) {
        nodeOf.put(JsonFields.text(pod, "metadata", "uid"), node);
        JsonFields.list(pod, "metadata", "ownerReferences")
            .forEach(owner -> nodeOf.put(owner.path("uid").asText(), node));
      }
    }
    return nodeOf;
  }

  /** A Workload without admission is what an import left that was interrupted. */
  private Set<String> owners(String namespace) {
    return listed(WORKLOAD, namespace).stream()
        .filter(workload -> JsonFields.isPresent(workload, "status", "admission"))
        .flatMap(workload -> JsonFields.list(workload, "metadata", "ownerReferences").stream())
        .map(owner -> owner.path("uid").asText())
        .collect(Collectors.toSet());
  }

  private ImportQueues queues() {
    Map<ObjectKey, String> localQueues = new HashMap<>();
    for (String namespace : namespaces) {
      own("LocalQueue", "localqueues", namespace)
          .forEach(
              queue ->
                  localQueues.put(
                      new ObjectKey(namespace, name(queue)),
                      JsonFields.text(queue, "spec", "clusterQueue")));
    }
    return new ImportQueues(
        localQueues,
        byName(own("ClusterQueue", "clusterqueues", "")),
        byName(own("ResourceFlavor", "resourceflavors", "")));
  }

  private PriorityLookup priorities() {
    Map<String, JsonNode> ofWorkloads =
        byName(own("WorkloadPriorityClass", "workloadpriorityclasses", ""));
    Map<String, JsonNode> ofPods =
        byName(list("scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", ""));
    return new PriorityLookup() {
      @Override
      public OptionalInt workloadPriorityClass(String name) {
        return value(ofWorkloads, name);
      }

      @Override
      public OptionalInt priorityClass(String name) {
        return value(ofPods, name);
      }

      @Override
      public Optional<Named> globalDefault() {
        return ofPods.entrySet().stream()
            .filter(named -> named.getValue().path("globalDefault").asBoolean())
            .map(named -> new Named(named.getKey(), named.getValue().path("value").asInt()))
            .min((one, other) -> Integer.compare(one.value(), other.value()));
      }
    };
  }

  private static OptionalInt value(Map<String, JsonNode> classes, String name) {
    JsonNode found = classes.get(name);
    return found == null ? OptionalInt.empty() : OptionalInt.of(found.path("value").asInt());
  }

  /** What is taken into each ClusterQueue, by flavor and resource, beyond its nominal quota. */
  public List<String> overQuota(List<Item> items) {
    Map<String, Map<String, Long>> sums = new TreeMap<>();
    for (Item item : items) {
      if (item.decision() instanceof ImportDecision.Take take) {
        Map<String, Long> ofQueue =
            sums.computeIfAbsent(take.clusterQueue(), queue -> new TreeMap<>());
        take.amounts().forEach((pair, amount) -> ofQueue.merge(pair, amount, ImportPlanner::sum));
      }
    }
    Map<String, JsonNode> clusterQueues = byName(own("ClusterQueue", "clusterqueues", ""));
    List<String> lines = new ArrayList<>();
    sums.forEach(
        (queue, taken) ->
            taken.forEach(
                (pair, amount) -> {
                  String resource = pair.substring(pair.indexOf('/') + 1);
                  long nominal =
                      nominal(clusterQueues.getOrDefault(queue, MissingNode.getInstance()), pair);
                  if (amount > nominal) {
                    lines.add(
                        "ClusterQueue %s: %s of %s are taken, its nominal quota is %s"
                            .formatted(
                                queue,
                                Quantities.format(resource, amount),
                                pair,
                                Quantities.format(resource, nominal)));
                  }
                }));
    return lines;
  }

  private static long nominal(JsonNode queue, String pair) {
    for (JsonNode group : JsonFields.list(queue, "spec", "resourceGroups")) {
      for (JsonNode flavor : JsonFields.list(group, "flavors")) {
        for (JsonNode resource : JsonFields.list(flavor, "resources")) {
          String name = resource.path("name").asText();
          if (pair.equals(flavor.path("name").asText() + "/" + name)) {
            return Quantities.amount(name, resource.path("nominalQuota").asText());
          }
        }
      }
    }
    return 0;
  }

  /**
   * Takes in what was decided to be taken: for each object its Workload, the Workload's status, and
   * last the object's queue name. Repeating it goes on where it was interrupted.
   *
   * @return faults, by object
   */
  public List<String> carryOut(List<Item> items) {
    List<String> faults = new ArrayList<>();
    try (ExecutorService workers = Executors.newFixedThreadPool(options.workers())) {
      List<CompletableFuture<Optional<String>>> ends = new ArrayList<>();
      for (Item item : items) {
        if (item.decision() instanceof ImportDecision.Take take) {
          ends.add(CompletableFuture.supplyAsync(() -> fault(item, take), workers));
        }
      }
      ends.forEach(end -> end.join().ifPresent(faults::add));
    }
    return faults;
  }

  private Optional<String> fault(Item item, ImportDecision.Take take) {
    try {
      String namespace = JsonFields.text(item.object(), "metadata", "namespace");
      Resource<GenericKubernetesResource> workload =
          resource(WORKLOAD, namespace, JsonFields.text(take.workload(), "metadata", "name"));
      create(namespace, workload, take.workload());
      ObjectNode status = JsonNodeFactory.instance.objectNode();
      status.set("status", take.status());
      paced();
      workload.subresource("status").patch(MERGE, status.toString());
      queue(item, take, namespace);
      return Optional.empty();
    } catch (KubernetesClientException e) {
      return Optional.of(item.name() + ": " + ApiErrorText.of(e));
    }
  }

  /**
   * Gives the object its queue, in the version that was decided about, or in a later one that
   * differs by its status only: that of what runs changes all the time.
   */
  private void queue(Item item, ImportDecision.Take take, String namespace) {
    Resource<GenericKubernetesResource> object =
        resource(item.kind().kind(), namespace, name(item.object()));
    ObjectNode patch = take.patch().deepCopy();
    for (int attempt = 1; ; attempt++) {
      try {
        paced();
        object.patch(MERGE, patch.toString());
        return;
      } catch (KubernetesClientException e) {
        if (e.getCode() != HttpURLConnection.HTTP_CONFLICT || attempt == ATTEMPTS) {
          throw e;
        }
        paced();
        JsonNode now = JsonMappers.JSON.valueToTree(object.get());
        if (!identity(now).equals(identity(item.object()))) {
          throw e;
        }
        patch
            .withObjectProperty("metadata")
            .set("resourceVersion", now.path("metadata").path("resourceVersion"));
      }
    }
  }

  /** What a decision about an object depends on. */
  private static JsonNode identity(JsonNode object) {
    ObjectNode identity = JsonNodeFactory.instance.objectNode();
    identity.set("spec", object.path("spec"));
    for (String field : List.of("uid", "labels", "annotations", "ownerReferences", "finalizers")) {
      identity.set(field, object.path("metadata").path(field));
    }
    return identity;
  }

  /** One that is there already was made by an import that was interrupted. */
  private void create(
      String namespace, Resource<GenericKubernetesResource> workload, ObjectNode text) {
    try {
      paced();
      client
          .genericKubernetesResources(
              context(
                  WORKLOAD.group(), WORKLOAD.version(), WORKLOAD.kind(), WORKLOAD.plural(), true))
          .inNamespace(namespace)
          .resource(JsonMappers.JSON.convertValue(text, GenericKubernetesResource.class))
          .create();
    } catch (KubernetesClientException e) {
      if (e.getCode() != HttpURLConnection.HTTP_CONFLICT || workload.get() == null) {
        throw e;
      }
    }
  }

  private void paced() {
    LockSupport.parkNanos(limiter.reserve().toNanos());
  }

  private Resource<GenericKubernetesResource> resource(
      JobKind kind, String namespace, String name) {
    return client
        .genericKubernetesResources(
            context(kind.group(), kind.version(), kind.kind(), kind.plural(), true))
        .inNamespace(namespace)
        .withName(name);
  }

  private List<JsonNode> own(String kind, String plural, String namespace) {
    return list(KueueConstants.GROUP, "v1beta2", kind, plural, namespace);
  }

  private List<JsonNode> listed(JobKind kind, String namespace) {
    return list(kind.group(), kind.version(), kind.kind(), kind.plural(), namespace);
  }

  private List<JsonNode> list(
      String group, String version, String kind, String plural, String namespace) {
    var all =
        client.genericKubernetesResources(
            context(group, version, kind, plural, !namespace.isEmpty()));
    paced();
    return (namespace.isEmpty() ? all.list() : all.inNamespace(namespace).list())
        .getItems().stream().<JsonNode>map(JsonMappers.JSON::valueToTree).toList();
  }

  private static ResourceDefinitionContext context(
      String group, String version, String kind, String plural, boolean namespaced) {
    return new ResourceDefinitionContext.Builder()
        .withGroup(group)
        .withVersion(version)
        .withKind(kind)
        .withPlural(plural)
        .withNamespaced(namespaced)
        .build();
  }

  private static Map<String, JsonNode> byName(List<JsonNode> objects) {
    Map<String, JsonNode> named = new HashMap<>();
    objects.forEach(object -> named.put(name(object), object));
    return named;
  }

  private static String name(JsonNode object) {
    return JsonFields.text(object, "metadata", "name");
  }

  /** Decides about each object that an import meets. Pure. */
  static final class ImportPlanner {

    private static final String REASON = "Imported";

    private final ImportRules rules;
    private final ImportQueues queues;
    private final PriorityLookup priorities;
    private final Map<String, String> moreLabels;
    private final AdmittedRequests requests;
    private final WorkloadFactory factory = new WorkloadFactory(JobOptions.defaults(""));

    /**
     * Creates a planner.
     *
     * @param moreLabels labels that objects and Workloads get
     * @param excludedPrefixes resources with one of these prefixes take no quota
     */
    public ImportPlanner(
        ImportRules rules,
        ImportQueues queues,
        PriorityLookup priorities,
        Map<String, String> moreLabels,
        List<String> excludedPrefixes) {
      this.rules = rules;
      this.queues = queues;
      this.priorities = priorities;
      this.moreLabels = Map.copyOf(moreLabels);
      this.requests = new AdmittedRequests(excludedPrefixes, List.of(), false, Map.of());
    }

    /**
     * Decides about an object.
     *
     * @param kind its kind
     * @param object as the API server has it
     * @param owners UIDs of the objects that have a Workload already
     * @param nodeLabels labels of the node that it runs on; empty if none is known
     */
    public ImportDecision decide(
        JobIntegration kind,
        JsonNode object,
        Set<String> owners,
        Optional<Map<String, String>> nodeLabels,
        Instant now) {
      CachedJob job = CachedJobParser.of(kind, object);
      Optional<String> left = left(job, owners);
      if (left.isPresent()) {
        return new ImportDecision.Leave(left.get());
      }
      String priorityClass =
          job.podSets().stream().map(CachedJob.PodSet::priorityClassName).findFirst().orElse("");
      Optional<ImportRule> rule = rules.of(job.labels(), priorityClass);
      String queue =
          job.queueName().isEmpty() ? rule.map(ImportRule::localQueue).orElse("") : job.queueName();
      if (rule.filter(ImportRule::skip).isPresent()) {
        return new ImportDecision.Leave("a rule leaves it out");
      }
      if (queue.isEmpty()) {
        return new ImportDecision.Fault("no rule names a queue for it");
      }
      String clusterQueue = queues.localQueues().get(new ObjectKey(job.ref().namespace(), queue));
      if (clusterQueue == null) {
        return new ImportDecision.Fault("LocalQueue " + queue + " does not exist");
      }
      return switch (PrioritySource.of(job, priorities)) {
        case PrioritySource.Missing missing ->
            new ImportDecision.Fault(missing.kind() + " " + missing.name() + " does not exist");
        case PrioritySource.Found found -> {
          List<PodSetTemplate> podSets = kind.podSets(object);
          ObjectNode workload = workload(job, podSets, found, queue);
          yield take(podSets, workload, patch(kind, object, queue), clusterQueue, nodeLabels, now);
        }
      };
    }

    private static Optional<String> left(CachedJob job, Set<String> owners) {
      if (owners.contains(job.ref().uid())) {
        return Optional.of("it has a Workload");
      }
      if (job.state().end().isPresent()) {
        return Optional.of("it has ended");
      }
      if (job.deletionTime().isPresent()) {
        return Optional.of("it is being deleted");
      }
      if (job.controller().isPresent()) {
        return Optional.of(
            "it belongs to " + job.controller().get().kind() + " " + job.controller().get().name());
      }
      return job.state().suspended()
          ? Optional.of("it doesn't run; the operator queues it if it names a queue")
          : Optional.empty();
    }

    private ObjectNode workload(
        CachedJob job, List<PodSetTemplate> podSets, PrioritySource.Found priority, String queue) {
      ObjectNode workload = factory.compose(job, podSets, priority);
      workload.withObjectProperty("spec").put("queueName", queue);
      ObjectNode labels = workload.withObjectProperty("metadata").withObjectProperty("labels");
      moreLabels.forEach(labels::put);
      return workload;
    }

    /** Takes an object with the Workload and the patch that are made for it. */
    private ImportDecision take(
        List<PodSetTemplate> podSets,
        ObjectNode workload,
        ObjectNode patch,
        String clusterQueue,
        Optional<Map<String, String>> nodeLabels,
        Instant now) {
      SortedMap<String, Long> amounts = new TreeMap<>();
      ObjectNode status = JsonNodeFactory.instance.objectNode();
      ArrayNode assignments =
          status
              .putObject("admission")
              .put("clusterQueue", clusterQueue)
              .putArray("podSetAssignments");
      try {
        for (PodSetTemplate podSet : podSets) {
          SortedMap<String, Long> perPod = requests.of(podSet.template());
          perPod.values().removeIf(amount -> amount == 0);
          Map<String, String> flavors =
              queues.flavors(
                  clusterQueue,
                  perPod,
                  nodeLabels.orElseGet(
                      () -> JsonFields.map(podSet.template(), "spec", "nodeSelector")));
          assign(assignments.addObject(), podSet, perPod, flavors, amounts);
        }
      } catch (ImportQueues.UnassignedException e) {
        return new ImportDecision.Fault(String.valueOf(e.getMessage()));
      }
      ArrayNode conditions = status.putArray("conditions");
      condition(conditions, "QuotaReserved", clusterQueue, now);
      condition(conditions, "Admitted", clusterQueue, now);
      return new ImportDecision.Take(clusterQueue, workload, status, patch, amounts);
    }

    private static void assign(
        ObjectNode assignment,
        PodSetTemplate podSet,
        SortedMap<String, Long> perPod,
        Map<String, String> flavors,
        SortedMap<String, Long> amounts) {
      assignment.put("name", podSet.name()).put("count", podSet.count());
      ObjectNode chosen = assignment.putObject("flavors");
      ObjectNode usage = assignment.putObject("resourceUsage");
      perPod.forEach(
          (resource, amount) -> {
            long all = saturated(amount, podSet.count());
            chosen.put(resource, flavors.get(resource));
            usage.put(resource, Quantities.format(resource, all));
            amounts.merge(flavors.get(resource) + "/" + resource, all, ImportPlanner::sum);
          });
    }

    private static long saturated(long amount, int count) {
      return amount > Long.MAX_VALUE / Math.max(1, count) ? Long.MAX_VALUE : amount * count;
    }

    static long sum(long one, long other) {
      long sum = one + other;
      return sum < 0 ? Long.MAX_VALUE : sum;
    }

    private static void condition(
        ArrayNode conditions, String type, String clusterQueue, Instant now) {
      conditions
          .addObject()
          .put("type", type)
          .put("status", "True")
          .put("reason", REASON)
          .put("message", "Imported into ClusterQueue " + clusterQueue)
          .put("observedGeneration", 1)
          .put("lastTransitionTime", now.truncatedTo(ChronoUnit.SECONDS).toString());
    }

    /** Pods get what the webhook of pods would have given them, except for the gates. */
    private ObjectNode patch(JobIntegration kind, JsonNode object, String queue) {
      ObjectNode patch = JsonNodeFactory.instance.objectNode();
      ObjectNode metadata = patch.putObject("metadata");
      metadata.set("resourceVersion", object.path("metadata").path("resourceVersion"));
      ObjectNode labels = metadata.putObject("labels").put(KueueConstants.QUEUE_NAME, queue);
      moreLabels.forEach(labels::put);
      if (kind.kind().equals(SinglePod.KIND)) {
        labels.put(KueueConstants.MANAGED, "true");
        ArrayNode finalizers = metadata.putArray("finalizers");
        JsonFields.texts(object, "metadata", "finalizers").forEach(finalizers::add);
        if (!JsonFields.texts(object, "metadata", "finalizers").contains(KueueConstants.MANAGED)) {
          finalizers.add(KueueConstants.MANAGED);
        }
      }
      return patch;
    }
  }
}
