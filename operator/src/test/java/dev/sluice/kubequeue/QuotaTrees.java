package dev.sluice.kubequeue;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.config.KubeQueue;
import dev.sluice.api.config.KubeQueue.QuotaLabel;
import dev.sluice.api.json.JsonMappers;
import dev.sluice.core.model.QueueRules.AttemptBackoff;
import dev.sluice.kubequeue.PlannedObject.ObjectId;
import dev.sluice.kubequeue.QueueObjects.ExistingObject;
import dev.sluice.kubequeue.QueueObjects.ObjectKind;
import dev.sluice.kubequeue.QueueOverrides.QueueOverride;
import dev.sluice.kubequeue.QuotaPlanner.QuotaPlan;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;

/** Trees and plans for tests. */
final class QuotaTrees {

  static final QuotaSource SOURCE =
      new QuotaSource("ElasticQuotaTree", "kube-system", "tree", "uid-1");

  private QuotaTrees() {}

  /** The settings with everything at its default but these. */
  static KubeQueue settings(double rate, QuotaLabel label) {
    return new KubeQueue(
        true,
        Set.of(KubeQueue.Source.values()),
        "kube-queue",
        rate,
        KubeQueue.Policy.ROUND,
        new KubeQueue.Starts(Duration.ZERO, Duration.ofMinutes(1), AttemptBackoff.DEFAULT),
        new KubeQueue.Jobs(KubeQueue.Intake.SUSPENDED_ONLY, label),
        new KubeQueue.Units(KubeQueue.OwnUnits.MIRROR, KubeQueue.ForeignUnits.ACCEPT));
  }

  /** What is read from a root that is given as YAML. */
  static QuotaReading read(String root) {
    JsonNode tree = JsonMappers.JSON.createObjectNode().set("root", yaml(root));
    return QuotaTreeReader.read(SOURCE, JsonMappers.JSON.createObjectNode().set("spec", tree));
  }

  /** The tree of a root that is good. */
  static QuotaTree tree(String root) {
    QuotaReading reading = read(root);
    return reading
        .tree()
        .orElseThrow(() -> new AssertionError(String.join("; ", reading.faults())));
  }

  static JsonNode yaml(String text) {
    try {
      return JsonMappers.YAML.readTree(text);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The state of a cluster that a plan is made for; what was planned can be carried out. */
  static final class Cluster {

    final Map<ObjectId, ExistingObject> objects = new HashMap<>();
    final Set<String> readable;
    KubeQueue settings = settings(2, QuotaLabel.LISTED);
    Set<String> namespaces = Set.of("a", "b", "c", "d");
    Function<QuotaDeclaration, QueueOverride> overrides = quota -> QueueOverride.NONE;
    Optional<String> queueNamespace = Optional.empty();

    Cluster() {
      this("ElasticQuotaTree");
    }

    Cluster(String... readable) {
      this.readable = Set.of(readable);
    }

    QuotaPlan plan(QuotaTree... trees) {
      return QuotaPlanner.plan(
          settings,
          new QuotaPlanner.Input(
              Arrays.asList(trees), readable, objects, namespaces, overrides, queueNamespace));
    }

    /** Plans, and does what was planned. */
    QuotaPlan carryOut(QuotaTree... trees) {
      QuotaPlan plan = plan(trees);
      for (PlannedObject object : plan.objects()) {
        ExistingObject before = objects.get(object.id());
        put(object, before != null && before.inUse());
      }
      plan.removed().forEach(objects::remove);
      return plan;
    }

    /** An object that was made as planned. */
    void put(PlannedObject object, boolean inUse) {
      objects.put(
          object.id(),
          new ExistingObject(
              object.id(), "uid", object.annotations(), object.spec(), inUse, false));
    }

    /** Somebody else's object. */
    void stranger(ObjectId id) {
      objects.put(
          id,
          new ExistingObject(
              id, "other", Map.of("a", "b"), JsonMappers.JSON.createObjectNode(), true, false));
    }

    /** Somebody else's ClusterQueue, in a Cohort that may have no object. */
    void stranger(ObjectId id, String cohort) {
      objects.put(
          id,
          new ExistingObject(
              id,
              "other",
              Map.of(),
              JsonMappers.JSON.createObjectNode().put("cohortName", cohort),
              true,
              false));
    }

    /** A LocalQueue that was made because a job named the quota. */
    void demand(String namespace, String name, String path) {
      put(
          new PlannedObject(
              local(namespace, name),
              Map.of(
                  "sluice.dev/source-kind",
                  "ElasticQuotaTree",
                  "sluice.dev/source-path",
                  path,
                  SourceMark.ON_DEMAND,
                  "true"),
              JsonMappers.JSON.createObjectNode()),
          false);
    }

    /** Makes Workloads use the object, or not any more. */
    void use(ObjectId id, boolean inUse) {
      objects.computeIfPresent(
          id,
          (any, object) ->
              new ExistingObject(
                  id, object.uid(), object.annotations(), object.spec(), inUse, false));
    }
  }

  static ObjectId queue(String name) {
    return new ObjectId(ObjectKind.CLUSTER_QUEUE, "", name);
  }

  static ObjectId cohort(String name) {
    return new ObjectId(ObjectKind.COHORT, "", name);
  }

  static ObjectId local(String namespace, String name) {
    return new ObjectId(ObjectKind.LOCAL_QUEUE, namespace, name);
  }

  /** The planned object of this id. */
  static PlannedObject find(QuotaPlan plan, ObjectId id) {
    return plan.objects().stream()
        .filter(each -> each.id().equals(id))
        .findFirst()
        .orElseThrow(() -> new AssertionError(id + " is not in " + ids(plan)));
  }

  static List<ObjectId> ids(QuotaPlan plan) {
    return plan.objects().stream().map(PlannedObject::id).toList();
  }

  /** Nominal quota, borrowing limit and lending limit, with - for what is absent. */
  static String quota(QuotaPlan plan, ObjectId id, String resource) {
    for (JsonNode each : find(plan, id).spec().at("/resourceGroups/0/flavors/0/resources")) {
      if (each.path("name").asText().equals(resource)) {
        return each.path("nominalQuota").asText("-")
            + " "
            + each.path("borrowingLimit").asText("-")
            + " "
            + each.path("lendingLimit").asText("-");
      }
    }
    return "none";
  }
}
