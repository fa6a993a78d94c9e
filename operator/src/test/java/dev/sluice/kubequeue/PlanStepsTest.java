package dev.sluice.kubequeue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.sluice.kubequeue.PlannedObject.ObjectId;
import dev.sluice.kubequeue.QueueObjects.ObjectKind;
import dev.sluice.kubequeue.QuotaPlanner.QuotaPlan;
import dev.sluice.kubequeue.QuotaReconciler.PlanSteps;
import dev.sluice.kubequeue.QuotaTrees.Cluster;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The order of writes, and what of a stranger they keep off. */
class PlanStepsTest {

  private static final String ROOT = "{max: {cpu: 10, memory: 10Gi}, children: [%s]}";

  private final Cluster cluster = new Cluster();

  /** One queue gives cpu and gets memory, the other the reverse. */
  @Test
  void quotaOfEveryResourceIsTakenAwayBeforeAnyIsGiven() {
    cluster.carryOut(
        QuotaTrees.tree(
            ROOT.formatted(
                "{name: a, min: {cpu: 6, memory: 2Gi}}, {name: b, min: {cpu: 4, memory: 8Gi}}")));
    QuotaPlan plan =
        cluster.plan(
            QuotaTrees.tree(
                ROOT.formatted(
                    "{name: a, min: {cpu: 2, memory: 7Gi}}, {name: b, min: {cpu: 8, memory:"
                        + " 3Gi}}")));

    PlanSteps steps = PlanSteps.of(plan, cluster.objects);

    assertThat(steps.waiting()).isTrue();
    assertThat(amounts(steps.reductions())).isEqualTo(Map.of("root-a", "2 2Gi", "root-b", "4 3Gi"));
    assertThat(steps.others()).as("before the reductions were seen").isEmpty();

    steps.reductions().forEach(each -> cluster.put(each, false));
    PlanSteps then = PlanSteps.of(plan, cluster.objects);
    assertThat(then.reductions()).isEmpty();
    assertThat(amounts(then.others())).isEqualTo(Map.of("root-a", "2 7Gi", "root-b", "8 3Gi"));
  }

  /** Otherwise its usage would not count in the tree, and others would get what it uses. */
  @Test
  void aQueueMovesIntoACohortThatWasSeenAndLeavesItBeforeThatGoes() {
    cluster.carryOut(QuotaTrees.tree(ROOT.formatted("{name: a, min: {cpu: 6}}")));
    cluster.use(QuotaTrees.queue("root-a"), true);
    QuotaTree inner = QuotaTrees.tree(ROOT.formatted("{name: a, children: [{name: b}]}"));

    PlanSteps first = PlanSteps.of(cluster.plan(inner), cluster.objects);
    assertThat(parentOf("root-a", first.reductions())).isEqualTo("root");
    assertThat(first.waiting()).isTrue();
    first.reductions().forEach(each -> cluster.put(each, true));
    PlanSteps second = PlanSteps.of(cluster.plan(inner), cluster.objects);
    assertThat(second.others()).extracting(PlannedObject::id).contains(QuotaTrees.cohort("root-a"));
    assertThat(parentOf("root-a", second.others())).isEqualTo("not written");
    assertThat(second.waiting()).isTrue();
    second.others().forEach(each -> cluster.put(each, false));
    PlanSteps third = PlanSteps.of(cluster.plan(inner), cluster.objects);
    assertThat(parentOf("root-a", third.others())).isEqualTo("root-a");

    cluster.carryOut(inner);
    QuotaPlan back =
        new QuotaPlan(List.of(), List.of(QuotaTrees.cohort("root-a")), false, List.of());
    PlanSteps last = PlanSteps.of(back, cluster.objects);
    assertThat(last.removed()).isEmpty();
    assertThat(last.waiting()).isTrue();
    cluster.objects.keySet().removeIf(each -> each.kind() == ObjectKind.CLUSTER_QUEUE);
    assertThat(PlanSteps.of(back, cluster.objects).removed())
        .containsExactly(QuotaTrees.cohort("root-a"));
  }

  private static String parentOf(String queue, List<PlannedObject> objects) {
    return objects.stream()
        .filter(each -> each.id().equals(QuotaTrees.queue(queue)))
        .map(each -> each.spec().path("cohortName").asText())
        .findFirst()
        .orElse("not written");
  }

  private static Map<String, String> amounts(List<PlannedObject> objects) {
    QuotaPlan plan = new QuotaPlan(objects, List.of(), false, List.of());
    return objects.stream()
        .map(PlannedObject::id)
        .collect(
            Collectors.toMap(
                ObjectId::name,
                id -> nominal(plan, id, "cpu") + " " + nominal(plan, id, "memory")));
  }

  private static String nominal(QuotaPlan plan, ObjectId id, String resource) {
    return QuotaTrees.quota(plan, id, resource).replaceAll(" .*", "");
  }

  /** The Cohort has no object, but queues of others share their quota in it. */
  @Test
  void aCohortThatQueuesOfOthersAreInIsNotTakenOver() {
    cluster.stranger(QuotaTrees.queue("theirs"), "root");
    QuotaTree tree = QuotaTrees.tree(ROOT.formatted("{name: a}"));

    QuotaPlan plan = cluster.carryOut(tree);

    assertThat(plan.taken()).hasSize(1);
    assertThat(QuotaTrees.ids(plan)).doesNotContain(QuotaTrees.cohort("root"));
    String cohort =
        QuotaTrees.find(plan, QuotaTrees.queue("root-a")).spec().path("cohortName").asText();
    assertThat(cohort).startsWith("root-");

    // once it is ours it stays so, whoever joins it
    cluster.stranger(QuotaTrees.queue("later"), cohort);
    assertThat(QuotaTrees.ids(cluster.plan(tree))).contains(QuotaTrees.cohort(cohort));
  }
}
