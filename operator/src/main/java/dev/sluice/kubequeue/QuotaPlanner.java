package dev.sluice.kubequeue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.Quantities;
import dev.sluice.api.config.KubeQueue;
import dev.sluice.api.config.KubeQueue.QuotaLabel;
import dev.sluice.kubequeue.PlannedObject.ObjectId;
import dev.sluice.kubequeue.QueueObjects.ExistingObject;
import dev.sluice.kubequeue.QueueObjects.ObjectKind;
import dev.sluice.kubequeue.QueueOverrides.QueueOverride;
import dev.sluice.kubequeue.QuotaArithmetic.Limits;
import dev.sluice.kubequeue.QuotaPlanner.QuotaPlan.TakenName;
import dev.sluice.kubequeue.SourceMark.Identity;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * From quotas to the objects that they stand for: the rules of docs/kube-queue.md. A function of
 * its input.
 */
final class QuotaPlanner {

  /** The ResourceFlavor of all quotas. */
  static final String FLAVOR = "kube-queue";

  /** The kind of source that marks the flavor, which all sources share. */
  static final String FLAVOR_KIND = "Flavor";

  private static final SourceMark FLAVOR_MARK = new SourceMark(FLAVOR_KIND, "", FLAVOR, "", FLAVOR);

  /**
   * What a plan is made from.
   *
   * @param trees the quotas; of two that want the same name or namespace the first has it
   * @param readable kinds of sources that were read; what was made from others stays as it is
   * @param existing all objects of the kinds that are made
   * @param namespaces that exist
   * @param overrides what Queues say, by quota
   * @param queueNamespace where a Queue is made for each quota; empty: none are made
   */
  record Input(
      List<QuotaTree> trees,
      Set<String> readable,
      Map<ObjectId, ExistingObject> existing,
      Set<String> namespaces,
      Function<QuotaDeclaration, QueueOverride> overrides,
      Optional<String> queueNamespace) {}

  private final KubeQueue settings;
  private final Input input;
  private final Map<Identity, QuotaDeclaration> live = new LinkedHashMap<>();
  private final List<PlannedObject> planned = new ArrayList<>();
  private final List<TakenName> taken = new ArrayList<>();
  private final Map<Identity, String> cohortNames = new HashMap<>();
  private final Map<String, Identity> byNamespace = new HashMap<>();
  private final NameAllocator names;
  private final QueueManifests manifests;
  private final Map<Identity, Set<String>> requested = new HashMap<>();

  private QuotaPlanner(KubeQueue settings, Input input) {
    this.settings = settings;
    this.input = input;
    for (QuotaTree tree : input.trees()) {
      tree.root().visit(quota -> live.putIfAbsent(identity(quota), quota));
    }
    names =
        new NameAllocator(
            input.existing(),
            mark -> !live.containsKey(mark.identity()) && input.readable().contains(mark.kind()));
    String flavor = names.name(ObjectKind.FLAVOR, "", FLAVOR, FLAVOR_MARK, (wanted, given) -> {});
    manifests = new QueueManifests(settings, flavor);
    if (!input.trees().isEmpty()) {
      planned.add(
          new PlannedObject(
              new ObjectId(ObjectKind.FLAVOR, "", flavor),
              FLAVOR_MARK.annotations(),
              JsonNodeFactory.instance.objectNode()));
    }
    readRequests();
  }

  /** The plan for this input. */
  static QuotaPlan plan(KubeQueue settings, Input input) {
    return new QuotaPlanner(settings, input).plan();
  }

  static Identity identity(QuotaDeclaration quota) {
    return SourceMark.of(quota.source(), quota.path()).identity();
  }

  /** Where jobs have named a quota: there, LocalQueues were made on demand. */
  private void readRequests() {
    for (ExistingObject object : input.existing().values()) {
      if (object.id().kind() == ObjectKind.LOCAL_QUEUE
          && object.annotations().containsKey(SourceMark.ON_DEMAND)) {
        object
            .mark()
            .ifPresent(
                mark ->
                    requested
                        .computeIfAbsent(mark.identity(), any -> new TreeSet<>())
                        .add(object.id().namespace()));
      }
    }
  }

