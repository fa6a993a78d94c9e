package dev.sluice.kubequeue;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.sluice.api.config.KubeQueue;
import dev.sluice.api.config.KubeQueue.QuotaLabel;
import dev.sluice.kubequeue.PlannedObject.ObjectId;
import dev.sluice.kubequeue.QuotaArithmetic.Limits;
import dev.sluice.kubequeue.QuotaPlan.Mapping;
import dev.sluice.kubequeue.QuotaPlan.Named;
import dev.sluice.kubequeue.QuotaPlan.Place;
import dev.sluice.kubequeue.QuotaPlan.TakenName;
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

/**
 * From quotas to the objects that they stand for: the rules of docs/kube-queue.md. A function of
 * its input.
 */
final class QuotaPlanner {

  /** The ResourceFlavor of all quotas. */
  static final String FLAVOR = "kube-queue";

  private static final SourceMark FLAVOR_MARK = new SourceMark("Flavor", "", FLAVOR, "", FLAVOR);

  /** What the path of a queue for the jobs of a shared quota ends with. */
  private static final String SELF = "//self";

  /**
   * What a plan is made from.
   *
   * @param trees the quotas; of two that want the same name or namespace the first has it
   * @param frozen kinds of sources that can't be read now: what was made from them stays
   * @param existing all objects of the kinds that are made
   * @param namespaces that exist
   * @param requested quotas that jobs have named, with the namespaces of these jobs
   * @param overrides what Queues say, by quota
   */
  record Input(
      List<QuotaTree> trees,
      Set<String> frozen,
      Map<ObjectId, ExistingObject> existing,
      Set<String> namespaces,
      Set<Place> requested,
      Function<QuotaDeclaration, QueueOverride> overrides) {}

  private final KubeQueue settings;
  private final Input input;
  private final Map<Identity, QuotaDeclaration> live = new LinkedHashMap<>();
  private final List<PlannedObject> planned = new ArrayList<>();
  private final List<TakenName> taken = new ArrayList<>();
  private final Map<Identity, String> queueNames = new HashMap<>();
  private final Map<Identity, String> cohortNames = new HashMap<>();
  private final Map<String, Identity> byNamespace = new HashMap<>();
  private final Map<String, Named> byName = new HashMap<>();
  private final Map<Place, String> localQueues = new HashMap<>();
  private final NameAllocator names;
  private final QueueManifests manifests;
  private final Set<Place> requested;

  private QuotaPlanner(KubeQueue settings, Input input) {
    this.settings = settings;
    this.input = input;
    for (QuotaTree tree : input.trees()) {
      tree.root().visit(quota -> live.putIfAbsent(identity(quota), quota));
    }
    names =
        new NameAllocator(
            input.existing(),
            mark ->
                !live.containsKey(quotaOf(mark.identity()))
                    && !input.frozen().contains(mark.kind()));
    String flavor = names.name(ObjectKind.FLAVOR, "", FLAVOR, FLAVOR_MARK, (wanted, given) -> {});
    manifests = new QueueManifests(settings, flavor);
    if (!input.trees().isEmpty()) {
      planned.add(
          new PlannedObject(
              new ObjectId(ObjectKind.FLAVOR, "", flavor),
              FLAVOR_MARK.annotations(),
              JsonNodeFactory.instance.objectNode()));
    }
    requested = requests();
  }

  /** The plan for this input. */
  static QuotaPlan plan(KubeQueue settings, Input input) {
    return new QuotaPlanner(settings, input).plan();
  }

  static Identity identity(QuotaDeclaration quota) {
    return SourceMark.of(quota.source(), quota.path()).identity();
  }

  /** The quota whose jobs use the queue of this identity. */
  private static Identity quotaOf(Identity queue) {
    return queue.path().endsWith(SELF)
        ? new Identity(
            queue.kind(), queue.path().substring(0, queue.path().length() - SELF.length()))
        : queue;
  }

  /** What jobs asked for, now and before this process began. */
  private Set<Place> requests() {
    Set<Place> result = new HashSet<>(input.requested());
    for (ExistingObject object : input.existing().values()) {
      if (object.id().kind() == ObjectKind.LOCAL_QUEUE && !object.leaving()) {
        object
            .mark()
            .filter(mark -> !object.annotations().containsKey(QueueManifests.REMOVED))
            .ifPresent(
                mark -> result.add(new Place(object.id().namespace(), quotaOf(mark.identity()))));
      }
    }
    return result;
  }

