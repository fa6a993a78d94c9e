package dev.sluice.kubequeue;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.sluice.api.Quantities;
import dev.sluice.kubequeue.PlannedObject.ObjectId;
import dev.sluice.kubequeue.QueueObjects.ExistingObject;
import dev.sluice.kubequeue.QueueObjects.ObjectKind;
import dev.sluice.kubequeue.QuotaPlanner.QuotaPlan;
import dev.sluice.kubequeue.QuotaReading.QuotaFaults;
import dev.sluice.kubequeue.QuotaTrees.Cluster;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.LongStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A tree changes at random while Workloads come and go: nothing in use is lost, nothing is left
 * behind, nothing of a stranger is touched, and no more quota is given than the root has.
 */
class QuotaPlanChangesTest {

  private static final int CHANGES = 60;
  private static final long ROOM = 40_000;

  static LongStream seeds() {
    return LongStream.rangeClosed(1, 40);
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void whateverChangesTheRulesAreKept(long seed) {
    Random random = new Random(seed);
    Cluster cluster = new Cluster();
    List<ObjectId> strangers =
        List.of(
            QuotaTrees.queue("root-x"),
            QuotaTrees.cohort("root-y"),
            QuotaTrees.local("a", "root-z"));
    strangers.forEach(cluster::stranger);
    Map<ObjectId, ExistingObject> theirs = Map.copyOf(cluster.objects);
    long inUse = 0;
    for (int i = 0; i < CHANGES; i++) {
      Set<ObjectId> needed = needed(cluster, theirs.keySet());
      inUse += needed.size();
      if (random.nextInt(8) == 0) {
        cluster.carryOut();
      } else {
        QuotaTree tree = tree(random);
        QuotaPlan plan = cluster.carryOut(tree);
        assertThat(given(plan)).as("quota of all").isLessThanOrEqualTo(ROOM);
        assertThat(left(cluster)).as("quota of all, change %d", i).isLessThanOrEqualTo(ROOM);
        QuotaPlan next = cluster.carryOut(tree);
        assertThat(given(next)).as("quota of all").isEqualTo(given(plan));
        cluster.carryOut(tree);
        assertThat(cluster.plan(tree).objects())
            .filteredOn(
                each ->
                    !cluster.objects.containsKey(each.id())
                        || PlanDifference.differs(each, cluster.objects.get(each.id())))
            .as("what is left to do")
            .isEmpty();
      }
      assertThat(cluster.objects).as("change %d", i).containsAllEntriesOf(theirs);
      assertThat(cluster.objects.keySet()).as("change %d", i).containsAll(needed);
      for (ObjectId id : List.copyOf(cluster.objects.keySet())) {
        if (!theirs.containsKey(id) && id.kind() == ObjectKind.CLUSTER_QUEUE) {
          cluster.use(id, random.nextInt(3) == 0);
        }
      }
    }
    assertThat(inUse).isGreaterThan(CHANGES / 2);
    for (ObjectId id : List.copyOf(cluster.objects.keySet())) {
      if (!theirs.containsKey(id)) {
        cluster.use(id, false);
      }
    }
    cluster.carryOut();
    cluster.carryOut();
    cluster.carryOut();
    assertThat(cluster.objects).as("what is left behind").isEqualTo(theirs);
  }

  private static Set<ObjectId> needed(Cluster cluster, Set<ObjectId> theirs) {
    Set<ObjectId> result = new HashSet<>();
    cluster.objects.forEach(
        (id, object) -> {
          if (object.inUse() && !theirs.contains(id)) {
            result.add(id);
          }
        });
    return result;
  }

  /** The quota of all queues and cohorts of the tree together, in thousandths of a cpu. */
  private static long given(QuotaPlan plan) {
    Map<String, String> parents = new HashMap<>();
    Map<String, Long> own = new HashMap<>();
    for (PlannedObject object : plan.objects()) {
      JsonNode spec = object.spec();
      String key = object.id().toString();
      String parent = spec.path("parentName").asText(spec.path("cohortName").asText());
      parents.put(key, parent.isEmpty() ? "" : QuotaTrees.cohort(parent).toString());
      for (JsonNode quota : spec.at("/resourceGroups/0/flavors/0/resources")) {
        if (quota.path("name").asText().equals("cpu")) {
          own.put(key, Quantities.amount("cpu", quota.path("nominalQuota").asText()));
        }
      }
    }
    String root = QuotaTrees.cohort("root").toString();
    return own.entrySet().stream()
        .filter(each -> isBelow(each.getKey(), root, parents))
        .mapToLong(Map.Entry::getValue)
        .sum();
  }

  /** The same of all that is there, what isn't planned any more among it. */
  private static long left(Cluster cluster) {
    return given(
        new QuotaPlan(
            cluster.objects.values().stream()
                .filter(each -> each.mark().isPresent() && each.spec().isObject())
                .map(
                    each ->
                        new PlannedObject(each.id(), each.annotations(), each.spec().deepCopy()))
                .toList(),
            List.of(),
            false,
            List.of()));
  }

  private static boolean isBelow(String key, String root, Map<String, String> parents) {
    String at = key;
    while (!at.isEmpty()) {
      if (at.equals(root)) {
        return true;
      }
      at = parents.getOrDefault(at, "");
    }
    return false;
  }

  private static QuotaTree tree(Random random) {
    QuotaTree tree =
        new QuotaTree(
            quota("root", Map.of("cpu", ROOM), Map.of("cpu", ROOM), List.of(), some(random, 2)),
            true);
    assertThat(QuotaFaults.of(tree)).isEmpty();
    return tree;
  }

  private static List<QuotaDeclaration> some(Random random, int depth) {
    return some(random, "root", depth, new ArrayList<>(List.of("a", "b", "c", "d")));
  }

  private static List<QuotaDeclaration> some(
      Random random, String path, int depth, List<String> namespaces) {
    List<QuotaDeclaration> result = new ArrayList<>();
    for (String name : List.of("x", "y", "z")) {
      if (random.nextInt(3) > 0 || (result.isEmpty() && name.equals("z") && path.equals("root"))) {
        String below = path + "/" + name;
        List<QuotaDeclaration> children =
            depth > 1 && random.nextInt(2) == 0
                ? some(random, below, depth - 1, namespaces)
                : List.of();
        List<String> own =
            children.isEmpty() && !namespaces.isEmpty() && random.nextInt(2) == 0
                ? List.of(namespaces.remove(random.nextInt(namespaces.size())))
                : List.of();
        Map<String, Long> min = Map.of("cpu", random.nextInt(5) * 1000L);
        result.add(quota(below, min, Map.of(), own, children));
      }
    }
    return result;
  }

  private static QuotaDeclaration quota(
      String path,
      Map<String, Long> min,
      Map<String, Long> max,
      List<String> namespaces,
      List<QuotaDeclaration> children) {
    return new QuotaDeclaration(
        QuotaTrees.SOURCE,
        path.substring(path.lastIndexOf('/') + 1),
        path,
        namespaces,
        min,
        max,
        Map.of(),
        !children.isEmpty(),
        children);
  }
}