  private QuotaPlan plan() {
    for (QuotaTree tree : input.trees()) {
      plan(tree);
    }
    RemovedQueues removed =
        new RemovedQueues(
            input.existing(),
            input.readable(),
            new HashSet<>(planned.stream().map(PlannedObject::id).toList()),
            this::livingCohort);
    removed.plan();
    planned.replaceAll(removed::withLess);
    planned.addAll(removed.held());
    Comparator<PlannedObject> order = Comparator.comparing(each -> each.id().kind());
    return new QuotaPlan(
        planned.stream().sorted(order).toList(), removed.removed(), removed.waiting(), taken);
  }

  private void plan(QuotaTree tree) {
    Map<String, Map<String, Limits>> limits = new HashMap<>();
    for (String resource : tree.resources()) {
      limits.put(resource, QuotaArithmetic.limits(tree.root(), resource));
    }
    plan(tree, tree.root(), "", limits);
  }

  private void plan(
      QuotaTree tree,
      QuotaDeclaration quota,
      String parent,
      Map<String, Map<String, Limits>> limits) {
    Identity identity = identity(quota);
    if (!quota.equals(live.get(identity)) || cohortNames.containsKey(identity)) {
      return;
    }
    SortedMap<String, Limits> own = new TreeMap<>();
    limits.forEach(
        (resource, each) -> own.put(resource, Objects.requireNonNull(each.get(quota.path()))));
    if (quota.source().scopes().isEmpty()) {
      quota.namespaces().forEach(namespace -> byNamespace.putIfAbsent(namespace, identity));
    }
    QueueOverride override = input.overrides().apply(quota);
    if (!quota.inner()) {
      queue(tree, quota, parent, own, override);
      return;
    }
    SourceMark mark = SourceMark.of(quota.source(), quota.path());
    String name =
        name(ObjectKind.COHORT, "", NameAllocator.baseName(mark, quota.objectName()), mark);
    cohortNames.put(identity, name);
    planned.add(
        new PlannedObject(
            new ObjectId(ObjectKind.COHORT, "", name),
            manifests.cohortAnnotations(tree, mark, quota.max()),
            manifests.cohort(parent, own)));
    SortedMap<String, Limits> nothing = new TreeMap<>();
    Limits borrowed = new Limits(0, Optional.empty(), Optional.empty(), 0);
    own.keySet().forEach(resource -> nothing.put(resource, borrowed));
    queue(tree, quota, name, nothing, override);
    quota.children().forEach(child -> plan(tree, child, name, limits));
  }

  private void queue(
      QuotaTree tree,
      QuotaDeclaration quota,
      String parent,
      SortedMap<String, Limits> limits,
      QueueOverride override) {
    Identity identity = identity(quota);
    SourceMark mark = SourceMark.of(quota.source(), quota.path());
    List<String> below = namespaces(quota, override);
    String full = quota.objectName() + (quota.inner() ? "-self" : "");
    String name = name(ObjectKind.CLUSTER_QUEUE, "", NameAllocator.baseName(mark, full), mark);
    planned.add(
        new PlannedObject(
            new ObjectId(ObjectKind.CLUSTER_QUEUE, "", name),
            manifests.queueAnnotations(tree, quota, mark, override),
            manifests.clusterQueue(parent, limits, below, override)));
    if (input.queueNamespace().isPresent() && !mark.kind().equals(ResourceQuotaReader.KIND)) {
      String namespace = input.queueNamespace().get();
      String shown = name(ObjectKind.QUEUE, namespace, name, mark);
      ObjectId id = new ObjectId(ObjectKind.QUEUE, namespace, shown);
      PlannedObject manifest = QueueObjects.manifest(id, mark, settings.policy(), override);
      planned.add(
          input.existing().containsKey(id)
              ? manifest
              : elsewhere(mark).map(old -> QueueObjects.moved(manifest, old)).orElse(manifest));
    }
    for (String namespace : quota.namespaces()) {
      if (has(quota, namespace)) {
        localQueue(namespace, name, mark, mark.annotations());
      }
    }
    for (String namespace : requested.getOrDefault(identity, Set.of())) {
      boolean allowed =
          settings.jobs().quotaLabel() == QuotaLabel.ANYWHERE || below.contains(namespace);
      boolean own = quota.namespaces().contains(namespace) && has(quota, namespace);
      if (allowed && !own) {
        Map<String, String> annotations = new TreeMap<>(mark.annotations());
        annotations.put(SourceMark.ON_DEMAND, "true");
        localQueue(namespace, name, mark, annotations);
      }
    }
  }