  private QuotaPlan plan() {
    for (QuotaTree tree : input.trees()) {
      plan(tree);
    }
    RemovedQueues removed =
        new RemovedQueues(
            input.existing(),
            input.frozen(),
            new HashSet<>(planned.stream().map(PlannedObject::id).toList()),
            this::livingCohort);
    removed.plan();
    planned.replaceAll(removed::withLess);
    planned.addAll(removed.held());
    Comparator<PlannedObject> order = Comparator.comparing(each -> each.id().kind());
    return new QuotaPlan(
        planned.stream().sorted(order).toList(),
        removed.removed(),
        removed.waiting(),
        taken,
        new Mapping(byNamespace, byName, localQueues));
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
    for (String namespace : quota.namespaces()) {
      byNamespace.putIfAbsent(namespace, identity);
    }
    List<String> below = quota.namespacesBelow();
    byName.putIfAbsent(quota.name(), new Named(identity, Set.copyOf(below)));
    QueueOverride override = input.overrides().apply(quota);
    if (!quota.inner()) {
      queue(tree, quota, quota.path(), parent, own, override);
      return;
    }
    SourceMark mark = SourceMark.of(quota.source(), quota.path());
    String name =
        name(ObjectKind.COHORT, "", NameAllocator.baseName(mark, quota.objectName()), mark);
    cohortNames.put(identity, name);
    planned.add(
        new PlannedObject(
            new ObjectId(ObjectKind.COHORT, "", name),
            manifests.cohortAnnotations(tree, mark),
            manifests.cohort(parent, own)));
    if (!placesOf(identity, below).isEmpty()) {
      SortedMap<String, Limits> nothing = new TreeMap<>();
      own.keySet()
          .forEach(
              resource ->
                  nothing.put(resource, new Limits(0, Optional.empty(), Optional.empty(), 0)));
      queue(tree, quota, quota.path() + SELF, name, nothing, override);
    }
    quota.children().forEach(child -> plan(tree, child, name, limits));
  }

  /** The namespaces whose jobs named the quota, as far as they may. */
  private Set<String> placesOf(Identity quota, List<String> listed) {
    Set<String> result = new TreeSet<>();
    for (Place place : requested) {
      boolean allowed =
          settings.quotaLabel() == QuotaLabel.ANYWHERE || listed.contains(place.namespace());
      if (allowed && place.quota().equals(quota)) {
        result.add(place.namespace());
      }
    }
    return result;
  }

  private void queue(
      QuotaTree tree,
      QuotaDeclaration quota,
      String path,
      String parent,
      SortedMap<String, Limits> limits,
      QueueOverride override) {
    Identity identity = identity(quota);
    SourceMark mark = SourceMark.of(quota.source(), path);
    List<String> below = quota.namespacesBelow();
    String full = quota.objectName() + (quota.inner() ? "-self" : "");
    String name = name(ObjectKind.CLUSTER_QUEUE, "", NameAllocator.baseName(mark, full), mark);
    queueNames.put(identity, name);
    planned.add(
        new PlannedObject(
            new ObjectId(ObjectKind.CLUSTER_QUEUE, "", name),
            manifests.queueAnnotations(
                tree, mark, quota.inner() ? Map.of() : quota.max(), override),
            manifests.clusterQueue(parent, limits, below, override)));
    Set<String> places = placesOf(identity, below);
    places.addAll(quota.namespaces());
    places.retainAll(input.namespaces());
    for (String namespace : places) {
      boolean mayStay =
          settings.quotaLabel() == QuotaLabel.ANYWHERE
              || quota.inner()
              || identity.equals(byNamespace.get(namespace));
      if (mayStay) {
        localQueue(namespace, name, identity, mark);
      }
    }
  }

  private void localQueue(String namespace, String queue, Identity quota, SourceMark mark) {
    String name =
        name(ObjectKind.LOCAL_QUEUE, namespace, NameAllocator.localName(mark, queue), mark);
    localQueues.put(new Place(namespace, quota), name);
    ObjectNode spec = JsonNodeFactory.instance.objectNode().put("clusterQueue", queue);
    planned.add(
        new PlannedObject(
            new ObjectId(ObjectKind.LOCAL_QUEUE, namespace, name), mark.annotations(), spec));
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
                    new QuotaSource(mark.kind(), mark.namespace(), mark.name(), mark.uid()),
                    "%s: the name of the %s for %s is taken, so that it is %s"
                        .formatted(
                            new ObjectId(kind, namespace, wanted),
                            kind.kind(),
                            mark.path(),
                            given))));
  }

  /** The Cohort of the nearest quota above a removed one that others share. */
  private Optional<String> livingCohort(Identity removed) {
    String path = quotaOf(removed).path();
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
}