  /** Whether a namespace that a quota wants is its: one that is for some of the pods shares it. */
  private boolean has(QuotaDeclaration quota, String namespace) {
    Identity owner = byNamespace.get(namespace);
    return quota.source().scopes().isEmpty()
        ? identity(quota).equals(owner)
        : owner == null || owner.kind().equals(quota.source().kind());
  }

  /** The Queue that shows the same quota in the namespace that was configured before. */
  private Optional<ExistingObject> elsewhere(SourceMark mark) {
    return input.existing().values().stream()
        .filter(each -> each.id().kind() == ObjectKind.QUEUE)
        .filter(each -> each.mark().filter(it -> it.identity().equals(mark.identity())).isPresent())
        .min(Comparator.comparing(each -> each.id().toString()));
  }

  /** The namespaces of a quota and all below it, and of quotas whose jobs may choose its queue. */
  private List<String> namespaces(QuotaDeclaration quota, QueueOverride override) {
    Set<String> result = new TreeSet<>(quota.namespacesBelow());
    for (QuotaDeclaration other :
        override.listed().isEmpty() ? List.<QuotaDeclaration>of() : live.values()) {
      boolean listed =
          override.listed().stream()
              .anyMatch(
                  name ->
                      name.equals("*") || name.equals(other.name()) || name.equals(other.path()));
      if (listed) {
        result.addAll(other.namespaces());
      }
    }
    return List.copyOf(result);
  }

  private void localQueue(
      String namespace, String queue, SourceMark mark, Map<String, String> annotations) {
    if (input.namespaces().contains(namespace)) {
      String name =
          name(ObjectKind.LOCAL_QUEUE, namespace, NameAllocator.localName(mark, queue), mark);
      ObjectNode spec = JsonNodeFactory.instance.objectNode().put("clusterQueue", queue);
      planned.add(
          new PlannedObject(
              new ObjectId(ObjectKind.LOCAL_QUEUE, namespace, name), annotations, spec));
    }
  }

  private String name(ObjectKind kind, String namespace, String base, SourceMark mark) {
    return names.name(
        kind,
        namespace,
        base,
        mark,
        (wanted, given) ->
            taken.add(
                new TakenName(
                    new QuotaSource(
                        mark.kind(), mark.namespace(), mark.name(), mark.uid(), mark.scopes()),
                    "%s: the name of the %s for %s is taken, so that it is %s"
                        .formatted(
                            new ObjectId(kind, namespace, wanted),
                            kind.kind(),
                            mark.path(),
                            given))));
  }

  /** The Cohort of the nearest quota above a removed one that others share. */
  private Optional<String> livingCohort(Identity removed) {
    String path = removed.path();
    while (true) {
      String cohort = cohortNames.get(new Identity(removed.kind(), path));
      if (cohort != null) {
        return Optional.of(cohort);
      }
      int slash = path.lastIndexOf('/');
      if (slash < 0) {
        return Optional.empty();
      }
      path = path.substring(0, slash);
    }
  }

  /**
   * What happens to objects whose quota is gone. Queues are held, so that nothing more begins in
   * them; what runs stays charged; they go when nothing is charged any more. While a held queue is
   * in use, it keeps that part of its quota that nobody else was given.
   */
  private static final class RemovedQueues {

    private final Map<ObjectId, ExistingObject> existing;
    private final Set<String> readable;
    private final Set<ObjectId> planned;
    private final Function<Identity, Optional<String>> livingCohort;
    private final List<PlannedObject> held = new ArrayList<>();
    private final List<ObjectId> removed = new ArrayList<>();
    private final Map<String, List<ExistingObject>> heirs = new TreeMap<>();
    private boolean waiting;

    /**
     * Nothing is planned yet.
     *
     * @param readable kinds of sources that were read; nothing is removed from others
     * @param planned objects that stay
     * @param livingCohort the Cohort into which a queue goes whose own quota is gone
     */
    RemovedQueues(
        Map<ObjectId, ExistingObject> existing,
        Set<String> readable,
        Set<ObjectId> planned,
        Function<Identity, Optional<String>> livingCohort) {
      this.existing = existing;
      this.readable = readable;
      this.planned = planned;
      this.livingCohort = livingCohort;
    }

    /** Decides about every object whose quota is gone. */
    void plan() {
      Set<String> needed = new HashSet<>();
      boolean flavorNeeded = false;
      List<ExistingObject> sorted =
          existing.values().stream()
              .sorted(
                  Comparator.comparing((ExistingObject each) -> each.id().kind())
                      .reversed()
                      .thenComparing(each -> each.id().toString()))
              .toList();
      for (ExistingObject object : sorted) {
        Optional<SourceMark> mark = object.mark();
        if (mark.isEmpty() || planned.contains(object.id())) {
          continue;
        }
        if (!isReadable(mark.get())) {
          needed.add(object.spec().path("cohortName").asText());
          flavorNeeded = true;
          continue;
        }
        switch (object.id().kind()) {
          case LOCAL_QUEUE -> holdOrRemove(object);
          case CLUSTER_QUEUE -> {
            boolean stays = holdOrRemove(object);
            flavorNeeded |= stays;
            if (stays) {
              needed.add(object.spec().path("cohortName").asText());
            }
          }
          case QUEUE -> removed.add(object.id());
          case COHORT -> {}
          case FLAVOR -> {
            if (flavorNeeded || object.leaving()) {
              waiting = true;
            } else {
              removed.add(object.id());
            }
          }
        }
      }
      sorted.stream()
          .filter(each -> each.id().kind() == ObjectKind.COHORT)
          .filter(each -> isRemovable(each, needed))
          .forEach(each -> removed.add(each.id()));
    }

    private boolean isReadable(SourceMark mark) {
      return readable.contains(mark.kind()) || mark.kind().equals(QuotaPlanner.FLAVOR_KIND);
    }

    private boolean isRemovable(ExistingObject cohort, Set<String> needed) {
      boolean ours =
          cohort.mark().filter(this::isReadable).isPresent() && !planned.contains(cohort.id());
      if (ours && !hasNothing(cohort.spec()) && isShared(cohort)) {
        giveBack(cohort);
        return false;
      }
      if (ours && isNeeded(cohort.id().name(), needed)) {
        waiting = true;
        return false;
      }
      return ours;
    }

    /** Whether others of its tree are there, which get the quota. */
    private boolean isShared(ExistingObject cohort) {
      return cohort.mark().flatMap(mark -> livingCohort.apply(mark.identity())).isPresent();
    }

    /** Others have the quota of a Cohort whose own is gone, as long as queues are in it, too. */
    private void giveBack(ExistingObject cohort) {
      waiting = true;
      if (cohort.leaving()) {
        return;
      }
      ObjectNode spec = cohort.spec().deepCopy();
      quotas(spec)
          .values()
          .forEach(
              quota -> {
                quota.put("nominalQuota", "0");
                quota.remove(List.of("borrowingLimit", "lendingLimit"));
              });
      Map<String, String> annotations = new TreeMap<>(cohort.annotations());
      annotations.keySet().retainAll(QueueManifests.ANNOTATIONS);
      annotations.put(SourceMark.REMOVED, "true");
      held.add(new PlannedObject(cohort.id(), annotations, spec));
    }

    /** Whether a queue that stays is in this Cohort or in one below it. */
    private boolean isNeeded(String cohort, Set<String> needed) {
      Set<String> seen = new HashSet<>();
      for (String each : needed) {
        String at = each;
        while (!at.isEmpty() && seen.add(at)) {
          if (at.equals(cohort)) {
            return true;
          }
          ExistingObject above = existing.get(new ObjectId(ObjectKind.COHORT, "", at));
          at = above == null ? "" : above.spec().path("parentName").asText();
        }
      }
      return false;
    }

    /** True if the object stays for now. */
    private boolean holdOrRemove(ExistingObject object) {
      if (object.leaving()) {
        waiting = true;
        return true;
      }
      Optional<String> cohort =
          object.id().kind() == ObjectKind.CLUSTER_QUEUE
              ? object.mark().flatMap(mark -> livingCohort.apply(mark.identity()))
              : Optional.empty();
      boolean onHold =
          object.spec().path("stopPolicy").asText().equals("Hold")
              && object.annotations().containsKey(SourceMark.REMOVED);
      if (onHold && !object.inUse() && (cohort.isEmpty() || hasNothing(object.spec()))) {
        removed.add(object.id());
        return false;
      }
      waiting = true;
      if (cohort.isPresent()) {
        heirs.computeIfAbsent(cohort.get(), any -> new ArrayList<>()).add(object);
      } else {
        held.add(held(object, held(object)));
      }
      return true;
    }

    /** Whether nothing is given when the queue goes: its quota was given back before. */
    private static boolean hasNothing(JsonNode spec) {
      return spec.isObject()
          && quotas((ObjectNode) spec).entrySet().stream()
              .allMatch(each -> amount(each.getKey(), each.getValue()) == 0);
    }

    /** The spec of an object on hold, otherwise as it is. */
    private static ObjectNode held(ExistingObject object) {
      ObjectNode spec =
          object.spec().isObject()
              ? object.spec().deepCopy()
              : JsonNodeFactory.instance.objectNode();
      return spec.put("stopPolicy", "Hold");
    }

    private static PlannedObject held(ExistingObject object, ObjectNode spec) {
      Map<String, String> annotations = new TreeMap<>(object.annotations());
      annotations.keySet().retainAll(QueueManifests.ANNOTATIONS);
      annotations.put(SourceMark.REMOVED, "true");
      return new PlannedObject(object.id(), annotations, spec);
    }

    /**
     * The planned object; if it is a Cohort into which held queues go, without the quota that these
     * keep.
     */
    PlannedObject withLess(PlannedObject object) {
      List<ExistingObject> queues = heirs.get(object.id().name());
      if (object.id().kind() != ObjectKind.COHORT || queues == null) {
        return object;
      }
      ObjectNode spec = object.spec().deepCopy();
      Map<String, ObjectNode> quotas = quotas(spec);
      for (ExistingObject queue : queues) {
        ObjectNode kept = held(queue).put("cohortName", object.id().name());
        quotas(kept)
            .forEach(
                (resource, quota) -> keep(resource, quota, quotas.get(resource), queue.inUse()));
        held.add(held(queue, kept));
      }
      return new PlannedObject(object.id(), object.annotations(), spec);
    }

    /** Takes from the Cohort's own quota what the queue keeps of its own while it is in use. */
    private static void keep(
        String resource, ObjectNode quota, @Nullable ObjectNode cohort, boolean inUse) {
      long had = amount(resource, quota);
      long has = cohort == null ? 0 : amount(resource, cohort);
      long kept = inUse ? Math.min(had, has) : 0;
      quota.put("nominalQuota", Quantities.format(resource, kept));
      quota.remove(List.of("borrowingLimit", "lendingLimit"));
      if (cohort != null) {
        cohort.put("nominalQuota", Quantities.format(resource, has - kept));
      }
    }

    private static long amount(String resource, JsonNode quota) {
      try {
        return Quantities.amount(resource, quota.path("nominalQuota").asText());
      } catch (IllegalArgumentException e) {
        return 0;
      }
    }

    private static Map<String, ObjectNode> quotas(ObjectNode spec) {
      Map<String, ObjectNode> result = new HashMap<>();
      for (JsonNode group : spec.path("resourceGroups")) {
        for (JsonNode flavor : group.path("flavors")) {
          for (JsonNode quota : flavor.path("resources")) {
            if (quota instanceof ObjectNode object) {
              result.putIfAbsent(quota.path("name").asText(), object);
            }
          }
        }
      }
      return result;
    }

    /**
     * Objects that stay on hold; complete when {@link #withLess} was asked of all that is planned.
     */
    List<PlannedObject> held() {
      return held;
    }

    /** Objects that go. */
    List<ObjectId> removed() {
      return removed;
    }

    /** Whether an object goes later, when it isn't in use any more. */
    boolean waiting() {
      return waiting;
    }
  }

  /**
   * What has to be.
   *
   * @param objects as they have to be, in the order in which they are made
   * @param removed objects that have to go, in the order in which they go
   * @param waiting whether an object goes only when it isn't in use any more
   * @param taken what is said of names that others use
   */
  public record QuotaPlan(
      List<PlannedObject> objects, List<ObjectId> removed, boolean waiting, List<TakenName> taken) {

    /**
     * A name that is used by an object that wasn't made from a quota.
     *
     * @param source the quota's source
     * @param note what is said, one sentence
     */
    public record TakenName(QuotaSource source, String note) {}
  }
}
